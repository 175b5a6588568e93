"""The tracing process and its lines: what the agent hears when it works, fails, is stopped, or is left alone."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tracer.agent.children import output_of, start_child
from tracer.agent.spool import RunFolder, Spool
from tracer.agent.tracing import Counts, TracingProcess
from tracer.protocol import RunSpec

NO_PID = 2**22 + 1  # above the largest that the kernel gives


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return Spool(tmp_path).open("r-abc", "0123456789abcdef" * 2)


@pytest.fixture
def start(folder: RunFolder) -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    started: list[subprocess.Popen[bytes]] = []

    def start(**spec: Any) -> subprocess.Popen[bytes]:
        task = {"spec": {**RunSpec("r-abc", "brk", NO_PID).to_dict(), **spec}, "folder": str(folder.path)}
        started.append(start_child("tracer.agent.child", task))
        return started[-1]

    yield start
    for child in started:
        child.kill()
        child.wait()
        output_of(child).close()


def events_of(child: subprocess.Popen[bytes]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in output_of(child)]


def test_a_target_that_is_not_there_is_one_line_with_the_reason(start: Any) -> None:
    child = start()

    (end,) = events_of(child)

    assert (end["event"], end["outcome"], end["snapshots"]) == ("end", "failed", 0)
    assert str(NO_PID) in end["reason"] or "root" in end["reason"]
    assert child.wait(10) == 0


def test_an_error_of_our_own_is_told_as_one(start: Any) -> None:
    child = start(pid="many")

    (end,) = events_of(child)

    assert end["outcome"] == "failed"
    assert end["reason"].startswith("The recording ended by an error of memflame: ValueError:")
    assert child.wait(10) == 1


@pytest.mark.ebpf
def test_it_tells_of_probes_progress_snapshots_and_end(start: Any, target: Any, folder: RunFolder) -> None:
    child = start(pid=target.pid, duration_s=1.0, snapshot_every_s=0.4)

    events = events_of(child)

    names = [event["event"] for event in events]
    assert (names[0], names[-1]) == ("attached", "end")
    assert [event["seq"] for event in events if event["event"] == "snapshot"] == [1, 2, 3]
    assert [snapshot.seq for snapshot in folder.snapshots()] == [1, 2, 3]
    assert all(event["lost"] == {} for event in events if event["event"] == "progress")
    assert events[-1] == {"event": "end", "outcome": "done", "reason": "", "snapshots": 3}


@pytest.mark.ebpf
@pytest.mark.parametrize("options", [{}, {"source": "perf"}])
def test_sigterm_takes_the_last_snapshot(start: Any, target: Any, folder: RunFolder, options: dict[str, str]) -> None:
    child = start(pid=target.pid, duration_s=60.0, options=options)
    output_of(child).readline()
    assert folder.is_being_written

    child.send_signal(signal.SIGTERM)

    assert events_of(child)[-1] == {"event": "end", "outcome": "stopped", "reason": "", "snapshots": 1}
    assert len(folder.snapshots()) == 1


@pytest.mark.ebpf
@pytest.mark.parametrize("options", [{}, {"source": "perf"}])
def test_sigusr1_takes_none(start: Any, target: Any, folder: RunFolder, options: dict[str, str]) -> None:
    child = start(pid=target.pid, duration_s=60.0, options=options)
    output_of(child).readline()

    child.send_signal(signal.SIGUSR1)

    assert events_of(child)[-1] == {"event": "end", "outcome": "cancelled", "reason": "", "snapshots": 0}
    assert folder.snapshots() == []


@pytest.mark.ebpf
def test_a_child_whose_reader_is_gone_still_keeps_its_last_snapshot(start: Any, target: Any, folder: RunFolder) -> None:
    child = start(pid=target.pid, duration_s=60.0)
    output_of(child).readline()

    output_of(child).close()
    child.send_signal(signal.SIGTERM)

    assert child.wait(10) == 0
    assert len(folder.snapshots()) == 1


@pytest.mark.ebpf
def test_a_child_that_does_not_hear_is_killed_and_said_to_be(target: Any, folder: RunFolder) -> None:
    tracing = TracingProcess(RunSpec("r-abc", "brk", target.pid, duration_s=60.0), folder)
    counts = Counts()
    while counts.phase != "recording":
        tracing.take_events(counts, lambda: None, for_s=0.1)
    os.kill(tracing.pid, signal.SIGSTOP)

    tracing.stop("")
    tracing.kill()

    finish = tracing.finish()
    assert finish.outcome == "failed"
    assert finish.reason == "The recording process did not stop when asked, and was killed."


@pytest.mark.ebpf
def test_a_child_that_was_killed_by_others_is_said_to_be(target: Any, folder: RunFolder) -> None:
    tracing = TracingProcess(RunSpec("r-abc", "brk", target.pid, duration_s=60.0), folder)
    os.kill(tracing.pid, signal.SIGKILL)
    while tracing.is_running:
        tracing.take_events(Counts(), lambda: None, for_s=0.1)

    finish = tracing.finish()

    assert (finish.outcome, finish.reason) == ("failed", "The recording process ended by signal SIGKILL.")


@pytest.fixture
def target() -> Iterator[subprocess.Popen[bytes]]:
    """A process that stands still."""
    process = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
    yield process
    process.kill()
    process.wait()
    assert process.stdin is not None
    process.stdin.close()
