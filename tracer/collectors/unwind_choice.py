"""How the stacks of a malloc recording are found: by frame pointers or by unwind tables, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tracer.collectors.errors import CollectorError
from tracer.collectors.host_checks import unwinder
from tracer.options.unwind import AUTO, DWARF, FRAME_POINTERS, UNWIND, unwind_of
from tracer.process.address_space import AddressSpace
from tracer.process.frame_pointers import FrameUse, modules_without_frame_pointers
from tracer.protocol import RunSpec

_NAMED_MODULES = 3


@dataclass(frozen=True, slots=True)
class UnwindChoice:
    unwind: str
    reason: str = ""  # of a choice that was left to us

    @property
    def is_dwarf(self) -> bool:
        return self.unwind == DWARF

    def facts(self) -> dict[str, object]:
        """Keys of the capture."""
        return {"unwind": self.unwind, **({"unwind_reason": self.reason} if self.reason else {})}


def chosen_unwind(spec: RunSpec, space: AddressSpace) -> UnwindChoice:
    """CollectorError: unwinding was asked for, and the library for it is missing."""
    asked, check = unwind_of(spec.options), unwinder()
    obstacle = check.text if check.state == "failure" else ""
    if asked == DWARF and obstacle:
        raise CollectorError(f"option {UNWIND} is {DWARF}, but {obstacle}")
    return UnwindChoice(asked) if asked != AUTO else _best(modules_without_frame_pointers(space), obstacle)


def _best(without: Sequence[FrameUse], obstacle: str) -> UnwindChoice:
    if not without:
        return UnwindChoice(FRAME_POINTERS, "All main modules keep frame pointers.")
    missing = f"{_list(without)} {'keeps' if len(without) == 1 else 'keep'} no frame pointers"
    if obstacle:
        return UnwindChoice(FRAME_POINTERS, f"{missing}, so callers can be missing; {obstacle}")
    return UnwindChoice(DWARF, f"{missing}.")


def _list(without: Sequence[FrameUse]) -> str:
    names = [use.module for use in without[:_NAMED_MODULES]]
    more = len(without) - len(names)
    if more:
        names.append(f"{more} more")
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
