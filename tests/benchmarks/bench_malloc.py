"""Price of each mode of the malloc collector, as a ratio to memleak-bpfcc in the same run, and what attaching takes.

The price is processor time of the target. A pair is a malloc and its free; the mix does half a microsecond of work for
each pair, from 6 to 22 frames deep.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from tracer.bpf.program import HERE, kernel_version
from tracer.collectors import Recording, start
from tracer.collectors.ability import abilities
from tracer.protocol import RunSpec

PROGRAMS = Path(__file__).parent.parent / "programs"
MODES: dict[str, dict[str, int | str]] = {
    "exact": {"mode": "exact"},
    "sampled": {"mode": "sampled"},
    "calls": {"mode": "calls"},
}
REPEATS = 3  # the least of them: other work on the machine, which only adds, is not our business
OPERATIONS = 60_000
LIVE_BLOCKS = 300_000
MEMLEAK = shutil.which("memleak-bpfcc")
MEMLEAK_EVERY_S = 4  # between its reports; the work is done between two of them


@dataclass(frozen=True)
class Target:
    """The bench program on a C library of its own: probes of other tracers in the system's do not reach it."""

    work: str
    count: int
    libc: Path

    @contextmanager
    def started(self) -> Iterator[subprocess.Popen[str]]:
        command = [PROGRAMS / "build" / "speed", self.work, str(self.count)]
        environment = {**os.environ, "LD_LIBRARY_PATH": str(self.libc.parent)}
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, env=environment
        ) as program:
            assert program.stdout is not None
            program.stdout.readline()
            yield program
            program.kill()


def go_on(program: subprocess.Popen[str]) -> float:
    """Let it do its work; the nanoseconds of processor time that this took."""
    assert program.stdin is not None and program.stdout is not None
    program.stdin.write("\n")
    before, after, _ = (program.stdout.readline() for _ in range(3))
    return int(after) - int(before)


Attach = Callable[[int, Path], AbstractContextManager[object]]


def untraced(_pid: int, _libc: Path) -> AbstractContextManager[object]:
    return nullcontext()


def ours(**options: int | str) -> Attach:
    return lambda pid, _libc: recording(pid, **options)


def recording(pid: int, **options: int | str) -> Recording:
    return start(RunSpec("", "malloc", pid, options=options))


@contextmanager
def memleak(pid: int, libc: Path) -> Iterator[None]:
    command = [str(MEMLEAK), "-p", str(pid), "-O", str(libc), str(MEMLEAK_EVERY_S)]
    environment = {**os.environ, "BCC_KERNEL_SOURCE": str(headers_in(libc.parent)), "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
    ) as tool:
        assert tool.stdout is not None
        while (line := tool.stdout.readline()) and "Top" not in line:
            pass  # its first report comes after all probes are placed
        if not line:
            raise RuntimeError("memleak-bpfcc ended before it had placed its probes")
        try:
            yield
        finally:
            tool.terminate()


def headers_in(directory: Path) -> Path:
    """Our stub headers, so that memleak-bpfcc runs where the kernel's own are not installed."""
    headers = directory / "headers"
    if not headers.exists():
        shutil.copytree(HERE / "headers", headers)
        major, minor, patch = kernel_version()
        version = (major << 16) + (minor << 8) + min(patch, 255)
        header = headers / "include" / "linux" / "version.h"
        header.write_text(f"#define MEMFLAME_KERNEL_VERSION {version}\n{header.read_text()}")
    return headers


def price_ns(target: Target, attach: Attach) -> float:
    """Of one operation."""
    spent_ns = []
    for _ in range(REPEATS):
        with target.started() as program, attach(program.pid, target.libc):
            spent_ns.append(go_on(program))
    return min(spent_ns) / target.count


def compare_prices(libc: Path) -> None:
    for work in ("pair", "mix"):
        target = Target(work, OPERATIONS, libc)
        print(f"{work:5} {'untraced':28} {price_ns(target, untraced):8,.0f} ns")
        peer_ns = price_ns(target, memleak) if MEMLEAK else 0.0
        if MEMLEAK:
            print(f"{work:5} {'memleak-bpfcc':28} {peer_ns:8,.0f} ns")
        for mode in MODES:
            own_ns = price_ns(target, ours(mode=mode))
            ratio = f"  memleak-bpfcc / ours {peer_ns / own_ns:5.1f}" if MEMLEAK else ""
            print(f"{work:5} {mode:28} {own_ns:8,.0f} ns{ratio}")


def time_a_recording(libc: Path) -> None:
    target = Target("live", LIVE_BLOCKS, libc)
    with target.started() as program:
        running = recording(program.pid)
        seconds = {"attach": elapsed_s(running.__enter__)}
        go_on(program)
        seconds[f"snapshot of {LIVE_BLOCKS:,} live blocks"] = elapsed_s(running.snapshot)
        seconds["detach"] = elapsed_s(running.close)
    for what, took_s in seconds.items():
        print(f"{what:34} {took_s:8.2f} s")


def elapsed_s(step: Callable[[], object]) -> float:
    began = time.monotonic()
    step()
    return time.monotonic() - began


def machine() -> str:
    """The price of a trap differs more between machines than between tools."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    model = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown")
    is_virtual = any("hypervisor" in line.split() for line in lines if line.startswith("flags"))
    kind = "virtual machine" if is_virtual else "no hypervisor"
    return f"{kind}, {os.cpu_count()} processors ({model}), Linux {platform.release()}"


def libc_of_programs() -> Path:
    """Path of the C library that the bench program is linked with."""
    listed = subprocess.run(["ldd", PROGRAMS / "build" / "speed"], capture_output=True, text=True, check=True).stdout
    return Path(next(line.split()[2] for line in listed.splitlines() if line.split()[0].startswith("libc.so")))


def main() -> None:
    if obstacle := abilities()["malloc"]:
        return print(f"not run: {obstacle}")
    subprocess.run(["make", "-s", "-C", PROGRAMS], check=True)
    print(machine())
    if not MEMLEAK:
        print("memleak-bpfcc is missing, so there are no ratios: install the package bpfcc-tools")
    with TemporaryDirectory(prefix="memflame-bench-") as directory:
        libc = Path(shutil.copy(libc_of_programs(), directory))
        compare_prices(libc)
        time_a_recording(libc)


if __name__ == "__main__":
    main()
