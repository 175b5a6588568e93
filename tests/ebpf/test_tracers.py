"""Tracers that are killed, and others beside them: the target runs on, and each one's numbers are exact."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

from tracer.bpf import syscalls

MEMFLAME = Path(sys.executable).with_name("memflame")
LEAK = (23 * 4096, 23, 23 * 4096, 23)


def attached(pid):
    """Numbers of the BPF links and programs that a process holds."""
    held: list[str] = []
    for path in Path(f"/proc/{pid}/fdinfo").iterdir():
        with suppress(FileNotFoundError):  # closed meanwhile: what a trap costs is measured beside the recording
            held.append(path.read_text())
    return [{int(number) for text in held for number in re.findall(rf"^{name}:\s+(\d+)", text, re.MULTILINE)}
            for name in ("link_id", "prog_id")]  # fmt: skip


def test_a_tracer_that_is_killed_leaves_no_probe_and_a_target_that_runs_on(launch, record, tmp_path):
    workload = launch("leaky")
    command = [MEMFLAME, "record", "--pid", str(workload.pid), "-o", tmp_path / "out.folded"]
    tracer = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert tracer.stderr is not None
    assert any("attached" in line for line in tracer.stderr)
    links, programs = attached(tracer.pid)
    assert links & set(syscalls.link_ids())

    tracer.kill()
    tracer.communicate()

    deadline = time.monotonic() + 10
    while links & set(syscalls.link_ids()) or programs & set(syscalls.loaded_program_ids()):
        assert time.monotonic() < deadline
        workload.is_done()
    assert record(workload, "malloc").values("leak_cache") == LEAK


def test_two_tracers_of_one_process_are_both_exact(launch, recording_of, by_function):
    workload = launch("leaky")

    with recording_of(workload, "malloc") as first, recording_of(workload, "malloc") as second:
        workload.work()
        recorded = [by_function(recording.snapshot()) for recording in (first, second)]

    assert [one.values("leak_cache") for one in recorded] == [LEAK, LEAK]
    assert [one.values("serve_requests") for one in recorded] == [(0, 0, 1009 * 32, 1009)] * 2


def test_a_tracer_that_comes_when_another_one_leaves_misses_nothing(launch, recording_of, by_function):
    workload = launch("leaky")

    with recording_of(workload, "malloc") as second:
        with recording_of(workload, "malloc"):
            pass
        workload.work()
        recorded = by_function(second.snapshot())

    assert recorded.values("leak_cache") == LEAK
