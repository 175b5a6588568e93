"""Programs with known allocations: built once, started for a test, traced by pid, ended."""

from __future__ import annotations

import gc
import os
import select
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from tracer.collectors import Recording, start
from tracer.collectors.ability import abilities
from tracer.profile.model import Number, Profile
from tracer.protocol import RunSpec
from tracer.selector import Selector

PROGRAMS = Path(__file__).parent.parent / "programs"
BUILT = PROGRAMS / "build"
UPROBE_EVENTS = Path("/sys/kernel/tracing/uprobe_events")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = [item for item in items if Path(__file__).parent in item.path.parents]
    obstacle = next(filter(None, abilities().values()), "") if here else ""
    for item in here:
        item.add_marker(pytest.mark.ebpf)
        if obstacle:
            item.add_marker(pytest.mark.skip(reason=obstacle))


@pytest.fixture(scope="session")
def programs() -> Path:
    """The directory of the built programs."""
    subprocess.run(["make", "-s", "-C", PROGRAMS], check=True)
    return BUILT


# Libraries that probes go into. Two tracers that probe one file at once, ours and another's beside the tests, can
# collide.
OWN_LIBRARIES = (
    "libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1", "libjemalloc.so.2", "libtcmalloc_minimal.so.4",
    "libmimalloc.so.2",
)  # fmt: skip


@pytest.fixture(scope="session")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with copies of the system's libraries that only our programs map."""
    directory = tmp_path_factory.mktemp("libraries")
    for name in OWN_LIBRARIES:
        found = subprocess.run(["gcc", f"-print-file-name={name}"], capture_output=True, text=True, check=True).stdout
        shutil.copy(found.strip(), directory / name)
    return directory


@pytest.fixture(autouse=True)
def nothing_stays_attached(libraries: Path) -> Iterator[None]:
    """After each test: no BPF program, link or probe of this process, and no probe of ours in tracefs."""
    yield
    if _attached(libraries):
        gc.collect()  # an object that nobody has any more may hold it
    assert _attached(libraries) == []


def _attached(libraries: Path) -> list[str]:
    events = UPROBE_EVENTS.read_text().splitlines() if UPROBE_EVENTS.exists() else []
    return [
        *(name for name in _descriptors() if "bpf" in name or "perf_event" in name),
        *(line for line in events if str(libraries) in line or str(BUILT) in line),
    ]


def _descriptors() -> Iterator[str]:
    for descriptor in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):  # the one that reads this directory
            yield str(descriptor.readlink())


class Workload:
    """A started program: it is ready, works when told to, and stands still afterwards."""

    def __init__(self, command: Sequence[Path | str], environment: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1,
            env={**os.environ, **environment},
        )  # fmt: skip
        self.pid = self._process.pid
        self.await_ready()

    def await_ready(self) -> None:
        self._expect("ready")

    def work(self) -> None:
        """Do the known work; on return all of it is done."""
        self.begin()
        self.await_done()

    def begin(self) -> None:
        self._go_on()

    def await_done(self) -> None:
        self._expect("done")

    def is_done(self) -> bool:
        """Whether it has said so; `await_done` then returns at once."""
        return bool(select.select([self._process.stdout], [], [], 0)[0])

    def exit(self) -> None:
        self._go_on()
        assert self._process.wait(30) == 0

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()

    def _go_on(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write("\n")

    def _expect(self, word: str) -> None:
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == f"{word} {self.pid}\n"


Launch = Callable[..., Workload]


@pytest.fixture(scope="module")
def launch(programs: Path, libraries: Path) -> Iterator[Launch]:
    """Start a built program, one at a path, or a command that becomes one; all end with the module."""
    started: list[Workload] = []

    def launched(
        name: str | Path, *prefix: str | Path, arguments: Sequence[str | Path] = (), **environment: str
    ) -> Workload:
        command = [*prefix, name] if prefix else [programs / name]
        command += arguments
        environment["LD_LIBRARY_PATH"] = f"{environment.get('LD_LIBRARY_PATH', '')}:{libraries}".lstrip(":")
        started.append(Workload(command, environment))
        return started[-1]

    yield launched
    for workload in started:
        workload.end()


@dataclass(frozen=True)
class Recorded:
    """One snapshot, read by function."""

    profile: Profile

    def values(self, function: str) -> tuple[Number, ...]:
        """Sums over the stacks that pass through a function, in the order of the value types; without age bands."""
        return tuple(sum for known, sum in self._sums(function).items() if "." not in known)

    def ages(self, function: str) -> dict[str, Number]:
        """Outstanding bytes of a function by age band, youngest first; bands without any are left out."""
        prefix = "outstanding_bytes."
        sums = self._sums(function).items()
        return {known.removeprefix(prefix): sum for known, sum in sums if known.startswith(prefix) and sum}

    def _sums(self, function: str) -> dict[str, Number]:
        sums: dict[str, Number] = {known.name: 0 for known in self.profile.value_types}
        for stack, values in self.profile.rows():
            if function in stack:
                sums = {name: sums[name] + new for name, new in zip(sums, values, strict=True)}
        return sums

    def tails(self, function: str) -> set[tuple[str, ...]]:
        """What the function called, as it stands in the stacks."""
        return {stack[stack.index(function) + 1 :] for stack, _ in self.profile.rows() if function in stack}

    def callers(self, leaf: str) -> set[str]:
        return {stack[-2] for stack, _ in self.profile.rows() if stack[-1] == leaf}

    @property
    def capture(self) -> Mapping[str, object]:
        return self.profile.capture


Record = Callable[..., Recorded]


def recording(workload: Workload | Sequence[Workload], collector: str, **options: int | str) -> Recording:
    if isinstance(workload, Workload):
        return start(RunSpec("r-test", collector, workload.pid, options=options))
    target = Selector.of_pids((known.pid, 0) for known in workload)
    return start(RunSpec("r-test", collector, target=str(target), options=options))


@pytest.fixture(scope="session")
def record() -> Record:
    """Record the known work of a workload from before it begins until it is done."""

    def recorded(workload: Workload, collector: str, **options: int | str) -> Recorded:
        with recording(workload, collector, **options) as running:
            workload.work()
            return Recorded(running.snapshot())

    return recorded


@pytest.fixture(scope="session")
def recording_of() -> Callable[..., Recording]:
    return recording


@pytest.fixture(scope="session")
def by_function() -> Callable[[Profile], Recorded]:
    return Recorded
