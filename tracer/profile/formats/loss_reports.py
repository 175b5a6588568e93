"""Leak reports, read stack by stack, to moments: in each, of every process the last report until then."""

from __future__ import annotations

from collections.abc import Sequence

from tracer.profile.errors import EmptyProfile
from tracer.profile.formats.reading import Moment
from tracer.profile.formats.stack_sums import StackSums
from tracer.profile.model import Limits, Profile, ValueType


class LossReports:
    """A moment ends when a process reports again: what it reported before is an earlier state of the same memory."""

    def __init__(self, value_types: Sequence[ValueType], limits: Limits) -> None:
        self._value_types, self._limits = value_types, limits
        self._sums_by_process: dict[str, StackSums] = {}
        self._reported: set[str] = set()  # processes, since the last moment
        self._moments = 0
        self._open: tuple[str, int, Sequence[int]] | None = None  # process, line, values
        self._frames: list[str] = []  # leaf first
        self.skipped = Profile(())

    @property
    def is_open(self) -> bool:
        return self._open is not None

    def begin(self, process: str) -> Moment | None:
        """A report; answers the moment that it ends."""
        self.close()
        ended = self._moment() if process in self._reported else None
        if ended is not None:
            self._reported.clear()
        self._sums_by_process[process] = StackSums(self._value_types, self._limits)
        return ended

    def open(self, process: str, line: int, values: Sequence[int]) -> None:
        self.close()
        self._open = process, line, values
        self._reported.add(process)

    def add_frame(self, name: str) -> None:
        self._frames.append(name)

    def close(self) -> None:
        """The stack that is open is whole."""
        if self._open is None:
            return
        process, line, values = self._open
        sums = self._sums_by_process.setdefault(process, StackSums(self._value_types, self._limits))
        sums.add([*reversed(self._frames)] or ["[stack not recorded]"], values, line)
        self._open, self._frames = None, []

    def finish(self, empty: str) -> Moment:
        self.close()
        if not self._sums_by_process:
            raise EmptyProfile(empty)
        return self._moment()

    def _moment(self) -> Moment:
        together = StackSums(self._value_types, self._limits)
        for sums in self._sums_by_process.values():
            for stack, values in sums.profile.rows():
                together.add(stack, values)
        profile = together.profile
        profile.skipped, profile.skipped_lines = self.skipped.skipped, self.skipped.skipped_lines
        self.skipped = Profile(())
        self._moments += 1
        return Moment(profile, elapsed_s=None, label=f"leak report {self._moments:,}")
