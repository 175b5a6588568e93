"""Machine code of a function to the instructions by which it returns, those it jumps to for good included."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

_MOST_PARTS = 8  # functions and cold parts that one function ends in; more means that we misread it


@dataclass(frozen=True, slots=True)
class Exits:
    """Addresses of `ret` instructions, and of the functions that are called by a direct call."""

    returns: tuple[int, ...]
    callees: frozenset[int]


def exits(start: int, *, span_at: Callable[[int], range | None], code_of: Callable[[range], bytes]) -> Exits | None:
    """All ways back to the caller of the function at `start`; None if one can't be followed.

    `span_at` gives the whole function that holds an address, `code_of` its bytes.
    """
    returns: set[int] = set()
    callees: set[int] = set()
    parts, pending = set[range](), [start]
    while pending:
        span = span_at(pending.pop())
        if span is None or len(parts) > _MOST_PARTS:
            return None
        if span in parts:
            continue
        parts.add(span)
        for instruction in _instructions(code_of(span), span.start):
            name, target = str(instruction.mnemonic), _target(instruction)
            if name.endswith("ret"):
                returns.add(instruction.address)
            elif name == "call" and target is not None:
                callees.add(target)
            elif name.endswith("jmp") and target is None and "rip" in instruction.op_str:
                return None  # through a table of other modules' functions
            elif name.startswith("j") and target is not None and target not in span:
                pending.append(target)
    return Exits(tuple(sorted(returns)), frozenset(callees)) if returns else None


def _target(instruction: Any) -> int | None:
    text = str(instruction.op_str)
    return int(text, 16) if text.startswith("0x") else None


def _instructions(code: bytes, address: int) -> Any:
    from capstone import CS_ARCH_X86, CS_MODE_64, Cs

    return Cs(CS_ARCH_X86, CS_MODE_64).disasm(code, address)
