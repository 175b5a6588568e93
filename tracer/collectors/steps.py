"""Steps out of functions that keep no frame pointer: where a walk in the kernel finds the return address.

They are learned from unwindings. In code without frame pointers the stack pointer is at the same distance from the
return address each time that an instruction is reached; where it isn't, the walk is found wrong again.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tracer.process.unwinder import INSTRUCTION_POINTER, STACK_POINTER, Read, Unwound

_FRAME_POINTER = 6  # DWARF number of x86_64
_IN_REGISTER = -1
_STEP = struct.Struct("=2i")


@dataclass(frozen=True, slots=True)
class Step:
    """Offsets from the stack pointer; the fields of page_faults.c."""

    return_address: int
    frame_pointer: int

    def pack(self) -> bytes:
        return _STEP.pack(self.return_address, self.frame_pointer)


@dataclass(slots=True)
class _Walk:
    """One stack, walked as the kernel does, with offsets from its bottom."""

    registers: Sequence[int]
    words: Mapping[int, int]  # that the unwinding read, by offset
    places: list[int]  # of the return addresses
    frame_pointer: int = field(init=False)

    def __post_init__(self) -> None:
        self.frame_pointer = self._offset(self.registers[_FRAME_POINTER])

    def new_steps(self, known: Mapping[int, Step]) -> Iterator[tuple[int, Step]]:
        """Steps that are missing or lead elsewhere by now, by the address from which they lead."""
        address, bottom = self.registers[INSTRUCTION_POINTER], 0
        for number, place in enumerate(self.places):
            step = known.get(address)
            if step or self.frame_pointer + 8 != place:
                found = self._step(step, number, bottom)
                if found != step:
                    yield address, found
                step = found
            self._go(step, bottom)
            address, bottom = self.words[place], place + 8

    def _step(self, known: Step | None, number: int, bottom: int) -> Step:
        """A function that saves the register keeps what a caller above has put there: not each time a frame pointer."""
        saved = self._saved_frame_pointer(number, bottom)
        if known and known.return_address == self.places[number] - bottom and saved == _IN_REGISTER:
            return known
        return Step(self.places[number] - bottom, saved)

    def _go(self, step: Step | None, bottom: int) -> None:
        if step is None:
            self.frame_pointer = self._offset(self.words.get(self.frame_pointer, 0))
        elif step.frame_pointer != _IN_REGISTER:
            self.frame_pointer = self._offset(self.words.get(bottom + step.frame_pointer, 0))

    def _saved_frame_pointer(self, number: int, bottom: int) -> int:
        """The word of this frame that points to where a caller's frame pointer would: below a return address."""
        wanted = {place - 8 for place in self.places[number + 1 :]}
        saved = [at for at, word in self.words.items() if bottom <= at < self.places[number]]
        found = [at - bottom for at in saved if self._offset(self.words[at]) in wanted]
        return min(found, key=lambda at: self.words[bottom + at], default=_IN_REGISTER)

    def _offset(self, address: int) -> int:
        return address - self.registers[STACK_POINTER]


def missing_steps(
    registers: Sequence[int], unwound: Unwound, reads: Sequence[Read], known: Mapping[int, Step]
) -> dict[int, Step]:
    """What a walk needs to know beside `known` to find this stack."""
    words = dict(reads)
    walk = _Walk(registers, words, _places(unwound, words))
    return dict(walk.new_steps(known))


def _places(unwound: Unwound, words: Mapping[int, int]) -> list[int]:
    """Offsets of the return addresses, up to the first that was not read from the stack."""
    places: list[int] = []
    offsets = iter(sorted(words))
    for address in unwound.addresses[1:]:
        place = next((at for at in offsets if words[at] in (address, address + 1)), None)
        if place is None:
            break
        places.append(place)
    return places
