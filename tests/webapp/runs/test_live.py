"""The live socket: who may listen, what comes at once and what later, and that it ends with the right to see."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from asgiref.testing import ApplicationCommunicator
from django.conf import settings as site_settings
from django.test import Client

from webapp.asgi import application
from webapp.runs import live, states
from webapp.runs.models import Run, State
from webapp.teams.models import Membership, User

ATTEMPT = "attempt-0001"

pytestmark = pytest.mark.django_db(transaction=True)


class _Socket(ApplicationCommunicator):
    """A browser's end of the socket, in ASGI messages; Channels' own needs another server to be imported."""

    async def open(self) -> dict[str, Any]:
        await self.send_input({"type": "websocket.connect"})
        return await self.receive_output(timeout=5)

    async def message(self) -> dict[str, Any]:
        message: dict[str, Any] = json.loads((await self.receive_output(timeout=5))["text"])
        return message

    async def leave(self) -> None:
        await self.send_input({"type": "websocket.disconnect", "code": 1001})
        await self.wait(timeout=5)


def _socket(user: User | None, run_id: str, *, origin: str = "http://localhost") -> _Socket:
    client = Client()
    if user is not None:
        client.force_login(user)
    cookie = client.cookies.get(site_settings.SESSION_COOKIE_NAME)
    headers = [(b"origin", origin.encode()), (b"host", b"localhost")]
    if cookie is not None:
        headers.append((b"cookie", f"{site_settings.SESSION_COOKIE_NAME}={cookie.value}".encode()))
    scope = {"type": "websocket", "path": f"/ws/runs/{run_id}", "headers": headers, "query_string": b""}
    return _Socket(application, scope | {"subprotocols": []})


@asynccontextmanager
async def _listening(user: User, run: Run) -> AsyncIterator[_Socket]:
    socket = await sync_to_async(_socket)(user, run.run_id)
    assert (await socket.open())["type"] == "websocket.accept"
    try:
        yield socket
    finally:
        await socket.leave()


async def test_all_that_is_there_comes_at_once(story: Any, recorded_run: Callable[..., Run]) -> None:
    run = await sync_to_async(recorded_run)()

    async with _listening(story.alice, run) as socket:
        message = await socket.message()

    assert (message["type"], message["state"], message["events"]) == ("run", "ready", 300)
    assert [snapshot["seq"] for snapshot in message["snapshots"]] == [1]
    assert message["snapshots"][0]["totals"]["outstanding_bytes"] == 98432
    assert [known["name"] for known in message["value_types"]][0] == "outstanding_bytes"


async def test_progress_and_snapshots_come_as_they_happen(
    story: Any, claimed_run: Callable[..., Run], snapshot_of: Callable[..., Any]
) -> None:
    run = await sync_to_async(claimed_run)()

    async with _listening(story.alice, run) as socket:
        first = await socket.message()
        await sync_to_async(states.note_progress)(
            run, ATTEMPT, is_recording=True, elapsed_s=2.0, events=7, lost={"stack_map_full": 1}
        )
        second = await socket.message()
        await sync_to_async(snapshot_of)(run)
        third = await socket.message()
        while not third["snapshots"] or third["snapshots"][0]["revision"] == 0:
            third = await socket.message()

    assert (first["state"], first["snapshots"]) == ("claimed", [])
    assert (second["state"], second["elapsed_s"], second["events"]) == ("recording", 2.0, 7)
    assert second["lost"] == {"stack_map_full": 1}
    assert third["snapshots"][0]["tags"]["outstanding_bytes"][0].startswith("1-")


async def test_a_snapshot_is_sent_once(
    story: Any, claimed_run: Callable[..., Run], snapshot_of: Callable[..., Any]
) -> None:
    run = await sync_to_async(claimed_run)()
    await sync_to_async(snapshot_of)(run)

    async with _listening(story.alice, run) as socket:
        await socket.message()
        await sync_to_async(states.note_progress)(run, ATTEMPT, is_recording=True, elapsed_s=3.0, events=9, lost={})
        later = await socket.message()

    assert (later["events"], later["snapshots"], later["value_types"]) == (9, [], [])


async def test_what_another_process_writes_comes_without_a_notice(story: Any, claimed_run: Callable[..., Run]) -> None:
    run = await sync_to_async(claimed_run)()

    async with _listening(story.alice, run) as socket:
        await socket.message()
        changed_at = live.timezone.now()
        await Run.objects.filter(pk=run.pk).aupdate(state=State.FAILED, reason="killed", changed_at=changed_at)
        later = await socket.message()

    assert (later["state"], later["reason"]) == ("failed", "killed")


async def test_a_socket_hears_nothing_while_nothing_happens(story: Any, recorded_run: Callable[..., Run]) -> None:
    run = await sync_to_async(recorded_run)()

    async with _listening(story.alice, run) as socket:
        await socket.message()

        assert await socket.receive_nothing(timeout=1.2)


@pytest.mark.parametrize("name", ["charlie", None])
async def test_it_is_closed_to_those_who_may_not_see_the_run(
    story: Any, recorded_run: Callable[..., Run], name: str | None
) -> None:
    run = await sync_to_async(recorded_run)()
    socket = await sync_to_async(_socket)(getattr(story, name) if name else None, run.run_id)

    answer = await socket.open()

    assert (answer["type"], answer["code"]) == ("websocket.close", live.NOT_VISIBLE)


async def test_it_is_closed_for_a_run_that_does_not_exist(story: Any) -> None:
    socket = await sync_to_async(_socket)(story.alice, "r-nothing")

    assert (await socket.open())["type"] == "websocket.close"


async def test_it_is_closed_to_pages_of_other_sites(story: Any, recorded_run: Callable[..., Run]) -> None:
    run = await sync_to_async(recorded_run)()
    socket = await sync_to_async(_socket)(story.alice, run.run_id, origin="https://evil.example")

    assert (await socket.open())["type"] == "websocket.close"


async def test_it_closes_soon_after_the_user_left_the_team(
    story: Any, claimed_run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "PERMISSION_EVERY_S", 0.0)
    run = await sync_to_async(claimed_run)()

    async with _listening(story.bob, run) as socket:
        await socket.message()
        await Membership.objects.filter(user=story.bob).adelete()
        closed = await socket.receive_output(timeout=5)

    assert (closed["type"], closed["code"]) == ("websocket.close", live.NOT_VISIBLE)


async def test_it_closes_when_the_run_is_deleted(story: Any, claimed_run: Callable[..., Run]) -> None:
    run = await sync_to_async(claimed_run)()

    async with _listening(story.alice, run) as socket:
        await socket.message()
        await Run.objects.filter(pk=run.pk).adelete()
        closed = await socket.receive_output(timeout=5)

    assert closed["type"] == "websocket.close"


async def test_a_user_has_twenty_sockets_and_one_more_when_one_is_left(
    story: Any, recorded_run: Callable[..., Run]
) -> None:
    run = await sync_to_async(recorded_run)()

    async with AsyncExitStack() as stack:
        for _ in range(live.SOCKETS_A_USER - 1):
            await stack.enter_async_context(_listening(story.alice, run))
        async with _listening(story.alice, run):
            refused = await (await sync_to_async(_socket)(story.alice, run.run_id)).open()
            await stack.enter_async_context(_listening(story.bob, run))
        await stack.enter_async_context(_listening(story.alice, run))

    assert (refused["type"], refused["code"]) == ("websocket.close", live.TOO_MANY)


async def test_a_socket_that_failed_is_not_counted(
    story: Any, recorded_run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = await sync_to_async(recorded_run)()
    monkeypatch.setattr(live, "SOCKETS_A_USER", 1)
    broken = await sync_to_async(_socket)(story.alice, run.run_id)
    assert (await broken.open())["type"] == "websocket.accept"
    await broken.send_input({"type": "no such message"})
    with pytest.raises(ValueError, match="No handler for message type"):
        await broken.wait(timeout=5)

    async with _listening(story.alice, run) as socket:
        assert (await socket.message())["type"] == "run"


@pytest.mark.parametrize("frame", [{"text": "é" * 32769}, {"bytes": b"x" * 65537}])
async def test_a_large_frame_closes_it(story: Any, recorded_run: Callable[..., Run], frame: dict[str, Any]) -> None:
    run = await sync_to_async(recorded_run)()

    async with _listening(story.alice, run) as socket:
        await socket.message()
        await socket.send_input({"type": "websocket.receive", "text": "x" * 65536})
        assert await socket.receive_nothing(timeout=0.2)
        await socket.send_input({"type": "websocket.receive", **frame})
        closed = await socket.receive_output(timeout=5)

    assert (closed["type"], closed["code"]) == ("websocket.close", live.TOO_LARGE)


def test_a_look_costs_few_queries(
    recorded_run: Callable[..., Run], snapshot_of: Callable[..., Any], django_assert_num_queries: Any
) -> None:
    run = recorded_run()
    for seq in range(2, 6):
        snapshot_of(run, seq)

    fresh = Run.objects.select_related("host").get(pk=run.pk)

    with django_assert_num_queries(3):  # versions, snapshots, payloads
        message = live.live_message(fresh, live.Seen())

    assert len(message["snapshots"]) == 5
