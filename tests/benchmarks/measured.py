"""A command to the processor time and the memory that it took, on one core; and the lines that compare two of them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]


class Cost(NamedTuple):
    """Time includes the start of the process and its children: other work on the machine changes it least."""

    cpu_s: float
    peak_mb: float
    output: str


def command(words: Sequence[str | Path], environment: Mapping[str, str] | None = None) -> Cost:
    """RuntimeError with what it said if it fails."""
    started = subprocess.Popen(
        list(map(str, words)), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), **(environment or {})}, preexec_fn=_on_one_core,
    )  # fmt: skip
    assert started.stdout is not None and started.stderr is not None
    output, trouble = started.stdout.read(), started.stderr.read()
    _, status, used = os.wait4(started.pid, 0)
    started.returncode = os.waitstatus_to_exitcode(status)
    if started.returncode:
        raise RuntimeError(f"{words[0]} ended with {started.returncode}: {trouble[-500:]}")
    return Cost(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, output)


def job(file: str, *words: str | Path) -> Cost:
    """One part of a benchmark, in a process of its own."""
    return command([sys.executable, file, *words])


def run_job(jobs: Mapping[str, Callable[..., None]], main: Callable[[], None]) -> None:
    """What `job` asked for, or the benchmark itself."""
    if len(sys.argv) > 1:
        jobs[sys.argv[1]](*sys.argv[2:])
    else:
        main()


def compare(what: str, ours: Cost, peer: Cost, name: str, size: int) -> None:
    speeds = f"{size / 1e6 / ours.cpu_s:6.0f} MB/s   {name} {size / 1e6 / peer.cpu_s:6.0f} MB/s"
    memory = f"{ours.peak_mb:.0f} MB against {peer.peak_mb:.0f} MB"
    print(f"{what:32} {speeds}   ratio {peer.cpu_s / ours.cpu_s:5.2f}   memory {memory}", flush=True)


def _on_one_core() -> None:
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
