"""Allocations and frees, joined by address, to what each stack allocated and has not given back."""

from __future__ import annotations

from collections.abc import Iterator

from tracer.profile.errors import LimitExceeded
from tracer.profile.model import Limits, Stack, ValueType

OUTSTANDING_AND_ALLOCATED = (
    ValueType("outstanding_bytes", "bytes", "level", "Bytes allocated while it logged and not freed by its end"),
    ValueType("outstanding_objects", "objects", "level", "Objects allocated while it logged and not freed by its end"),
    ValueType("allocated_bytes", "bytes", "flow", "Bytes allocated while it logged, freed since or not"),
    ValueType("allocated_objects", "objects", "flow", "Objects allocated while it logged, freed since or not"),
)


class Blocks:
    """The blocks that are live, and values in the order of OUTSTANDING_AND_ALLOCATED by stack."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._values_by_stack: dict[Stack, list[int]] = {}
        self._live: dict[int, tuple[list[int], int]] = {}  # values of its stack, and bytes, by address
        self.unknown_frees = 0
        self.missed_frees = 0  # of blocks whose address was given out once more

    def allocate(self, stack: Stack, address: int, size: int, line: int) -> None:
        self.missed_frees += self._give_back(address)
        values = self._values_by_stack.setdefault(stack, [0, 0, 0, 0])
        values[:] = [values[0] + size, values[1] + 1, values[2] + size, values[3] + 1]
        self._live[address] = values, size
        if len(self._live) > (limit := self._limits.tree_nodes):
            raise LimitExceeded("number of live blocks", limit=limit, value=len(self._live), line=line)

    def free(self, address: int) -> None:
        """Nothing is at address 0."""
        self.unknown_frees += not self._give_back(address) and address != 0

    def rows(self) -> Iterator[tuple[Stack, list[int]]]:
        yield from self._values_by_stack.items()

    def capture(self) -> dict[str, object]:
        """What a log tells of its own gaps."""
        found: dict[str, object] = {"unknown_frees": self.unknown_frees} if self.unknown_frees else {}
        if self.missed_frees:
            found["notes"] = [
                f"Blocks at addresses given out again, their frees not being logged: {self.missed_frees:,}."
            ]
        return found

    def _give_back(self, address: int) -> bool:
        """Whether a block was there."""
        known = self._live.pop(address, None)
        if known is not None:
            values, size = known
            values[:2] = [values[0] - size, values[1] - 1]
        return known is not None
