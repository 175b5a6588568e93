"""One run of a pulled collector: profiles that a process makes itself, at once and every few seconds until the end."""

from __future__ import annotations

import platform
import posixpath
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from tracer.collectors.errors import CollectorError
from tracer.collectors.pulled_binaries import PulledBinaries, notes_of
from tracer.options.errors import BadOption
from tracer.options.pull import PullOptions
from tracer.process.address_space import AddressSpace
from tracer.process.namespaces import inner_pids
from tracer.process.root import Root
from tracer.process.selection import select
from tracer.process.target import Target, TargetError
from tracer.profile.gaps import gaps_of
from tracer.profile.grade import grade
from tracer.profile.model import Profile
from tracer.protocol import RunSpec, check_run_options
from tracer.pull.allowed import Allowed
from tracer.pull.dumps import Place
from tracer.pull.errors import PullError
from tracer.pull.own_files import environment_of, own_pattern
from tracer.pull.parsing import WITHIN_S
from tracer.pull.sources import Endpoint, Files, Pulled, Source


class PullRecording:
    """Open while entered. `profiles` gives what is new; what could not be read is in `failures`, and told with it."""

    def __init__(self, spec: RunSpec, *, own_root: int, allowed: Allowed) -> None:
        try:
            check_run_options(spec.collector, spec.options)
        except BadOption as error:
            raise CollectorError(str(error)) from None
        if spec.target:
            raise CollectorError(f"a profile is pulled of one process at a time, not of {spec.selector.words}")
        self._spec, self._own_root, self._allowed = spec, own_root, allowed
        self._asked = PullOptions.of(spec.options)
        self._target: Target | None = None
        self._began_at = 0.0  # when the first profile was taken
        self._resources = ExitStack()
        self.failures: list[str] = []

    def __enter__(self) -> PullRecording:
        try:
            self._open()
        except BaseException as error:
            self._resources.close()
            if isinstance(error, TargetError | PullError | OSError):
                raise CollectorError(str(error)) from error
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._resources.close()

    @property
    def words(self) -> str:
        return self._source.words

    def profiles(
        self, is_stopped: Callable[[], bool], *, within_s: float = WITHIN_S
    ) -> Iterator[tuple[float, Profile]]:
        """Seconds since the first one, and the profile with its names."""
        for found in self._source.pulled(is_stopped, within_s=within_s):
            if isinstance(found, PullError):
                self.failures.append(str(found))
                continue
            self._began_at = self._began_at or found.taken_at
            elapsed_s = max(0.0, found.taken_at - self._began_at)
            yield elapsed_s, self._completed(found, elapsed_s)

    def target_has_exited(self) -> bool:
        return self._target is not None and self._target.has_exited()

    def _open(self) -> None:
        space = self._opened_space() if self._spec.pid else None
        self._source = self._opened_source()
        self._binaries = PulledBinaries(space)
        self._resources.callback(self._binaries.close)

    def _opened_space(self) -> AddressSpace:
        spec = self._spec
        select(spec.selector, own_root=self._own_root)  # refuses what must not be recorded
        self._target = Target(spec.pid, start_time=spec.start_time)
        self._resources.callback(self._target.close)
        space = AddressSpace(self._target)
        self._resources.callback(space.close)
        return space

    def _opened_source(self) -> Source:
        collector = self._spec.collector
        if self._asked.url:
            return Endpoint(collector, self._asked.url, self._allowed)
        place = self._allowed_place(self._asked.files) if self._asked.files else self._own_place()
        return Files(collector, place, of_pid=self._inner_pid())

    def _allowed_place(self, files: str) -> Place:
        self._allowed.check_directory(files)
        root = self._root("root") if self._target is not None else self._opened(Path("/"))
        return Place(root, files, self._allowed.has_file)

    def _own_place(self) -> Place:
        """Where the process itself says that it writes to."""
        if self._target is None:
            raise PullError("nobody said which process, or where its profile is: give a pid, an address or files")
        if not self._allowed.has_own_files:
            raise PullError("this host's agent does not read files that a process names: give an address")
        pattern = own_pattern(self._spec.collector, environment_of(self._target.directory))
        is_absolute = posixpath.isabs(pattern)
        directory = self._root("root" if is_absolute else "cwd")
        # What the process names it could have read itself: it can't make us read other users' files.
        return Place(directory, pattern, lambda path: True, owner=_user(self._status()))

    def _root(self, name: str) -> Root:
        assert self._target is not None
        return self._opened(self._target.directory / name)

    def _opened(self, directory: Path) -> Root:
        root = Root(directory)
        self._resources.callback(root.close)
        return root

    def _inner_pid(self) -> int:
        """0 if nobody knows the process."""
        return inner_pids(self._status())[-1] if self._target is not None else 0

    def _status(self) -> str:
        assert self._target is not None
        return (self._target.directory / "status").read_text(errors="replace")

    def _completed(self, found: Pulled, elapsed_s: float) -> Profile:
        profile = found.profile
        if found.is_local:
            profile = self._binaries.named(profile, taken_at=found.taken_at)
        capture = {**profile.capture, **self._facts(found, elapsed_s), **asdict(gaps_of(profile, is_ours=True))}
        if notes := [*notes_of(profile), *self._notes(found)]:
            capture["notes"] = notes
        profile.capture = capture | {"grade": grade(capture, skipped_lines=profile.skipped_lines).grade}
        return profile

    def _facts(self, found: Pulled, elapsed_s: float) -> dict[str, object]:
        target = {"pid": self._target.pid, "command": self._target.command} if self._target is not None else {}
        return {
            "collector": self._spec.collector,
            **target,
            "host": platform.node(),
            "started_at": datetime.fromtimestamp(self._began_at, UTC).isoformat(timespec="milliseconds"),
            "elapsed_s": round(elapsed_s, 3),
            "lost": {},
            "pulled_from": found.came_from,
        }

    def _notes(self, found: Pulled) -> Iterator[str]:
        if not found.is_local:
            yield "It comes from another machine, whose binaries are not here: places without a name stay as they are."
        if self.failures:
            count = len(self.failures)
            yield f"{count} profile{'s' if count > 1 else ''} could not be read before this one: {self.failures[-1]}."


def _user(status: str) -> int:
    """The one that files are made as, of the text of /proc/PID/status."""
    return next(int(line.split()[4]) for line in status.splitlines() if line.startswith("Uid:"))
