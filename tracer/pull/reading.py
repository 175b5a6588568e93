"""One heap profile, of an open socket or file, to our folded text: runs unprivileged, since what it reads is foreign.

The argument: {"collector", "url" or "", "within_s", "max_bytes"}; standard input is a connection to the url's host, or
a file. The answer is our folded text, or a line {"error": "…"} that holds nothing of what was read: whoever asks for a
profile must not be able to read something else.
"""

from __future__ import annotations

import http.client
import importlib
import json
import signal
import socket
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from io import BytesIO
from pathlib import Path
from types import FrameType
from typing import Any, BinaryIO
from urllib.parse import urlsplit

from tracer.profile.errors import EmptyProfile, LimitExceeded, ProfileError
from tracer.profile.folded import write_folded
from tracer.profile.formats import gperftools, jemalloc, pprof
from tracer.profile.formats.reading import Importer, Reading
from tracer.profile.formats.unpack import head_of, unpack
from tracer.profile.model import Limits, Profile
from tracer.protocol import HEAP_VALUE_TYPES, value_type_named
from tracer.pull.errors import PullError
from tracer.pull.words import NOT_SAMPLED, disabled_text, is_refusal, is_web_page, size_words

_IMPORTERS: tuple[Importer, ...] = (jemalloc, gperftools, pprof)
_OUR_NAMES = {
    "inuse_space": "inuse_bytes",
    "alloc_space": "alloc_bytes",
    "space": "inuse_bytes",
    "objects": "inuse_objects",
}
_OK = 200
_LOOKED_AT = 4096  # bytes, for words that say why there is no profile


def load() -> None:
    """Certificates, and modules that are imported where they are needed: there is no way to any file later."""
    _tls()
    for name in ("gzip", "bz2", "lzma", "zstandard", "encodings.idna"):
        importlib.import_module(name)


@cache
def _tls() -> ssl.SSLContext:
    """With all certificates in memory: by default most are looked for when they are needed, where nothing can be."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    paths = ssl.get_default_verify_paths()
    bundles = [Path(place) for place in (paths.cafile, f"{paths.capath}/ca-certificates.crt") if place]
    if bundle := next((path for path in bundles if path.exists()), None):
        context.load_verify_locations(cafile=bundle)
    return context


def main(argument: Mapping[str, Any], source: BinaryIO, out: BinaryIO) -> None:
    try:
        with _at_most(float(argument["within_s"])):
            raw = _fetched(argument) if argument["url"] else source.read(int(argument["max_bytes"]))
        write_folded(heap_of(raw, argument["collector"]), out)
    except (PullError, ProfileError) as error:
        out.write(json.dumps({"error": str(error)}).encode())


def heap_of(raw: bytes, collector: str) -> Profile:
    """Only formats that heaps are written in: as folded text, say, any log would be a profile."""
    if not raw:
        raise PullError(f"the profile is empty: {NOT_SAMPLED[collector]}")
    limits = Limits()
    head, steps = head_of(unpack(BytesIO(raw), limits))
    importer = next((known for known in _IMPORTERS if known.matches(head)), None)
    if importer is None:
        raise PullError(disabled_text(head[:_LOOKED_AT], collector))
    try:
        profile = importer.read(steps, Reading(limits, value_type_named, None))
    except EmptyProfile:
        raise PullError(f"the profile holds no allocation: {NOT_SAMPLED[collector]}") from None
    except LimitExceeded:
        raise
    except ProfileError:
        raise PullError(f"what came is a {importer.TITLE} that is damaged or cut off") from None
    return _as_heap(profile, collector)


def _as_heap(profile: Profile, collector: str) -> Profile:
    """With the value types of a heap, in their order; those that are 0 everywhere are left out but for the first."""
    names = [_OUR_NAMES.get(known.name, known.name) for known in profile.value_types]
    columns = dict(zip(names, profile.columns, strict=True))
    wanted = [known for known in HEAP_VALUE_TYPES if known.name in columns]
    if HEAP_VALUE_TYPES[0] not in wanted:
        raise PullError(f"what came is no profile of a heap: it counts {', '.join(columns)[:200]}")
    kept = [known for known in wanted if known.kind == "level" or any(columns[known.name])]
    heap = Profile(tuple(kept))
    heap.names, heap.row_by_key = profile.names, profile.row_by_key
    heap.columns = [columns[known.name] for known in kept]
    heap.skipped, heap.skipped_lines = profile.skipped, profile.skipped_lines
    heap.capture = {**profile.capture, "collector": collector}
    return heap


def _fetched(argument: Mapping[str, Any]) -> bytes:
    """The body of the answer; the connection is there already, and can't be made again to another place."""
    url = urlsplit(argument["url"])
    connection = http.client.HTTPConnection(url.netloc)
    try:
        connection.sock = _connected(url.scheme, url.hostname or "")
        path = f"{url.path or '/'}{f'?{url.query}' if url.query else ''}"
        connection.request("GET", path, headers={"Accept-Encoding": "identity", "User-Agent": "memflame"})
        response = connection.getresponse()
        body = response.read(int(argument["max_bytes"]) + 1)
        if len(body) <= argument["max_bytes"] and response.length:
            raise PullError(f"the connection broke off: {response.length:,} bytes of the profile did not come")
    except ssl.SSLError as error:
        raise PullError(f"no secure connection: {error.reason or type(error).__name__}") from None
    except (http.client.HTTPException, ValueError) as error:
        raise PullError(f"the answer is no HTTP that can be read ({type(error).__name__})") from None
    except TimeoutError:
        raise
    except OSError as error:
        raise PullError(f"the connection broke off: {error.strerror or type(error).__name__}") from None
    _check(response.status, body, argument)
    return body


def _connected(scheme: str, host: str) -> socket.socket:
    plain = socket.socket(fileno=0)
    return _tls().wrap_socket(plain, server_hostname=host) if scheme == "https" else plain


def _check(status: int, body: bytes, argument: Mapping[str, Any]) -> None:
    if 300 <= status < 400:
        raise PullError(f"the answer is a redirect ({status}), and none is followed: give the address that it leads to")
    if len(body) > argument["max_bytes"]:
        limit = size_words(argument["max_bytes"])
        raise PullError(f"the profile is larger than {limit}, the limit")
    if status == _OK and not is_web_page(body[:_LOOKED_AT]):
        return
    if is_refusal(body[:_LOOKED_AT]):
        raise PullError(f"the answer is {status}: {NOT_SAMPLED[argument['collector']]}")
    if status != _OK:
        raise PullError(f"the answer is {status} {http.client.responses.get(status, '')}".rstrip())
    raise PullError("a web page came instead of a profile: the address is another one")


@contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    """However slowly it comes: a byte now and then must not hold a recording up."""

    def end(number: int, frame: FrameType | None) -> None:
        raise TimeoutError

    signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    except TimeoutError:
        raise PullError(f"no whole answer came within {seconds:g} s, the limit") from None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
