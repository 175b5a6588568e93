"""The spool: snapshots on this host's disk from the moment they are taken until the site has them.

spool/lock                        held by the one agent that serves this spool
spool/r-8f3kq.<attempt>/lock      held by the process that records into it
                        0001.12500.zst    snapshot 1, taken 12.5 s after the start: folded form, zstd
                        0001.sent         the site has it
                        finish.json       how the recording ended; nothing is written after it
spool/rejected/                   snapshots that the site refused for good
"""

from __future__ import annotations

import fcntl
import io
import json
import logging
import os
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import cast

import zstandard

from tracer.profile.folded import write_folded
from tracer.profile.model import Profile

logger = logging.getLogger(__name__)

CAP_BYTES = 1 << 30
KEPT_S = 7 * 86_400.0
ZSTD_LEVEL = 3
FOLDER_NAME = re.compile(r"(?P<run>r-[A-Za-z0-9_-]{1,40})\.(?P<attempt>[0-9a-f]{32})")
SNAPSHOT_NAME = re.compile(r"(?P<seq>\d{4,6})\.(?P<elapsed_ms>\d+)\.zst")


class SpoolError(Exception):
    """The spool can't be used; the text is for the person who starts the agent."""


@dataclass(frozen=True, slots=True)
class SpooledSnapshot:
    path: Path
    seq: int
    elapsed_s: float


@dataclass(frozen=True, slots=True)
class Finish:
    """How a recording ended: outcome of the agent's API, and the sentence that the run page shows."""

    outcome: str
    reason: str
    snapshots: int  # taken; fewer are sent when the spool was full


class RunFolder:
    """What one recording left to be sent."""

    def __init__(self, path: Path) -> None:
        name = FOLDER_NAME.fullmatch(path.name)
        if name is None:
            raise SpoolError(f"{path.name!r} names no run and attempt")
        self.path, self.run, self.attempt = path, name["run"], name["attempt"]

    @contextmanager
    def being_written(self) -> Iterator[None]:
        """Hold the folder; an agent that starts meanwhile waits with what is in it."""
        with _locked(self.path / "lock"):
            yield

    @property
    def is_being_written(self) -> bool:
        try:
            with self.being_written():
                return False
        except BlockingIOError:
            return True
        except FileNotFoundError:
            return False

    def write_snapshot(self, seq: int, elapsed_s: float, profile: Profile) -> Path:
        """Write, fsync, rename: a snapshot is there as a whole or not at all."""
        path = self.path / f"{seq:04d}.{elapsed_s * 1000:.0f}.zst"
        part = path.with_suffix(".part")
        with open(part, "wb", opener=_private) as file:
            # A compressor carries state, so each file gets its own.
            zstd = zstandard.ZstdCompressor(level=ZSTD_LEVEL).stream_writer(file, closefd=False)
            with io.BufferedWriter(cast(io.RawIOBase, zstd)) as out:
                write_folded(profile, out)
            os.fsync(file.fileno())
        return part.rename(path)

    def snapshots(self) -> list[SpooledSnapshot]:
        names = ((path, SNAPSHOT_NAME.fullmatch(path.name)) for path in _children(self.path))
        found = [SpooledSnapshot(p, int(n["seq"]), int(n["elapsed_ms"]) / 1000) for p, n in names if n]
        return sorted(found, key=lambda snapshot: snapshot.seq)

    def mark_sent(self, snapshot: SpooledSnapshot) -> None:
        (self.path / f"{snapshot.seq:04d}.sent").touch(mode=0o600)
        snapshot.path.unlink(missing_ok=True)

    def sent(self) -> int:
        """Snapshots that the site has."""
        return sum(path.suffix == ".sent" for path in _children(self.path))

    def write_finish(self, finish: Finish) -> None:
        part = self.path / "finish.part"
        with open(part, "w", opener=_private) as file:
            json.dump(asdict(finish), file)
            file.flush()
            os.fsync(file.fileno())
        part.rename(self.path / "finish.json")

    def finish(self) -> Finish | None:
        """None while the recording goes on, or when its agent ended before it did."""
        try:
            return Finish(**json.loads((self.path / "finish.json").read_text()))
        except (FileNotFoundError, ValueError, TypeError):
            return None

    def remove(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)

    @property
    def exists(self) -> bool:
        return self.path.is_dir()


class Spool:
    """All run folders of one agent."""

    def __init__(self, root: Path, *, cap_bytes: int = CAP_BYTES, kept_s: float = KEPT_S) -> None:
        self.root, self._cap_bytes, self._kept_s = root, cap_bytes, kept_s

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Make the spool ours alone; SpoolError if another agent has it."""
        with ExitStack() as held:
            try:
                self.root.mkdir(parents=True, mode=0o700, exist_ok=True)
                self.root.chmod(0o700)
                held.enter_context(_locked(self.root / "lock"))
            except BlockingIOError:
                raise SpoolError(f"another agent uses spool {self.root}: give this one its own by --spool") from None
            except OSError as error:
                raise SpoolError(f"can't use spool {self.root}: {error.strerror}") from None
            yield

    def open(self, run: str, attempt: str) -> RunFolder:
        name = f"{run}.{attempt}"
        if FOLDER_NAME.fullmatch(name) is None:  # a path in it would lead out of the spool
            raise SpoolError(f"{name!r} names no run and attempt")
        folder = RunFolder(self.root / name)
        folder.path.mkdir(mode=0o700)
        return folder

    def folders(self) -> list[RunFolder]:
        found = [RunFolder(path) for path in _children(self.root) if FOLDER_NAME.fullmatch(path.name)]
        return sorted(found, key=lambda folder: folder.path.stat().st_mtime)

    def reject(self, folder: RunFolder, snapshot: SpooledSnapshot) -> None:
        """Set aside what the site will never take, so that a person can look at it."""
        rejected = self.root / "rejected" / folder.path.name
        rejected.mkdir(parents=True, mode=0o700, exist_ok=True)
        with suppress(FileNotFoundError):
            snapshot.path.rename(rejected / snapshot.path.name)

    def trim(self) -> int:
        """Remove what is too old, then the oldest until the rest is within the cap; returns the files removed.

        The last snapshot of a run says most, since values are cumulative: it goes after all others.
        """
        removed = 0
        files = self._by_worth()
        total = sum(size for *_, size, _ in files)
        for _, modified_at, size, path in files:
            if total <= self._cap_bytes and time.time() - modified_at < self._kept_s:
                continue
            path.unlink(missing_ok=True)
            removed, total = removed + 1, total - size
        if removed:
            logger.error("%d snapshots were dropped from the spool: it may hold %d bytes", removed, self._cap_bytes)
        return removed

    def _by_worth(self) -> list[tuple[bool, float, int, Path]]:
        files = []
        for folder in (*_children(self.root), *_children(self.root / "rejected")):
            paths = sorted(path for path in _children(folder) if SNAPSHOT_NAME.fullmatch(path.name))
            for path in paths:
                with suppress(FileNotFoundError):
                    status = path.stat()
                    files.append((path == paths[-1], status.st_mtime, status.st_size, path))
        return sorted(files)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """BlockingIOError if another process holds it; the kernel drops the lock when its holder dies."""
    with open(path, "a", opener=_private) as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)


def _children(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []
