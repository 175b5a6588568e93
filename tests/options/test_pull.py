"""Options that say where a profile is pulled from: what can be, and the words for what can't."""

from __future__ import annotations

import pytest

from tracer.options.errors import BadOption
from tracer.options.pull import PullOptions
from tracer.protocol import RunSpec, as_captured, check_run_options, value_types_of


@pytest.mark.parametrize(
    "options",
    [
        {"url": "http://127.0.0.1:4000/v1/prof/mem"},
        {"url": "https://[::1]:8443/debug/pprof/heap?debug=0"},
        {"files": "/var/log/search/jeprof.*.heap"},
        {},
    ],
)
def test_an_address_or_files_or_what_the_process_says_itself(options):
    check_run_options("jemalloc", options)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"url": "ftp://host/heap"}, "must be an address"),
        ({"url": "file:///etc/shadow"}, "must be an address"),
        ({"url": "http://user:secret@host/heap"}, "a user or a password"),
        ({"url": "http://host:99999/"}, "out of range"),
        ({"url": "http://host/he ap"}, "without spaces"),
        ({"url": "http://host/\r\nX: 1"}, "printable"),
        ({"url": "http://host/" + "a" * 2000}, "at most 2,000"),
        ({"url": "http://host/", "files": "/tmp/a.heap"}, "an address is given too"),
        ({"files": "jeprof.*.heap"}, "must be a whole path"),
        ({"files": "/var/log/../../etc/*"}, "must be a whole path"),
        ({"files": "/home/*/jeprof.heap"}, "only its last part"),
        ({"url": "http://host/", "max_stacks": 16}, "the process makes this profile itself"),
    ],
)
def test_what_can_not_be_is_refused_in_words(options, reason):
    with pytest.raises(BadOption, match=reason):
        check_run_options("jemalloc", options)


def test_gos_profile_needs_an_address():
    with pytest.raises(BadOption, match="say where the profile is, such as http://127.0.0.1:6060/debug/pprof/heap"):
        check_run_options("pprof", {})


def test_collectors_that_count_in_the_kernel_pull_nothing():
    with pytest.raises(BadOption, match="malloc pulls nothing: use one of jemalloc, tcmalloc, pprof"):
        check_run_options("malloc", {"url": "http://127.0.0.1/"})


def test_a_pulled_run_may_leave_its_process_unnamed():
    spec = RunSpec("r-1", "pprof", options={"url": "http://127.0.0.1:6060/debug/pprof/heap"})

    assert RunSpec.from_dict(spec.to_dict()) == spec
    with pytest.raises(ValueError, match="pid is 0"):
        RunSpec.from_dict(RunSpec("r-1", "malloc").to_dict())


def test_value_types_are_those_of_a_heap_and_say_how_they_were_estimated():
    inuse = value_types_of("tcmalloc", {})[0]
    capture = {"collector": "tcmalloc", "sample_bytes": 524288}

    assert (inuse.name, inuse.kind) == ("inuse_bytes", "level")
    assert as_captured(inuse, capture).meaning == (
        "Bytes in use when the profile was taken, estimated from samples every 512\N{NO-BREAK SPACE}kB"
    )
    assert as_captured(inuse, {"collector": "tcmalloc", "sample_bytes": "1"}) == inuse


def test_the_options_are_read_once_checked():
    assert PullOptions.of({"files": "/tmp/jeprof.*"}) == PullOptions(files="/tmp/jeprof.*")
