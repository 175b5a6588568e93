"""The listener over Redis, which ends at the worst moment."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from kombu.exceptions import OperationalError
from redis import Redis
from redis.exceptions import ConnectionError as RedisConnectionError

from tests.site_fixture import free_port
from tracer.agent.listen import make_app
from tracer.agent.nudges import Nudges
from tracer.protocol import TASK_RUN_READY


@pytest.fixture
def redis_port() -> int:
    return free_port()


@pytest.fixture
def start_redis(redis_port: int, tmp_path: Path, wait_until: Any) -> Iterator[Callable[[], subprocess.Popen[bytes]]]:
    started: list[subprocess.Popen[bytes]] = []

    def start() -> subprocess.Popen[bytes]:
        options = ["--port", str(redis_port), "--bind", "127.0.0.1", "--save", "", "--dir", str(tmp_path)]
        started.append(subprocess.Popen(["redis-server", *options], stdout=subprocess.DEVNULL))
        wait_until(lambda: _answers(redis_port))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()


def _answers(port: int) -> bool:
    try:
        with Redis(port=port) as client:
            return bool(client.ping())
    except RedisConnectionError:
        return False


@pytest.mark.services
def test_it_hears_again_after_redis_ended_between_a_message_and_its_acknowledgement(
    redis_port: int, start_redis: Any, wait_until: Any
) -> None:
    url, heard = f"redis://127.0.0.1:{redis_port}/0", threading.Event()
    redis = start_redis()

    def kill_redis_then_note() -> None:
        redis.kill()
        heard.set()

    def send(run: str) -> None:
        try:
            make_app(url, "host.h1").send_task(TASK_RUN_READY, [run], queue="host.h1", retry=False)
        except OperationalError:
            return  # it is down; the site's sweep repeats nudges in the same way

    def has_heard(run: str) -> bool:
        send(run)
        return heard.wait(0.5)

    reaction = heard.set
    nudges = Nudges(url, lambda: reaction())
    nudges.listen_to("host.h1")
    reaction = kill_redis_then_note
    heard.clear()
    try:
        wait_until(lambda: has_heard("r-first"))
        redis.wait()
        reaction = heard.set
        heard.clear()

        start_redis()

        wait_until(lambda: has_heard("r-again"), timeout_s=30)
    finally:
        nudges.stop()
