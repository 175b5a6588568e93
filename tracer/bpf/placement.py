"""Machine code of a function to the instructions where a probe is right and cheap."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any, Literal

Kind = Literal["emulated", "single-step"]

SCANNED_BYTES = 64  # of a function's start; allocators reach a branch or a push well before

# The kernel emulates these in the trap. Any other instruction is executed out of line and trapped a second time, which
# in a virtual machine is 13 times as dear: 10 µs instead of 0.75 µs a hit.
_EMULATED_BRANCHES = ("j", "call")

# Argument registers in calling order; a function's probe must find those that it reads unchanged.
ARGUMENT_REGISTERS = ("rdi", "rsi", "rdx", "rcx", "r8", "r9")
READABLE_REGISTERS = ARGUMENT_REGISTERS[:3]  # by a probe that is not told to look further

_PARTS = {
    "rdi": ("rdi", "edi", "di", "dil"),
    "rsi": ("rsi", "esi", "si", "sil"),
    "rdx": ("rdx", "edx", "dx", "dl", "dh"),
    "rcx": ("rcx", "ecx", "cx", "cl", "ch"),
    "r8": ("r8", "r8d", "r8w", "r8b"),
    "r9": ("r9", "r9d", "r9w", "r9b"),
    "rsp": ("rsp", "esp", "sp", "spl"),
}


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a probe goes, in bytes from the function's first instruction."""

    offset: int
    kind: Kind
    moved: tuple[tuple[int, int], ...] = ()  # arguments that are in another one's register by then: position, register

    def register(self, position: int) -> int:
        """The position of the register in which an argument is found here."""
        return dict(self.moved).get(position, position)


def placements(code: bytes, *, arguments: int, is_free: bool = False) -> list[Placement]:
    """Instructions fit for a probe, best first; never empty.

    Up to the one that changes the stack pointer, the stack pointer is that of the entry: the return address can be read
    and replaced. One that overwrites the last register with one of the first `arguments` arguments ends the scan,
    and so does a branch, as the other side would be missed; `is_free` says that the first branch only skips a NULL.
    """
    whereabouts = _Whereabouts(arguments)
    emulated: list[Placement] = []
    stepped: list[Placement] = []
    for instruction in _instructions(code):
        is_emulated = _is_emulated(instruction)
        kind: Kind = "emulated" if is_emulated else "single-step"
        (emulated if is_emulated else stepped).append(Placement(instruction.address, kind, whereabouts.moved()))
        if _is_branch(instruction):
            if not (is_free and _is_conditional(instruction)):
                break
            is_free = False
        elif not whereabouts.survive(instruction):
            break
    return emulated + stepped or [Placement(0, "single-step")]


class _Whereabouts:
    """In which argument registers the arguments are, as instructions move them."""

    def __init__(self, arguments: int) -> None:
        self._registers = [{register} for register in ARGUMENT_REGISTERS[:arguments]]

    def moved(self) -> tuple[tuple[int, int], ...]:
        homes = zip(count(1), ARGUMENT_REGISTERS, self._registers, strict=False)
        return tuple(
            (position, min(ARGUMENT_REGISTERS.index(register) for register in registers) + 1)
            for position, home, registers in homes
            if home not in registers
        )

    def survive(self, instruction: Any) -> bool:
        """Take in an instruction; False if an argument is gone behind it, or the stack pointer is another."""
        written = _written(instruction)
        target, source = _copied(instruction)
        copied = [source in registers for registers in self._registers]
        lost = {name for name, parts in _PARTS.items() if written.intersection(parts)}
        for registers, is_copied in zip(self._registers, copied, strict=True):
            registers -= lost
            if is_copied and target in READABLE_REGISTERS:
                registers.add(target)
        return "rsp" not in lost and all(self._registers)


def _instructions(code: bytes) -> Iterator[Any]:
    from capstone import CS_ARCH_X86, CS_MODE_64, Cs

    disassembler = Cs(CS_ARCH_X86, CS_MODE_64)
    disassembler.detail = True
    return iter(disassembler.disasm(code[:SCANNED_BYTES], 0))


def _is_emulated(instruction: Any) -> bool:
    name, operands = str(instruction.mnemonic), str(instruction.op_str)
    if name == "push":
        return operands in _PUSHED
    if name == "nop":
        return not operands
    return name.startswith(_EMULATED_BRANCHES) and operands.startswith("0x")


_PUSHED = frozenset(
    ["rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp", *(f"r{number}" for number in range(8, 16))]
)


def _copied(instruction: Any) -> tuple[str, str]:
    """Target and source of a whole register's copy, else empty."""
    operands = str(instruction.op_str).split(", ")
    is_copy = instruction.mnemonic == "mov" and len(operands) == 2
    return (operands[0], operands[1]) if is_copy else ("", "")


def _is_branch(instruction: Any) -> bool:
    from capstone import CS_GRP_CALL, CS_GRP_INT, CS_GRP_JUMP, CS_GRP_RET

    return bool({CS_GRP_CALL, CS_GRP_INT, CS_GRP_JUMP, CS_GRP_RET} & set(instruction.groups))


def _is_conditional(instruction: Any) -> bool:
    name = str(instruction.mnemonic)
    return name.startswith("j") and name != "jmp"


def _written(instruction: Any) -> set[str]:
    return {instruction.reg_name(register) for register in instruction.regs_access()[1]}
