"""The file broker under several producers and consumers, killed consumers and broken files."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
from collections import Counter
from pathlib import Path
from queue import Empty
from typing import Any

import pytest
from kombu import Connection, Queue

import tracer.broker as broker

PRODUCER = """
import sys
from kombu import Connection, Queue
import tracer.broker
url, name, count, size = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
with Connection(url) as connection:
    producer = connection.Producer()
    queue = Queue("work")
    for number in range(count):
        producer.publish([f"{name}-{number}", "x" * size], routing_key="work", declare=[queue] if number == 0 else [])
"""

CONSUMER = """
import socket, sys
from kombu import Connection, Queue
import tracer.broker
url, done = sys.argv[1], sys.argv[2]

def received(body, message):
    assert len(body[1]) == int(sys.argv[3])
    print(body[0], flush=True)
    message.ack()

with Connection(url) as connection, connection.Consumer(Queue("work"), callbacks=[received]) as consumer:
    consumer.qos(prefetch_count=4)
    while True:
        try:
            connection.drain_events(timeout=0.3)
        except socket.timeout:
            import pathlib
            if pathlib.Path(done).exists():
                break
"""

# Takes a message, tells so, and holds it without acknowledging.
HOLDER = """
import sys, time
from kombu import Connection, Queue
import tracer.broker
with Connection(sys.argv[1]) as connection:
    message = connection.default_channel.basic_get("work")
    print(message.decode()[0], flush=True)
    time.sleep(60)
"""


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"{broker.SCHEME}://{tmp_path}/broker"


def start(source: str, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", textwrap.dedent(source), *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def publish(url: str, *bodies: Any, queue: str = "work") -> None:
    with Connection(url) as connection:
        for body in bodies:
            connection.Producer().publish(body, routing_key=queue, declare=[Queue(queue)])


def get(connection: Connection, queue: str = "work") -> Any:
    return connection.default_channel.basic_get(queue)


@pytest.mark.parametrize(("size", "count"), [(2_000, 1000), (100_000, 400)])
def test_three_producers_and_three_consumers_lose_and_double_nothing(
    url: str, tmp_path: Path, size: int, count: int
) -> None:
    consumers = [start(CONSUMER, url, tmp_path / "done", size) for _ in range(3)]
    producers = [start(PRODUCER, url, name, count, size) for name in "abc"]

    for producer in producers:
        producer.communicate(timeout=60)
    (tmp_path / "done").touch()
    received = Counter(word for consumer in consumers for word in consumer.communicate(timeout=60)[0].split())

    assert [process.returncode for process in producers + consumers] == [0] * 6
    assert received == Counter(f"{name}-{number}" for name in "abc" for number in range(count))


def test_a_killed_consumer_loses_nothing_that_it_had_not_acknowledged(url: str) -> None:
    publish(url, ["one"], ["two"])
    holder = start(HOLDER, url)
    assert holder.stdout is not None
    held = holder.stdout.readline().strip()

    holder.send_signal(signal.SIGKILL)
    holder.communicate()

    with Connection(url) as connection:
        bodies = []
        while message := get(connection):
            bodies.append(message.decode()[0])
            message.ack()
        assert held == "one"
        assert sorted(bodies) == ["one", "two"]


def test_a_living_consumer_keeps_what_it_has_taken(url: str) -> None:
    publish(url, ["one"])
    holder = start(HOLDER, url)
    assert holder.stdout is not None
    holder.stdout.readline()

    try:
        with Connection(url) as connection:
            assert get(connection) is None
    finally:
        holder.kill()
        holder.communicate()


def test_a_message_is_offered_again_when_its_connection_closes(url: str) -> None:
    publish(url, ["one"])

    with Connection(url) as connection:
        assert get(connection).decode() == ["one"]

    with Connection(url) as connection:
        assert get(connection).decode() == ["one"]


def test_a_rejected_message_is_gone_unless_it_is_requeued(url: str) -> None:
    publish(url, ["keep"], ["drop"])

    with Connection(url) as connection:
        get(connection).requeue()
        get(connection).reject()
        again = get(connection)
        again.ack()

        assert again.decode() == ["keep"]
        assert get(connection) is None


def test_a_message_that_ended_five_consumers_is_set_aside(url: str, tmp_path: Path) -> None:
    root = tmp_path / "broker"
    publish(url, ["deadly"])
    folder = broker.QueueFolder(root, "work", broker.Consumer())

    for _ in range(broker.MAX_DEATHS):
        taken, _message = folder.take()
        dead = taken.parent.with_name("00000000-1-1")
        taken.parent.rename(dead)
        folder.restore_dead()

    with pytest.raises(Empty):
        folder.take()
    assert len(list((root / "set-aside").iterdir())) == 1


@pytest.mark.parametrize(
    "content", [b"", b"{", b"\xff\xfe", b"[1, 2]", b'{"properties": {}}', b"[" * 100_000], ids=repr
)
def test_a_broken_message_is_set_aside_and_the_next_one_delivered(url: str, tmp_path: Path, content: bytes) -> None:
    publish(url, ["bad"], ["good"])
    first = min((tmp_path / "broker/q-work/ready").iterdir())
    first.write_bytes(content)

    with Connection(url) as connection:
        assert get(connection).decode() == ["good"]

    assert [path.name for path in (tmp_path / "broker/set-aside").iterdir()] == [first.name]


def test_a_pipe_in_the_queue_folder_does_not_hold_up_the_consumer(url: str, tmp_path: Path) -> None:
    publish(url, ["bad"], ["good"])
    first = min((tmp_path / "broker/q-work/ready").iterdir())
    first.unlink()
    os.mkfifo(first)

    with Connection(url) as connection:
        assert get(connection).decode() == ["good"]


def test_a_queue_delivers_in_order_and_only_its_own(url: str) -> None:
    publish(url, *([number] for number in range(5)))
    publish(url, ["other"], queue="host.b")

    with Connection(url) as connection:
        bodies = [get(connection).decode()[0] for _ in range(5)]

        assert bodies == [0, 1, 2, 3, 4]
        assert get(connection) is None
        assert get(connection, "host.b").decode() == ["other"]


def test_purge_counts_what_it_removes(url: str) -> None:
    publish(url, ["one"], ["two"])

    with Connection(url) as connection:
        assert connection.default_channel.queue_purge("work") == 2
        assert get(connection) is None


def test_a_new_folder_is_private_and_a_shared_one_stays_shared(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o2770)

    publish(f"{broker.SCHEME}://{tmp_path}/private", ["one"])
    publish(f"{broker.SCHEME}://{shared}", ["one"])

    assert (tmp_path / "private").stat().st_mode & 0o7777 == 0o700
    assert (shared / "q-work/ready").stat().st_mode & 0o7777 == 0o2770
    assert next((shared / "q-work/ready").iterdir()).stat().st_mode & 0o777 == 0o660


def test_a_folder_that_everyone_may_write_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)

    with pytest.raises(ValueError, match="may be written by everyone"):
        publish(f"{broker.SCHEME}://{tmp_path}", ["one"])


@pytest.mark.parametrize("url", ["memflame-files://host/folder", "memflame-files:///", "redis:///folder"])
def test_a_url_without_an_absolute_folder_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="memflame-files:///absolute/folder is needed"):
        broker.folder_of(url)


def test_messages_are_plain_json_on_disk(url: str, tmp_path: Path) -> None:
    publish(url, ["one"])

    message = json.loads(next((tmp_path / "broker/q-work/ready").iterdir()).read_bytes())

    assert message["content-type"] == "application/json"
