"""Snapshots on disk until the site has them: killed writers, full disks, second agents."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import zstandard

from tracer.agent.spool import Finish, RunFolder, Spool, SpoolError
from tracer.profile.model import Profile
from tracer.protocol import COLLECTORS

ATTEMPT = "0123456789abcdef" * 2

# Writes snapshot after snapshot and tells of each one that is on disk.
WRITER = """
import sys
from pathlib import Path
from tracer.agent.spool import RunFolder
from tracer.profile.model import Profile
from tracer.protocol import COLLECTORS

folder = RunFolder(Path(sys.argv[1]))
profile = Profile(COLLECTORS["brk"].value_types)
for number in range(20_000):
    profile.add(("main", f"frame_{number}"), [number, 1, 0])
with folder.being_written():
    for seq in range(1, 1000):
        folder.write_snapshot(seq, seq / 10, profile)
        print(seq, flush=True)
"""


@pytest.fixture
def spool(tmp_path: Path) -> Spool:
    spool = Spool(tmp_path / "spool", cap_bytes=1 << 20)
    spool.root.mkdir(mode=0o700)
    return spool


@pytest.fixture
def folder(spool: Spool) -> RunFolder:
    return spool.open("r-abc", ATTEMPT)


def small_profile() -> Profile:
    profile = Profile(COLLECTORS["brk"].value_types)
    profile.add(("main", "grow_heap"), [4096, 1, 0])
    return profile


def unpacked(path: Path) -> bytes:
    with path.open("rb") as file:
        return zstandard.ZstdDecompressor().stream_reader(file).read()


def fill(folder: RunFolder, *sizes: int, age_s: float = 0) -> list[Path]:
    paths = []
    for seq, size in enumerate(sizes, start=1):
        path = folder.path / f"{seq:04d}.{seq * 1000}.zst"
        path.write_bytes(b"x" * size)
        os.utime(path, (time.time() - age_s + seq,) * 2)
        paths.append(path)
    return paths


def test_a_snapshot_is_our_folded_form_in_zstd(folder: RunFolder) -> None:
    path = folder.write_snapshot(3, 12.5, small_profile())

    assert unpacked(path) == b"# memflame-folded 1\n# values: heap_bytes calls failed_calls\nmain;grow_heap 4096 1 0\n"
    (found,) = folder.snapshots()
    assert (found.seq, found.elapsed_s, found.path) == (3, 12.5, path)


def test_nobody_else_can_read_the_spool(folder: RunFolder, spool: Spool) -> None:
    path = folder.write_snapshot(1, 1.0, small_profile())

    modes = [part.stat().st_mode & 0o777 for part in (spool.root, folder.path, path)]
    assert modes == [0o700, 0o700, 0o600]


def test_what_a_killed_writer_told_of_is_whole(folder: RunFolder) -> None:
    writer = subprocess.Popen([sys.executable, "-c", WRITER, str(folder.path)], stdout=subprocess.PIPE, text=True)
    assert writer.stdout is not None
    told = [int(writer.stdout.readline()) for _ in range(5)]
    assert folder.is_being_written

    writer.send_signal(signal.SIGKILL)
    told += [int(line) for line in writer.communicate()[0].splitlines() if line.strip()]

    found = folder.snapshots()
    assert [snapshot.seq for snapshot in found][: len(told)] == told
    assert len({unpacked(snapshot.path) for snapshot in found}) == 1
    assert not folder.is_being_written


def test_a_second_agent_is_told_that_the_spool_is_taken(spool: Spool) -> None:
    told = pytest.raises(SpoolError, match="another agent uses spool .*: give this one its own")
    with spool.in_use(), told, Spool(spool.root).in_use():
        pass

    with Spool(spool.root).in_use():
        assert spool.root.exists()


def test_a_spool_that_can_not_be_made_says_why(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with (
        pytest.raises(SpoolError, match="can't use spool .*: Not a directory"),
        Spool(tmp_path / "file/spool").in_use(),
    ):
        pass


def test_folders_are_found_again_with_their_end(spool: Spool, folder: RunFolder) -> None:
    folder.write_snapshot(1, 1.0, small_profile())
    folder.write_finish(Finish("stopped", "The agent on this host was stopped.", 1))

    (found,) = Spool(spool.root).folders()

    assert (found.run, found.attempt) == ("r-abc", ATTEMPT)
    assert found.finish() == Finish("stopped", "The agent on this host was stopped.", 1)


@pytest.mark.parametrize("run", ["../r-abc", "r-a/b", "", "r-", "x-abc", "r-" + "a" * 41])
def test_a_run_id_that_is_no_name_is_refused(spool: Spool, run: str) -> None:
    with pytest.raises(SpoolError, match="names no run and attempt"):
        spool.open(run, ATTEMPT)


def test_sent_snapshots_are_counted_but_not_kept(folder: RunFolder) -> None:
    folder.write_snapshot(1, 1.0, small_profile())
    folder.write_snapshot(2, 2.0, small_profile())

    folder.mark_sent(folder.snapshots()[0])

    assert [snapshot.seq for snapshot in folder.snapshots()] == [2]
    assert folder.sent() == 1


def test_above_the_cap_the_oldest_goes_but_the_last_of_a_run_stays(spool: Spool, folder: RunFolder) -> None:
    paths = fill(folder, 400_000, 400_000, 400_000)

    assert spool.trim() == 1

    assert [path.exists() for path in paths] == [False, True, True]


def test_the_last_snapshot_of_an_older_run_outlives_a_newer_intermediate_one(spool: Spool, folder: RunFolder) -> None:
    (old_last,) = fill(folder, 500_000, age_s=3600)
    newer = fill(spool.open("r-def", ATTEMPT), 400_000, 400_000)

    spool.trim()

    assert [path.exists() for path in (old_last, *newer)] == [True, False, True]


def test_after_a_week_nothing_is_kept(spool: Spool, folder: RunFolder) -> None:
    (path,) = fill(folder, 10, age_s=8 * 86_400)

    assert spool.trim() == 1

    assert not path.exists()


def test_within_cap_and_week_nothing_is_dropped(spool: Spool, folder: RunFolder) -> None:
    fill(folder, 400_000, 400_000)

    assert spool.trim() == 0


def test_a_refused_snapshot_is_set_aside(spool: Spool, folder: RunFolder) -> None:
    folder.write_snapshot(1, 1.0, small_profile())

    spool.reject(folder, folder.snapshots()[0])

    assert folder.snapshots() == []
    assert [path.name for path in (spool.root / "rejected" / folder.path.name).iterdir()] == ["0001.1000.zst"]
