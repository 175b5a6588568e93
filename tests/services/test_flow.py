"""The main flow on PostgreSQL and on Redis: asked for, nudged, recorded, read, pushed to a page, compared."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import redis
from websockets.sync.client import connect

from tests.site_fixture import LiveSite, Story, make_site  # noqa: F401 - a fixture
from tests.targets import leaky_service

pytestmark = pytest.mark.services

RECORDED_WITHIN_S = 60


class TwoWebProcesses(LiveSite):
    """A page's socket and an agent's post are served by different processes."""

    def start_web(self) -> None:
        options = ("--host", "127.0.0.1", "--port", str(self.port), "--workers", "2", "--no-access-log")
        self.start_process("web", "-m", "uvicorn", "webapp.asgi:application", *options)
        self.wait_until(self._is_alive, RECORDED_WITHIN_S)


@pytest.fixture
def site_on(tmp_path: Path) -> Iterator[Callable[..., tuple[LiveSite, Story]]]:
    """Starts a site with an agent on given databases and brokers."""
    started: list[LiveSite] = []

    def start(kind: type[LiveSite] = LiveSite, **urls: str) -> tuple[LiveSite, Story]:
        site = kind(tmp_path, **urls)
        started.append(site)
        story = site.prepare()
        site.start()
        site.start_agent(story)
        return site, story

    yield start
    for site in started:
        site.stop()


def _ask_for_run(site: LiveSite, story: Story, person: httpx.Client, pid: int) -> str:
    start_time = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    form = {
        "host": story.host_id, "process": f"{pid}-{start_time}", "collector": "malloc",
        "duration": "own", "own_duration": 4, "snapshot_every": 2,
    }  # fmt: skip

    site.wait_until(lambda: str(pid) in person.get(f"/p/{story.project}/hosts/{story.host_id}/processes").text)
    answer = person.post(f"/p/{story.project}/record", data=form)
    assert answer.status_code == 302, answer.text
    return answer.headers["Location"].rpartition("/")[2]


def _follow(site: LiveSite, story: Story, run: str) -> list[dict[str, Any]]:
    """What the run page's socket is told until the run has ended."""
    messages: list[dict[str, Any]] = []
    headers = {"Cookie": f"sessionid={story.session}", "Origin": site.url}
    with connect(f"ws{site.url.removeprefix('http')}/ws/runs/{run}", additional_headers=headers) as socket:
        while not messages or messages[-1]["state"] not in ("ready", "failed", "cancelled"):
            messages.append(json.loads(socket.recv(timeout=RECORDED_WITHIN_S)))
    return messages


def _recorded(site: LiveSite, story: Story, person: httpx.Client, version: int) -> tuple[str, list[dict[str, Any]]]:
    with leaky_service(version) as pid:
        run = _ask_for_run(site, story, person, pid)
        return run, _follow(site, story, run)


def _assert_recorded(messages: list[dict[str, Any]], logs: str) -> None:
    assert messages[-1]["state"] == "ready", (messages[-1], logs)
    assert "recording" in [message["state"] for message in messages]
    told = {snapshot["seq"]: snapshot for message in messages for snapshot in message["snapshots"]}
    assert sorted(told) == [1, 2]
    assert told[2]["totals"]["outstanding_bytes"] > told[1]["totals"]["outstanding_bytes"] > 0


def test_the_flow_on_postgresql_and_redis_with_two_web_processes(
    site_on: Callable[..., tuple[LiveSite, Story]], postgres_url: str, redis_url: str
) -> None:
    site, story = site_on(TwoWebProcesses, database_url=postgres_url, redis_url=redis_url)
    with site.person(story) as person, redis.Redis.from_url(redis_url).pubsub() as published:
        published.psubscribe("*run.*")

        before, messages = _recorded(site, story, person, 1)
        after, _ = _recorded(site, story, person, 2)

        _assert_recorded(messages, site.logs())
        assert before.encode() in b" ".join(_channels(published)), "nothing was pushed over the channel layer"
        compared = person.get(f"/api/v1/compare/{before}/{after}")
        assert compared.status_code == 200, compared.text
        assert compared.json()["after"]["total"] > compared.json()["before"]["total"] > 0


def _channels(published: Any) -> Iterator[bytes]:
    while message := published.get_message(timeout=0.2):
        yield message["channel"]


def test_the_flow_on_sqlite_and_redis(site_on: Callable[..., tuple[LiveSite, Story]], redis_url: str) -> None:
    site, story = site_on(redis_url=redis_url.replace("/0", "/1"))
    with site.person(story) as person:
        _, messages = _recorded(site, story, person, 1)

    _assert_recorded(messages, site.logs())


def test_the_flow_on_postgresql_and_the_file_broker(
    site_on: Callable[..., tuple[LiveSite, Story]], postgres_url: str
) -> None:
    site, story = site_on(database_url=postgres_url)
    with site.person(story) as person:
        _, messages = _recorded(site, story, person, 1)

    _assert_recorded(messages, site.logs())
