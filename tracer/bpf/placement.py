"""Machine code of a function to the instructions where a probe is right and cheap."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["emulated", "single-step"]

SCANNED_BYTES = 64  # of a function's start; allocators reach a branch or a push well before

# The kernel emulates these in the trap. Any other instruction is executed out of line and trapped a second time, which
# in a virtual machine is 13 times as dear: 10 µs instead of 0.75 µs a hit.
_EMULATED_BRANCHES = ("j", "call")

# Argument registers in calling order; a function's probe must find those that it reads unchanged.
ARGUMENT_REGISTERS = ("rdi", "rsi", "rdx", "rcx")

_PARTS = {
    "rdi": ("rdi", "edi", "di", "dil"),
    "rsi": ("rsi", "esi", "si", "sil"),
    "rdx": ("rdx", "edx", "dx", "dl", "dh"),
    "rcx": ("rcx", "ecx", "cx", "cl", "ch"),
    "rsp": ("rsp", "esp", "sp", "spl"),
}


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a probe goes, in bytes from the function's first instruction."""

    offset: int
    kind: Kind


def placements(code: bytes, *, arguments: int, is_free: bool = False) -> list[Placement]:
    """Instructions fit for a probe, best first; never empty.

    Up to the one that changes the stack pointer or one of the first `arguments` argument registers, the
    stack pointer is that of the entry: the return address can be read and replaced. A branch ends the scan too, as the
    other side would be missed; `is_free` says that the first branch only skips a NULL.
    """
    protected = {part for name in ("rsp", *ARGUMENT_REGISTERS[:arguments]) for part in _PARTS[name]}
    emulated: list[Placement] = []
    stepped: list[Placement] = []
    for instruction in _instructions(code):
        if _is_emulated(instruction):
            emulated.append(Placement(instruction.address, "emulated"))
        else:
            stepped.append(Placement(instruction.address, "single-step"))
        if _is_branch(instruction):
            if not (is_free and _is_conditional(instruction)):
                break
            is_free = False
        elif _written(instruction) & protected:
            break
    return emulated + stepped or [Placement(0, "single-step")]


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


def _is_branch(instruction: Any) -> bool:
    from capstone import CS_GRP_CALL, CS_GRP_INT, CS_GRP_JUMP, CS_GRP_RET

    return bool({CS_GRP_CALL, CS_GRP_INT, CS_GRP_JUMP, CS_GRP_RET} & set(instruction.groups))


def _is_conditional(instruction: Any) -> bool:
    name = str(instruction.mnemonic)
    return name.startswith("j") and name != "jmp"


def _written(instruction: Any) -> set[str]:
    return {instruction.reg_name(register) for register in instruction.regs_access()[1]}
