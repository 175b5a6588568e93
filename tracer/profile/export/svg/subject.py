"""What a picture is of: its frames with their numbers, in the words and classes of one value type or one difference."""

from __future__ import annotations

from dataclasses import dataclass

from tracer.profile.amounts import change, of_own, percent, value
from tracer.profile.export.svg.colours import change_class, name_class
from tracer.profile.export.svg.frames import Frames
from tracer.profile.model import Number, ValueType
from tracer.profile.tree.calltree import ROOT


@dataclass(frozen=True, eq=False)
class Subject:
    """`frames` has one column of values, of a difference two: before and after."""

    frames: Frames
    value_type: ValueType
    unit: str
    is_signed: bool
    note: str = ""  # what is not as it was recorded

    @property
    def is_difference(self) -> bool:
        return len(self.frames.totals) == 2

    def total(self, frame: int, side: int = 0) -> Number:
        total: Number = self.frames.totals[side][frame].item()
        return total

    def name(self, frame: int) -> str:
        return self.frames.names[self.frames.name[frame]] if frame else ROOT

    def amount(self, number: Number) -> str:
        return value(number, self.unit)

    def colour(self, frame: int) -> str:
        if frame == 0:
            return "root"
        if not self.is_difference:
            return name_class(self.name(frame))
        return change_class(self.total(frame), self.total(frame, 1), self.frames.width[frame].item())

    def hatch(self, frame: int) -> str:
        """`new` or `gone` paths of a difference, amounts below 0 otherwise; or nothing."""
        before = self.total(frame)
        if not self.is_difference:
            return "new" if before < 0 else ""
        after = self.total(frame, 1)
        return "new" if before == 0 != after else "gone" if after == 0 != before else ""

    def short(self, frame: int) -> str:
        """What stands on a wide frame."""
        if not self.is_difference:
            return self.amount(self.total(frame))
        moved = self.total(frame, 1) - self.total(frame)
        return change(moved, self.unit) if moved else "="

    def facts(self, frame: int) -> str:
        """The line below a name in its tooltip."""
        if self.is_difference:
            return self._change_facts(self.total(frame), self.total(frame, 1))
        share = self.frames.width[frame] / self.frames.width[0] if self.frames.width[0] else 0.0
        word, all_ = ("net", "of all movement") if self.is_signed else ("total", "of all")
        own = self.frames.selfs[0][frame].item()
        return f"{word} {self.amount(self.total(frame))}, {percent(share)} {all_}; self {self.amount(own)}"

    def _change_facts(self, before: Number, after: Number) -> str:
        moved = f"{change(after - before, self.unit)}, {of_own(before, after)}" if after != before else "none"
        return f"before {self.amount(before)}, after {self.amount(after)}; change {moved}"

    def summary(self) -> str:
        """The subtitle: what is counted, and how much of it."""
        if self.is_difference:
            note = f" ({self.note})" if self.note else ""
            return f"{self.value_type.meaning}, after minus before{note}: {self.facts(0)}"
        return f"{self.value_type.meaning}: {self.amount(self.total(0))}"
