"""One profile, pulled over HTTP or read from a file by a process without rights: what comes, and why nothing does."""

from __future__ import annotations

import gzip
import io
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tracer.profile.errors import ProfileError
from tracer.profile.export.pprof import write_pprof
from tracer.profile.model import Profile, ValueType
from tracer.protocol import HEAP_VALUE_TYPES
from tracer.pull.allowed import EVERYTHING
from tracer.pull.connecting import connected
from tracer.pull.errors import PullError
from tracer.pull.parsing import Stopped, read_heap
from tracer.pull.reading import heap_of

Serve = Callable[[bytes], str]

JEMALLOC = b"""heap_v2/524288
  t*: 1: 1048576 [0: 0]
@ 0x5581 0x5592 0x55a3
  t*: 1: 1048576 [0: 0]

MAPPED_LIBRARIES:
5000-6000 r-xp 00000000 08:02 1 /usr/bin/search-api
"""
TCMALLOC = b"heap profile: 1: 4096 [ 2: 8192] @ heapprofile\n 1: 4096 [ 2: 8192] @ 0x5581 0x5592\n"


@pytest.fixture
def serve() -> Iterator[Serve]:
    """The address of a server that sends these bytes once, whatever it is asked."""
    servers: list[socket.socket] = []

    def served(raw: bytes, *, then: Callable[[socket.socket], None] = socket.socket.close) -> str:
        server = socket.create_server(("127.0.0.1", 0))
        servers.append(server)

        def answer() -> None:
            client, _ = server.accept()
            client.recv(65536)
            client.sendall(raw)
            then(client)

        threading.Thread(target=answer, daemon=True).start()
        return f"http://127.0.0.1:{server.getsockname()[1]}/prof"

    yield served
    for server in servers:
        server.close()


def answer(body: bytes, status: str = "200 OK", *headers: str) -> bytes:
    lines = "".join(f"{header}\r\n" for header in headers)
    return f"HTTP/1.1 {status}\r\n{lines}Content-Length: {len(body)}\r\n\r\n".encode() + body


def pulled(url: str, collector: str = "jemalloc", **options: float) -> Profile:
    connection, _ = connected(url, EVERYTHING)
    with closing(connection):
        connection.settimeout(None)
        return read_heap(connection, collector=collector, url=url, is_stopped=lambda: False, **options)


def test_a_profile_of_jemalloc_is_pulled(serve):
    profile = pulled(serve(answer(JEMALLOC)))

    assert list(profile.values_by_stack) == [("search-api+0x5a2", "search-api+0x591", "search-api+0x581")]
    assert [known.name for known in profile.value_types] == ["inuse_bytes", "inuse_objects"]
    assert profile.total() == pytest.approx(1048576 * 1.1565, rel=1e-3)
    assert profile.capture == {
        "collector": "jemalloc",
        "sample_bytes": 524288,
        "modules": {"search-api": "/usr/bin/search-api"},
    }


def test_a_profile_of_tcmalloc_tells_what_was_allocated_too(serve):
    profile = pulled(serve(answer(TCMALLOC)), "tcmalloc")

    assert [known.name for known in profile.value_types] == [known.name for known in HEAP_VALUE_TYPES]
    assert [profile.total(column) for column in range(4)] == [4096, 1, 8192, 2]


def go_heap(*names: str) -> bytes:
    types = [ValueType(name, "bytes" if "space" in name else "objects", "flow", name) for name in names]
    profile = Profile(tuple(types))
    profile.add(["main.main", "main.load"], [7] * len(types))
    out = io.BytesIO()
    write_pprof(profile, out)
    return out.getvalue()


def test_gos_profile_comes_under_the_names_of_a_heap(serve):
    raw = go_heap("alloc_objects", "alloc_space", "inuse_objects", "inuse_space")

    profile = pulled(serve(answer(raw)), "pprof")

    assert [known.name for known in profile.value_types] == [known.name for known in HEAP_VALUE_TYPES]
    assert profile.values_by_stack == {("main.main", "main.load"): [7, 7, 7, 7]}


def test_a_profile_of_something_else_than_a_heap_is_refused():
    with pytest.raises(PullError, match="no profile of a heap: it counts .*cpu"):
        heap_of(go_heap("cpu", "samples"), "pprof")


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (answer(b"heap profiling not activated\n", "403 Forbidden"), "the answer is 403: profiling is not enabled"),
        (answer(b"<!DOCTYPE html><title>Sign in</title>"), "a web page came instead of a profile"),
        (answer(b"", "302 Found", "Location: http://10.0.0.1/secret"), "a redirect .302., and none is followed"),
        (answer(b"no", "500 Internal Server Error"), "the answer is 500 Internal Server Error"),
        (answer(JEMALLOC)[:-60], "the connection broke off: 60 bytes of the profile did not come"),
        (b"SSH-2.0-OpenSSH\r\n", "no HTTP that can be read .BadStatusLine"),
    ],
)
def test_why_no_profile_came_is_said_in_words(serve, raw, reason):
    with pytest.raises(PullError, match=reason):
        pulled(serve(raw))


def test_who_speaks_no_tls_is_told_so(serve):
    url = serve(b"HTTP/1.1 400 Bad Request\r\n\r\n").replace("http://127.0.0.1", "https://localhost")

    with pytest.raises(PullError, match="no secure connection"):
        pulled(url)


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"", "the profile is empty: profiling is not enabled.*MALLOC_CONF=prof:true"),
        (b"Heap profiling is not enabled: set opt.prof", "profiling is not enabled in that program"),
        (b"jemalloc was compiled without heap profiling", "profiling is not enabled in that program"),
        (JEMALLOC.partition(b"@")[0], "holds no allocation: profiling is not enabled.*or has sampled nothing"),
        (b"root:x:0:0 12\ntoken 4711\n", "no heap profile of jemalloc, tcmalloc or pprof"),
        (gzip.compress(go_heap("inuse_space"))[:-20], "damaged"),
    ],
)
def test_what_is_no_profile_is_said_in_words(raw, reason):
    with pytest.raises((PullError, ProfileError), match=reason):
        heap_of(raw, "jemalloc")


@pytest.mark.parametrize("raw", [b"secret 1\n", b"heap_v2/secret\nsecret\n", b"heap profile: secret", b"<html>secret"])
def test_nothing_of_what_is_no_profile_is_told(raw):
    """Whoever may name an address must not read what stands there."""
    with pytest.raises((PullError, ProfileError)) as refused:
        heap_of(raw, "jemalloc")

    assert "secret" not in str(refused.value)


def test_tcmalloc_that_does_not_sample_is_told_how_to():
    warning = b"%warn the application was run with heap sampling turned off.\nheap profile: 0: 0 [0: 0] @ heap_v2/0\n"

    with pytest.raises(PullError, match="TCMALLOC_SAMPLE_PARAMETER=524288"):
        heap_of(warning, "tcmalloc")


def test_a_profile_that_is_too_large_is_refused_at_the_limit(serve):
    with pytest.raises(PullError, match="larger than 64\N{NO-BREAK SPACE}MB, the limit"):
        pulled(serve(answer(bytes((64 << 20) + 1))))


def test_a_profile_that_comes_too_slowly_is_given_up(serve):
    ended = threading.Event()

    def drip(client: socket.socket) -> None:
        while not ended.wait(0.05):
            client.send(b" ")

    with pytest.raises(PullError, match="no whole answer came within 0.5 s, the limit"):
        pulled(serve(answer(JEMALLOC)[:-40], then=drip), within_s=0.5)
    ended.set()


def test_who_stops_a_run_does_not_wait_for_a_profile(serve):
    url = serve(b"HTTP/1.1 200 OK\r\n", then=lambda client: None)
    connection, _ = connected(url, EVERYTHING)

    with closing(connection), pytest.raises(Stopped):
        read_heap(connection, collector="jemalloc", url=url, is_stopped=lambda: True)


def test_a_file_is_read_like_an_answer(tmp_path: Path):
    (tmp_path / "jeprof.1.0.f.heap").write_bytes(JEMALLOC)

    with (tmp_path / "jeprof.1.0.f.heap").open("rb") as file:
        profile = read_heap(file, collector="jemalloc", is_stopped=lambda: False)

    assert profile.stack_count == 1
