"""Parts of perf's recording added up, their frames named: values since the recording began."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, cast

from tracer.collectors.naming import C_LIBRARY
from tracer.perf.words import ADDRESS, PERHAPS_KNOWN_ADDRESS
from tracer.process.address_space import AddressSpace
from tracer.profile.model import Profile, Stack, ValueType
from tracer.symbols.demangle import demangled

# perf takes the first of several names of a function, which in the C library is the one for its own use, and leaves
# the version at it.
_ALIAS = re.compile(r"^__GI_(?=\w)|(?<=\w)@{1,2}[A-Z][A-Za-z]*_[\w.]+$")
_UNRESOLVED = re.compile(r"\[unknown\]|.+\+0x[0-9a-f]+")


class PerfTotals:
    def __init__(self, value_types: tuple[ValueType, ...], space: AddressSpace, state: Mapping[str, Any]) -> None:
        self._sums = Profile(value_types)
        self._space = space
        self._name_by_text: dict[str, str] = {}
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
        for stack, values in part.rows():
            self._sums.add(self._named(stack), values)

    def profile(self) -> Profile:
        """A copy: the sums grow on."""
        copy = Profile(self._sums.value_types)
        for stack, values in self._sums.rows():
            copy.add(stack, values)
        return copy

    def _named(self, stack: Stack) -> list[str]:
        for text in stack:
            if text not in self._name_by_text:
                self._name_by_text[text] = self._name(text)
        names = [self._name_by_text[text] for text in stack]
        for place, text in enumerate(stack):
            if text.startswith(PERHAPS_KNOWN_ADDRESS) and place and names[place] == names[place - 1]:
                del names[place]
                break  # a stack has one at most
        return names

    def _name(self, text: str) -> str:
        if text.startswith((ADDRESS, PERHAPS_KNOWN_ADDRESS)):
            return self._space.name(int(text.partition("0x")[2], 16) - 1).text
        return demangled(_ALIAS.sub("", text))


def frame_counts(stacks: Iterable[Stack]) -> dict[str, int]:
    """All frames, and those without a name, over distinct stacks; inner names of the C library are nobody's loss."""
    frames = unresolved = 0
    for stack in stacks:
        frames += len(stack)
        unresolved += sum(_UNRESOLVED.fullmatch(name) is not None and not name.startswith(C_LIBRARY) for name in stack)
    return {"frames": frames, "unresolved_frames": unresolved}
