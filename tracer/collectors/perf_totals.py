"""Parts of perf's recording added up, their last nameless frames named: values since the recording began."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from tracer.perf.words import ADDRESS, PERHAPS_KNOWN_ADDRESS
from tracer.process.names import FrameNames
from tracer.profile.model import Profile, Stack, ValueType


class PerfTotals:
    def __init__(self, value_types: tuple[ValueType, ...], names: FrameNames, state: Mapping[str, Any]) -> None:
        self._sums = Profile(value_types)
        self._names = names
        self.state = state  # what the parser of the next part must know
        self.samples = self.truncated_stacks = 0
        self._lost_told = self._lost_counted = 0

    @property
    def lost(self) -> int:
        """What the kernel counted at the end is exact; until then there is what perf was told."""
        return self._lost_counted or self._lost_told

    def add(self, part: Profile) -> None:
        told = cast(Mapping[str, Any], part.capture)
        self.samples += int(told["samples"])
        self.truncated_stacks += int(told["truncated_stacks"])
        self._lost_told += int(told["lost"])
        self._lost_counted += int(told["lost_counted"])
        self.state = told["state"]
        self._names.resolve(address for text in part.names if (address := _address(text)) is not None)
        for stack, values in part.rows():
            self._sums.add(self._named(stack), values)

    def profile(self) -> Profile:
        """A copy: the sums grow on."""
        copy = Profile(self._sums.value_types)
        for stack, values in self._sums.rows():
            copy.add(stack, values)
        return copy

    def _named(self, stack: Stack) -> list[str]:
        names: list[str] = []
        for text in stack:
            address = _address(text)
            if address is None:
                names.append(text)
                continue
            callers = [name.text for name in self._names.frames(address)]
            if not (text.startswith(PERHAPS_KNOWN_ADDRESS) and names[-len(callers) :] == callers):
                names += callers
        return names


def _address(text: str) -> int | None:
    """Where the instruction is whose caller's address was read; None of a frame that has its name."""
    if not text.startswith((ADDRESS, PERHAPS_KNOWN_ADDRESS)):
        return None
    return int(text.partition("0x")[2], 16) - 1
