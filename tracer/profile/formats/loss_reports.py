"""Leak reports, read stack by stack, to a profile: of each process the last report counts, since each is a level."""

from __future__ import annotations

from collections.abc import Sequence

from tracer.profile.formats.stack_sums import StackSums
from tracer.profile.model import Limits, Profile, ValueType


class LossReports:
    def __init__(self, value_types: Sequence[ValueType], limits: Limits) -> None:
        self._value_types, self._limits = value_types, limits
        self._sums_by_process: dict[str, StackSums] = {}
        self._replaced = 0  # reports that a later one of the same process took the place of
        self._open: tuple[str, int, Sequence[int]] | None = None  # process, line, values
        self._frames: list[str] = []  # leaf first
        self.skipped = Profile(())

    @property
    def is_open(self) -> bool:
        return self._open is not None

    def begin(self, process: str) -> None:
        """A report; what this process reported before is an earlier state of the same memory."""
        self.close()
        earlier = self._sums_by_process.get(process)
        self._replaced += earlier is not None and not earlier.is_empty
        self._sums_by_process[process] = StackSums(self._value_types, self._limits)

    def open(self, process: str, line: int, values: Sequence[int]) -> None:
        self.close()
        self._open = process, line, values

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

    def finish(self, empty: str) -> Profile:
        self.close()
        together = StackSums(self._value_types, self._limits)
        for sums in self._sums_by_process.values():
            for stack, values in sums.profile.rows():
                together.add(stack, values)
        profile = together.finish(empty)
        profile.skipped, profile.skipped_lines = self.skipped.skipped, self.skipped.skipped_lines
        if self._replaced:
            profile.capture = {"notes": [f"Earlier reports of the same processes are left out: {self._replaced:,}."]}
        return profile
