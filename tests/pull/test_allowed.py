"""What an agent's administrator allows to be pulled, and what not."""

from __future__ import annotations

import ipaddress
import socket

import pytest

from tracer.pull.allowed import EVERYTHING, Allowed, BadRule
from tracer.pull.connecting import connected
from tracer.pull.errors import PullError

LOCAL = ipaddress.ip_address("127.0.0.1")
METADATA = ipaddress.ip_address("169.254.169.254")


@pytest.mark.parametrize("address", ["127.0.0.1", "127.8.9.10", "::1", "::ffff:127.0.0.1"])
def test_by_default_this_host_is_allowed(address):
    Allowed().check_url("http://localhost:4000/prof", ipaddress.ip_address(address))


@pytest.mark.parametrize("address", ["169.254.169.254", "10.0.0.5", "0.0.0.0", "::ffff:10.0.0.5", "fe80::1", "8.8.8.8"])
def test_by_default_nothing_else_is_whatever_its_name(address):
    with pytest.raises(PullError, match="pulls from loopback addresses only: its option --allow-url allows more"):
        Allowed().check_url("http://localhost:4000/prof", ipaddress.ip_address(address))


@pytest.mark.parametrize(
    ("url", "is_allowed"),
    [
        ("http://10.0.0.5:4000/debug/heap", True),
        ("http://10.0.0.5:4000/debug", True),
        ("http://10.0.0.5:4000/debugging", False),
        ("http://10.0.0.5:4000/debug/../admin", False),
        ("http://10.0.0.5:4000/debug/%2e%2e/admin", False),
        ("http://10.0.0.5:4001/debug/heap", False),
        ("https://10.0.0.5:4000/debug/heap", False),
        ("http://10.0.0.5:4000@evil/debug/heap", False),
    ],
)
def test_an_address_that_begins_as_a_rule_is_allowed(url, is_allowed):
    allowed = Allowed.of(["http://10.0.0.5:4000/debug/"], [])

    if is_allowed:
        allowed.check_url(url, ipaddress.ip_address("10.0.0.5"))
    else:
        with pytest.raises(PullError):
            allowed.check_url(url, ipaddress.ip_address("10.0.0.5"))


def test_files_are_allowed_by_directory_and_name():
    allowed = Allowed.of([], ["/var/log/search/jeprof.*.heap"])

    assert allowed.has_file("/var/log/search/jeprof.4711.0.i0.heap")
    assert not allowed.has_file("/var/log/search/secret.heap")
    assert not allowed.has_file("/var/log/search/sub/jeprof.1.heap")
    allowed.check_directory("/var/log/search/*")
    with pytest.raises(PullError, match="this host's agent reads /var/log/search/jeprof"):
        allowed.check_directory("/etc/*")


def test_none_allows_nothing():
    allowed = Allowed.of(["none"], ["none"])

    assert not allowed.has_own_files
    assert allowed.words == "from nothing; files: nothing"
    with pytest.raises(PullError, match="pulls from nothing only"):
        allowed.check_url("http://localhost/", LOCAL)


def test_the_rules_of_an_agent_reach_its_recording():
    allowed = Allowed.of(["http://10.0.0.5:4000/"], ["/var/log/a.*"])

    assert Allowed.from_dict(allowed.to_dict()) == allowed
    assert Allowed().words == "from loopback addresses; files: those that a process names in its environment"


@pytest.mark.parametrize("rule", ["10.0.0.5", "ftp://host/", "http://host:port/", "http://host/?a=1", "any"])
def test_a_rule_that_allows_nothing_is_refused(rule):
    with pytest.raises(BadRule, match="--allow-url is"):
        Allowed.of([rule], [])


@pytest.mark.parametrize("rule", ["heap", "/var/*/heap", "/var/../heap"])
def test_a_rule_for_files_is_a_whole_path(rule):
    with pytest.raises(BadRule, match="--allow-files is"):
        Allowed.of([], [rule])


def test_a_person_may_name_any_address():
    EVERYTHING.check_url("http://10.0.0.5/", METADATA)


def test_a_host_that_is_not_allowed_is_not_even_connected_to():
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0)
        port = server.getsockname()[1]

        with pytest.raises(PullError, match="--allow-url"):
            connected(f"http://localhost:{port}/", Allowed.of(["http://10.0.0.5:1/"], []))

        with pytest.raises(BlockingIOError):
            server.accept()


def test_where_nothing_listens_the_words_say_so():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

    with pytest.raises(PullError, match=r"nothing listens there \(connection refused\)"):
        connected(f"http://127.0.0.1:{port}/", EVERYTHING)


def test_a_host_that_there_is_not_is_named():
    with pytest.raises(PullError, match="there is no host 'nowhere.invalid'"):
        connected("http://nowhere.invalid/", EVERYTHING)
