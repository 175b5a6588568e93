"""Unwindings done before: a stack with the same return addresses at the same place is not unwound again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tracer.process.unwinder import INSTRUCTION_POINTER, STACK_POINTER, Read, Unwinder, Unwound

_MAX_PLACES = 4096
_VARIANTS = 32  # of one place: its callers differ


@dataclass(frozen=True, slots=True)
class _Known:
    """The words that led to an unwinding: return addresses, and addresses in the stack, which may be of frames."""

    registers: tuple[tuple[int, int], ...]
    reads: tuple[tuple[int, bytes], ...]
    unwound: Unwound

    def is_of(self, registers: Sequence[int], stack: bytes) -> bool:
        return all(registers[number] == value for number, value in self.registers) and all(
            stack[offset : offset + 8] == word for offset, word in self.reads
        )


class UnwindCache:
    """Answers only what the unwinder would: all that it chose its way by is compared."""

    def __init__(self, unwinder: Unwinder) -> None:
        self._unwinder = unwinder
        self._known: dict[tuple[int, int], list[_Known]] = {}

    def unwind(self, registers: Sequence[int], stack: bytes) -> Unwound:
        place = registers[INSTRUCTION_POINTER], registers[STACK_POINTER]
        variants = self._known.get(place, ())
        for known in variants:
            if known.is_of(registers, stack):
                return known.unwound
        unwound = self._unwinder.unwind(registers, stack)
        if unwound.is_complete:
            self._keep(place, _known(registers, stack, self._unwinder.reads, unwound))
        return unwound

    def clear(self) -> None:
        """After a change of what is mapped where."""
        self._known.clear()

    def _keep(self, place: tuple[int, int], known: _Known) -> None:
        if len(self._known) >= _MAX_PLACES:
            self._known.clear()
        variants = self._known.setdefault(place, [])
        variants.insert(0, known)
        del variants[_VARIANTS:]


def _known(registers: Sequence[int], stack: bytes, reads: Sequence[Read], unwound: Unwound) -> _Known:
    bottom = registers[STACK_POINTER]
    in_stack = range(bottom, bottom + len(stack))
    # A return address of 0 is the root.
    returns = {0, *unwound.addresses, *(address + 1 for address in unwound.addresses)}
    return _Known(
        tuple((number, value) for number, value in enumerate(registers) if value in in_stack),
        tuple((at, word.to_bytes(8, "little")) for at, word in reads if word in in_stack or word in returns),
        unwound,
    )
