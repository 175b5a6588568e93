"""The file broker: Celery messages as files in a folder, for a site and an agent on one machine.

Importing this module makes `memflame-files:///absolute/folder` a broker URL that Celery and kombu take as it is: no
transport options are needed. In the URL's path `;`, `?`, `#` and `%` are percent-encoded. It differs from kombu's own
`filesystem://` in that no message is read half written, taken twice, or lost with the consumer that had taken it.

    folder/q-<queue>/new/       being written; renamed to ready/ when it is on disk
    folder/q-<queue>/ready/     one file a message, named by time: only consumers of this queue look here
    folder/q-<queue>/taken/<boot>-<pid>-<start time>/   delivered to that process and not acknowledged yet
    folder/set-aside/           what could not be read, or outlived MAX_DEATHS consumers

A folder made here is 0700; one that exists keeps its mode, and what is made inside follows it, so a site and an agent
of different users share one of mode 2770. Whoever may write there can wake the agent, and nothing more: a message
carries a run id only. The folder serves one machine and one pid namespace. Exchanges are direct; a broadcast reaches
nobody, so workers run without remote control, gossip and mingle.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import re
import stat
import time
import uuid
from collections import deque
from pathlib import Path
from queue import Empty
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from kombu.exceptions import ChannelError
from kombu.transport import TRANSPORT_ALIASES, virtual

logger = logging.getLogger(__name__)

SCHEME = "memflame-files"
POLLING_INTERVAL_S = 0.1
RESTORE_EVERY_S = 5.0
MAX_DEATHS = 5  # a message that ended this many consumers is set aside, or it would end the next one too
MAX_MESSAGE_BYTES = 16 << 20
MESSAGE_NAME = re.compile(r"(\d{20})\.([0-9a-f]{32})\.(\d+)\.msg")  # time in ns, unique, consumers outlived
CONSUMER_NAME = re.compile(r"([0-9a-f]{8})-(\d+)-(\d*)")
ABANDONED_AFTER_S = 3600.0  # a file in new/ that old belongs to a publisher that died while writing


def folder_of(url: str) -> Path:
    """The absolute folder of a `memflame-files:///folder` URL; ValueError says what is wrong with it."""
    parts = urlsplit(url)
    path = unquote(parts.path)
    if parts.scheme != SCHEME or parts.netloc or len(path) < 2:
        raise ValueError(f"broker URL is {url!r}, {SCHEME}:///absolute/folder is needed")
    return Path(path)


class Consumer:
    """Names the processes that take messages, and tells whether one of them still lives."""

    def __init__(self) -> None:
        self._boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()[:8]

    def own_name(self) -> str:
        pid = os.getpid()
        return f"{self._boot}-{pid}-{_start_time(pid)}"

    def is_alive(self, name: str) -> bool:
        parts = CONSUMER_NAME.fullmatch(name)
        if parts is None:
            return True  # no folder of ours, so nothing of ours is in it
        boot, pid, start_time = parts[1], int(parts[2]), parts[3]
        if boot != self._boot:
            return False
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            pass  # another user's process is alive all the same
        return _start_time(pid) in ("", start_time)


def _start_time(pid: int) -> str:
    """Clock ticks since boot from /proc/PID/stat; "0" for a zombie, "" where /proc hides the process."""
    try:
        # The command is in parentheses and may hold both, so count from its end.
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, PermissionError, ProcessLookupError):
        return ""
    return "0" if fields[0] in "ZX" else fields[19]


class QueueFolder:
    """One queue on disk. Each step is one rename, so it happened or it did not."""

    def __init__(self, root: Path, queue: str, consumer: Consumer) -> None:
        self.path = root / f"q-{quote(queue, safe='')}"
        self._new, self._ready, self._taken = (self.path / part for part in ("new", "ready", "taken"))
        self._set_aside = root / "set-aside"
        self._consumer = consumer
        self._listing: deque[str] = deque()

    def make(self) -> None:
        mode = stat.S_IMODE(self.path.parent.stat().st_mode)
        for folder in (self.path, self._new, self._ready, self._taken, self._set_aside):
            _make_folder(folder, mode)

    def put(self, message: bytes) -> None:
        name = f"{time.time_ns():020d}.{uuid.uuid4().hex}.0.msg"
        part = self._new / name
        try:
            _write_synced(part, message, mode=stat.S_IMODE(self._new.stat().st_mode) & 0o660)
            part.rename(self._ready / name)
        except FileNotFoundError:
            self.make()
            self.put(message)
        except OSError as error:
            part.unlink(missing_ok=True)
            raise ChannelError(f"message not written to {self._ready}: {error.strerror}") from error

    def take(self) -> tuple[Path, dict[str, Any]]:
        """The oldest message, moved to this process's folder; queue.Empty if there is none."""
        while True:
            taken = self._claim(self._next_name())
            if taken is None:
                continue
            try:
                return taken, _read_message(taken)
            except ValueError as error:
                self._put_aside(taken, str(error))

    def give_back(self, taken: Path) -> None:
        with contextlib.suppress(FileNotFoundError):
            taken.rename(self._ready / taken.name)

    def restore_dead(self) -> None:
        """Offer again what processes had taken that live no more."""
        for folder in _children(self._taken):
            if self._consumer.is_alive(folder.name):
                continue
            for taken in _children(folder):
                self._restore(taken)
            with contextlib.suppress(OSError):
                folder.rmdir()

    def sweep_abandoned(self) -> None:
        for part in _children(self._new):
            with contextlib.suppress(FileNotFoundError):
                if time.time() - part.stat().st_mtime > ABANDONED_AFTER_S:
                    part.unlink()

    def size(self) -> int:
        return len(_children(self._ready))

    def purge(self) -> int:
        """Remove what is ready; what was taken belongs to its consumer."""
        removed = 0
        for ready in _children(self._ready):
            with contextlib.suppress(FileNotFoundError):
                ready.unlink()
                removed += 1
        return removed

    def _next_name(self) -> str:
        if not self._listing:
            # One listing serves many gets; a name that another consumer took meanwhile is passed over.
            names = (path.name for path in _children(self._ready))
            self._listing.extend(sorted(name for name in names if MESSAGE_NAME.fullmatch(name)))
        if not self._listing:
            raise Empty
        return self._listing.popleft()

    def _claim(self, name: str) -> Path | None:
        own = self._taken / self._consumer.own_name()
        _make_folder(own, stat.S_IMODE(self._taken.stat().st_mode))
        try:
            return (self._ready / name).rename(own / name)
        except FileNotFoundError:
            return None

    def _restore(self, taken: Path) -> None:
        name = MESSAGE_NAME.fullmatch(taken.name)
        if name is None or int(name[3]) + 1 >= MAX_DEATHS:
            self._put_aside(taken, f"{MAX_DEATHS} consumers ended while they had it")
            return
        with contextlib.suppress(FileNotFoundError):
            taken.rename(self._ready / f"{name[1]}.{name[2]}.{int(name[3]) + 1}.msg")

    def _put_aside(self, taken: Path, reason: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            taken.rename(self._set_aside / taken.name)
            logger.error("message %s of %s was set aside: %s", taken.name, self.path.name, reason)


def _make_folder(folder: Path, mode: int) -> None:
    if not folder.is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(mode)  # the umask must not narrow what the shared folder allows


def _children(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except FileNotFoundError:
        return []


def _write_synced(path: Path, content: bytes, *, mode: int) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(fd, "wb") as file:
        os.fchmod(fd, mode)
        file.write(content)
        file.flush()
        os.fsync(fd)


def _read_message(path: Path) -> dict[str, Any]:
    """Read one message; ValueError if it is none. Neither a link nor a pipe that someone put there is followed."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        raise ValueError(f"it can't be opened: {error.strerror}") from None
    with os.fdopen(fd, "rb") as file:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode):
            raise ValueError("it is no regular file")
        if status.st_size > MAX_MESSAGE_BYTES:
            raise ValueError(f"it is {status.st_size:,} bytes long, the limit is {MAX_MESSAGE_BYTES:,}")
        return _parse_message(file.read())


def _parse_message(content: bytes) -> dict[str, Any]:
    try:
        message: Any = json.loads(content)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    has_parts = isinstance(message, dict) and isinstance(message.get("properties"), dict)
    if not has_parts or not isinstance(message.get("body"), str):
        raise ValueError("it has no body or no properties")
    return dict(message)


class QoS(virtual.QoS):
    """Acknowledging removes the file; until then it stays in the consumer's folder."""

    def ack(self, delivery_tag: str) -> None:
        self.channel.forget(delivery_tag)
        super().ack(delivery_tag)

    def reject(self, delivery_tag: str, requeue: bool = False) -> None:
        super().reject(delivery_tag, requeue=requeue)
        self.channel.forget(delivery_tag)


class Channel(virtual.Channel):
    """kombu's channel on queue folders."""

    QoS = QoS
    supports_fanout = False

    def __init__(self, connection: Any, **kwargs: Any) -> None:
        super().__init__(connection, **kwargs)
        self._root = connection.folder
        self._consumer = Consumer()
        self._queues: dict[str, QueueFolder] = {}
        self._taken: dict[str, tuple[QueueFolder, Path]] = {}
        self._without_ack: set[str] = set()
        self._restored_at: dict[str, float] = {}

    def basic_consume(self, queue: str, no_ack: bool, callback: Any, consumer_tag: str, **kwargs: Any) -> None:
        self._folder(queue).sweep_abandoned()
        if no_ack:
            self._without_ack.add(queue)
        super().basic_consume(queue, no_ack, callback, consumer_tag, **kwargs)

    def basic_get(self, queue: str, no_ack: bool = False, **kwargs: Any) -> Any:
        message = super().basic_get(queue, no_ack=no_ack, **kwargs)
        if message is not None and no_ack:
            self.forget(message.delivery_tag)
        return message

    def forget(self, delivery_tag: str) -> None:
        """Remove a message that was taken: it is acknowledged or refused."""
        _, taken = self._taken.pop(delivery_tag, (None, None))
        if taken is not None:
            taken.unlink(missing_ok=True)

    def _get(self, queue: str, timeout: float | None = None) -> dict[str, Any]:
        folder = self._folder(queue)
        self._restore_now_and_then(queue, folder)
        taken, message = folder.take()
        # A broadcast puts one tag into several queues; the file's name is unique.
        tag = f"{folder.path.name}/{taken.name}"
        message["properties"]["delivery_tag"] = tag
        self._taken[tag] = folder, taken
        if queue in self._without_ack:
            self.forget(tag)
        return message

    def _put(self, queue: str, message: Any, **kwargs: Any) -> None:
        self._folder(queue).put(json.dumps(message).encode())

    def _restore(self, message: Any) -> None:
        folder, taken = self._taken.pop(message.delivery_tag, (None, None))
        if folder is not None and taken is not None:
            folder.give_back(taken)

    def _size(self, queue: str) -> int:
        return self._folder(queue).size()

    def _purge(self, queue: str) -> int:
        return self._folder(queue).purge()

    def _has_queue(self, queue: str, **kwargs: Any) -> bool:
        return self._folder(queue).path.is_dir()

    def _new_queue(self, queue: str, **kwargs: Any) -> None:
        self._folder(queue).make()

    def _folder(self, queue: str) -> QueueFolder:
        if queue not in self._queues:
            self._queues[queue] = QueueFolder(self._root, queue, self._consumer)
        return self._queues[queue]

    def _restore_now_and_then(self, queue: str, folder: QueueFolder) -> None:
        now = time.monotonic()
        if now - self._restored_at.get(queue, -RESTORE_EVERY_S) >= RESTORE_EVERY_S:
            self._restored_at[queue] = now
            folder.restore_dead()


class Transport(virtual.Transport):
    """kombu's transport on a folder; `can_parse_url` makes kombu hand over the URL as it is."""

    Channel = Channel
    can_parse_url = True
    polling_interval = POLLING_INTERVAL_S
    default_port = 0
    driver_type = driver_name = SCHEME
    implements = virtual.Transport.implements.extend(exchange_type=frozenset(["direct"]))

    def __init__(self, client: Any, **kwargs: Any) -> None:
        super().__init__(client, **kwargs)
        self.folder = folder_of(client.hostname)

    def establish_connection(self) -> Any:
        _make_folder(self.folder, 0o700)
        if self.folder.stat().st_mode & 0o002:
            # ValueError, since kombu would try again and again after any error of a broker.
            raise ValueError(f"broker folder {self.folder} may be written by everyone: chmod o-w is needed")
        return super().establish_connection()

    def driver_version(self) -> str:
        return "1"


TRANSPORT_ALIASES[SCHEME] = "tracer.broker:Transport"
