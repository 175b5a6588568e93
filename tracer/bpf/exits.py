"""Machine code of a function to the instructions by which it returns, those it jumps to for good included."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, field
from typing import Any

_STUB_BYTES = 16  # of an entry of the procedure linkage table
_MOST_PARTS = 8  # functions and cold parts that one function ends in; more means that we misread it


@dataclass(frozen=True, slots=True)
class Step:
    """An instruction: where it goes on, and what it calls directly."""

    ways: tuple[int, ...]
    callee: int = 0
    is_ret: bool = False


@dataclass(frozen=True, slots=True)
class Exits:
    """Addresses of `ret` instructions, and of the functions that are called by a direct call."""

    returns: tuple[int, ...]
    callees: frozenset[int]
    start: int = field(default=0, compare=False)
    steps: Mapping[int, Step] = field(default_factory=dict, compare=False)

    def bypass(self, callees: Set[int]) -> bool:
        """Whether there is a way from the start to a `ret` without a call of one of these functions."""
        seen: set[int] = set()
        pending = [self.start]
        while pending:
            address = pending.pop()
            step = self.steps.get(address)
            if step is None or address in seen or address in callees or step.callee in callees:
                continue
            if step.is_ret:
                return True
            seen.add(address)
            pending.extend(step.ways)
        return False


def exits(
    start: int,
    *,
    span_at: Callable[[int], range | None],
    code_of: Callable[[range], bytes],
    behind_slot: Callable[[int], int | None] = lambda _: None,
) -> Exits | None:
    """All ways back to the caller of the function at `start`; None if one can't be followed.

    `span_at` gives the whole function that holds an address, `code_of` its bytes, `behind_slot` the function of this
    file that a slot of its table of linked functions leads to.
    """
    return _Walk(span_at, code_of, behind_slot).exits(start)


class _Walk:
    def __init__(
        self,
        span_at: Callable[[int], range | None],
        code_of: Callable[[range], bytes],
        behind_slot: Callable[[int], int | None],
    ) -> None:
        self._span_at, self._code_of, self._behind_slot = span_at, code_of, behind_slot
        self._steps: dict[int, Step] = {}
        self._pending: list[int | None] = []  # entered for good; None: in another module

    def exits(self, start: int) -> Exits | None:
        self._pending.append(start)
        parts: set[range] = set()
        while self._pending:
            entered = self._pending.pop()
            span = self._span_at(entered) if entered is not None else None
            if span is None or len(parts) > _MOST_PARTS:
                return None
            if span not in parts:
                parts.add(span)
                self._read(span)
        callees = frozenset(step.callee for step in self._steps.values() if step.callee)
        returns = tuple(sorted(address for address, step in self._steps.items() if step.is_ret))
        return Exits(returns, callees, start, self._steps) if returns else None

    def _read(self, span: range) -> None:
        for instruction in _instructions(self._code_of(span), span.start):
            name, target, slot = str(instruction.mnemonic), _target(instruction), _slot(instruction)
            address, following = int(instruction.address), int(instruction.address + instruction.size)
            if name.endswith("ret"):
                self._steps[address] = Step((), is_ret=True)
            elif name == "call":
                self._steps[address] = Step((following,), callee=self._behind_stub(target) or 0)
            elif slot is not None:
                self._steps[address] = Step(self._entered(span, self._behind_slot(slot)))
            elif name.endswith("jmp"):  # one through a register stays in the function: it is a switch
                self._steps[address] = Step(self._entered(span, target) if target is not None else ())
            elif name.startswith("j"):
                self._steps[address] = Step((following, *self._entered(span, target)))
            else:
                self._steps[address] = Step((following,))

    def _entered(self, span: range, target: int | None) -> tuple[int, ...]:
        """Where a jump goes; another function is read too."""
        if target is not None and target in span:
            return (target,)
        entered = self._behind_stub(target)
        self._pending.append(entered)
        return (entered,) if entered is not None else ()

    def _behind_stub(self, address: int | None) -> int | None:
        """What a jump to `address` reaches, if a stub of the linker stands there: the function that it jumps on to."""
        if address is None:
            return None
        for instruction in _instructions(self._code_of(range(address, address + _STUB_BYTES)), address):
            slot = _slot(instruction)
            if slot is not None:
                return self._behind_slot(slot)
            if not str(instruction.mnemonic).startswith("endbr"):
                break
        return address


def _slot(instruction: Any) -> int | None:
    """The address of the table entry through which a jump goes."""
    if not str(instruction.mnemonic).endswith("jmp"):
        return None
    found = re.search(r"\[rip(?: ([+-]) ([0-9a-fx]+))?\]", str(instruction.op_str))
    if found is None:
        return None
    distance = int(found[2] or "0", 16)
    return int(instruction.address + instruction.size + (-distance if found[1] == "-" else distance))


def _target(instruction: Any) -> int | None:
    text = str(instruction.op_str)
    return int(text, 16) if text.startswith("0x") else None


def _instructions(code: bytes, address: int) -> Any:
    from capstone import CS_ARCH_X86, CS_MODE_64, Cs

    return Cs(CS_ARCH_X86, CS_MODE_64).disasm(code, address)
