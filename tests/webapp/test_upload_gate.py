"""The gate before Django: bodies are counted as they arrive, stalled ones end, and only so many come in at once."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterable
from typing import Any

import pytest

from webapp import middleware
from webapp.middleware import SLOT, UploadGate

UPLOAD = "/api/v1/projects/search-api/uploads"
KIB = 1024


class _Request:
    """One request as an ASGI server gives it: chunks, then silence; and what was answered."""

    def __init__(self, path: str, chunks: Iterable[bytes], *, length: int | None = None, query: bytes = b"") -> None:
        headers = [] if length is None else [(b"content-length", str(length).encode())]
        self.scope = {"type": "http", "method": "POST", "path": path, "query_string": query, "headers": headers}
        self._chunks = iter(chunks)
        self.pulled = 0
        self.sent: list[Any] = []
        self.is_silent = False

    async def receive(self) -> dict[str, Any]:
        chunk = next(self._chunks, None)
        if chunk is None and self.is_silent:
            await asyncio.Event().wait()
        self.pulled += len(chunk or b"")
        return {"type": "http.request", "body": chunk or b"", "more_body": chunk is not None}

    async def send(self, message: Any) -> None:
        self.sent.append(message)

    @property
    def status(self) -> int:
        status: int = self.sent[0]["status"]
        return status

    @property
    def error(self) -> str:
        error: str = json.loads(b"".join(message.get("body", b"") for message in self.sent))["error"]
        return error


async def _reader(scope: Any, receive: Any, send: Any) -> None:
    """An application that takes the whole body, as Django does, and answers its size."""
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        size, more = size + len(message["body"]), message["more_body"]
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": str(size).encode()})


def _gate(app: Any = _reader, *, max_bytes: int = 64 * KIB, max_uploads: int = 2) -> UploadGate:
    return UploadGate(app, max_bytes=max_bytes, max_uploads=max_uploads)


async def test_a_body_at_the_limit_passes() -> None:
    request = _Request(UPLOAD, [bytes(32 * KIB)] * 2)

    await _gate()(request.scope, request.receive, request.send)

    assert request.sent[1]["body"] == b"65536"


async def test_a_declared_length_over_the_limit_is_refused_unread() -> None:
    request = _Request(UPLOAD, [], length=64 * KIB + 1)

    await _gate()(request.scope, request.receive, request.send)

    assert request.status == 413
    assert request.error == "The body has 65,537 bytes, the limit is 65,536 bytes; nothing was stored."
    assert request.pulled == 0


async def test_a_body_without_a_length_is_refused_once_it_passes_the_limit() -> None:
    request = _Request(UPLOAD, (bytes(KIB) for _ in range(1 << 20)))  # a gigabyte, were it read

    await _gate()(request.scope, request.receive, request.send)

    assert request.status == 413
    assert request.error.startswith("The body has more than 65,536 bytes, the limit is 65,536 bytes")
    assert request.pulled <= middleware.DRAIN_BYTES + 66 * KIB


@pytest.mark.parametrize(
    ("path", "query"), [("/api/v1/runs/r-\0", b""), ("/api/v1/projects/search-api/runs", b"text=a%00b")]
)
async def test_an_address_with_a_nul_is_refused(path: str, query: bytes) -> None:
    request = _Request(path, [], query=query)

    await _gate()(request.scope, request.receive, request.send)

    assert (request.status, request.error) == (400, "The address holds a NUL.")


async def test_a_length_that_lies_is_found_out() -> None:
    request = _Request(UPLOAD, [bytes(KIB)] * 100, length=10)

    await _gate()(request.scope, request.receive, request.send)

    assert request.status == 413


async def test_the_limit_holds_for_every_address() -> None:
    request = _Request("/login", [bytes(KIB)] * 100)

    await _gate()(request.scope, request.receive, request.send)

    assert request.status == 413


async def test_a_page_is_told_by_the_sentence_alone() -> None:
    request = _Request("/upload", [], length=100 * KIB)

    await _gate()(request.scope, request.receive, request.send)

    assert (b"content-type", b"text/plain; charset=utf-8") in request.sent[0]["headers"]
    assert request.sent[1]["body"] == b"The body has 102,400 bytes, the limit is 65,536 bytes; nothing was stored."


async def test_a_body_that_stands_still_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(middleware, "IDLE_S", 0.05)
    monkeypatch.setattr(middleware, "DRAIN_S", 0.05)
    request = _Request(UPLOAD, [bytes(KIB)])
    request.is_silent = True

    await _gate()(request.scope, request.receive, request.send)

    assert (request.status, request.error) == (408, "No byte came for 0 s; nothing was stored.")


class _Holding:
    """An application that holds its uploads until it is told to go on."""

    def __init__(self) -> None:
        self.go_on, self.inside = asyncio.Event(), 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.inside += 1
        await self.go_on.wait()
        await _reader(scope, receive, send)


async def _until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not condition():
            await asyncio.sleep(0)


@pytest.fixture
async def holding() -> AsyncIterator[tuple[_Holding, UploadGate, list[asyncio.Task[None]]]]:
    """A gate with two places, both taken."""
    app = _Holding()
    gate = _gate(app)
    requests = [_Request(UPLOAD, [b"x"]) for _ in range(2)]
    tasks = [asyncio.create_task(gate(each.scope, each.receive, each.send)) for each in requests]
    await _until(lambda: app.inside == 2)
    yield app, gate, tasks
    app.go_on.set()
    await asyncio.gather(*tasks)


async def test_one_upload_too_many_is_told_when_to_come_back(holding: Any) -> None:
    _, gate, _ = holding
    request = _Request(UPLOAD, [b"x"])

    await gate(request.scope, request.receive, request.send)

    assert request.status == 503
    assert (b"retry-after", b"2") in request.sent[0]["headers"]
    assert request.error == "The site takes no more uploads at once; try again in 2 s."


async def test_a_full_gate_stops_no_other_request(holding: Any) -> None:
    app, gate, _ = holding
    request = _Request("/api/v1/agent/heartbeat", [b"{}"])

    task = asyncio.create_task(gate(request.scope, request.receive, request.send))

    await _until(lambda: app.inside == 3)
    app.go_on.set()
    await task
    assert request.status == 200


async def test_a_place_is_free_again_after_an_upload(holding: Any) -> None:
    app, gate, tasks = holding
    app.go_on.set()
    await asyncio.gather(*tasks)
    request = _Request(UPLOAD, [b"x"])

    await gate(request.scope, request.receive, request.send)

    assert request.status == 200


async def test_a_view_that_only_waits_gives_its_place_back() -> None:
    async def stores_then_waits(scope: Any, receive: Any, send: Any) -> None:
        scope[SLOT].release()
        await _until(lambda: not gate.slots.locked())
        await _reader(scope, receive, send)

    gate = _gate(stores_then_waits, max_uploads=1)
    request = _Request(UPLOAD, [b"x"])

    await gate(request.scope, request.receive, request.send)

    assert request.status == 200
    assert not gate.slots.locked()


@pytest.mark.parametrize(
    ("path", "is_upload"),
    [
        (UPLOAD, True),
        ("/api/v1/uploads", True),
        ("/api/v1/runs/r-abc/snapshots/1", True),
        ("/upload", True),
        ("/p/search-api/upload", True),
        ("/ingest", True),
        ("/push.v1.PusherService/Push", True),
        ("/api/v1/agent/heartbeat", False),
        ("/runs/r-abc/stop", False),
    ],
)
def test_it_knows_the_addresses_of_uploads(path: str, is_upload: bool) -> None:
    assert (middleware.UPLOAD_PATH.match(path) is not None) is is_upload


@pytest.mark.parametrize(("path", "status"), [("symbols", 200), ("symbols/ab", 413), ("uploads", 413)])
async def test_only_files_of_symbols_may_be_larger(path: str, status: int) -> None:
    request = _Request(f"/api/v1/projects/shop/{path}", [bytes(32 * KIB)] * 3)

    gate = UploadGate(_reader, max_bytes=64 * KIB, max_symbol_bytes=96 * KIB, max_uploads=2)
    await gate(request.scope, request.receive, request.send)

    assert request.status == status
