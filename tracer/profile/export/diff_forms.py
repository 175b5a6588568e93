"""A difference to any of the forms that other tools read, by the form's name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import BinaryIO

from tracer.profile.alignment import AS_NAMED, Alignment
from tracer.profile.export.difference import scale_to_after, scale_words, scaled_difference, write_difference
from tracer.profile.export.forms import as_text
from tracer.profile.export.json import write_json
from tracer.profile.export.picture import Picture
from tracer.profile.export.pprof import write_pprof
from tracer.profile.export.speedscope import write_speedscope
from tracer.profile.export.stacks import Part, difference_profile
from tracer.profile.export.svg import write_diff_svg
from tracer.profile.export.table import write_change_table
from tracer.profile.model import Profile
from tracer.profile.tree import DiffTree

_SIDES: tuple[Part, ...] = ("change", "before", "after")
_POSITIVE: tuple[Part, ...] = ("after", "before", "grew", "shrank")  # what a format without negative numbers can hold


@dataclass(frozen=True, eq=False)
class Difference:
    """Two merged trees; `scale` is what values before are multiplied by, `alignment` what made the names."""

    diff: DiffTree
    scale: Fraction = Fraction(1)
    alignment: Alignment = AS_NAMED

    @classmethod
    def normalized(cls, diff: DiffTree, alignment: Alignment = AS_NAMED) -> Difference:
        """Both totals equal. ValueError when nothing makes them so."""
        return cls(diff, scale_to_after(diff), alignment)

    @property
    def note(self) -> str:
        """What is not as it was recorded."""
        names = f"names aligned by {self.alignment.words}" if self.alignment else ""
        return "; ".join(filter(None, [names, scale_words(self.scale)]))

    @cached_property
    def scaled(self) -> DiffTree:
        return self.diff if self.scale == 1 else scaled_difference(self.diff, self.scale)

    def profile(self, parts: tuple[Part, ...] = _SIDES) -> Profile:
        return difference_profile(self.scaled, parts, note=self.note)


def _folded(difference: Difference, out: BinaryIO, _picture: Picture) -> None:
    with as_text(out) as text:
        write_difference(difference.diff, text, scale=difference.scale)


def _pprof(difference: Difference, out: BinaryIO, _picture: Picture) -> None:
    write_pprof(difference.profile(), out)


def _speedscope(difference: Difference, out: BinaryIO, picture: Picture) -> None:
    with as_text(out) as text:
        write_speedscope(difference.profile(_POSITIVE), text, name=picture.title or "memflame difference")


def _json(difference: Difference, out: BinaryIO, _picture: Picture) -> None:
    with as_text(out) as text:
        write_json(difference.profile(), text)


def _table(difference: Difference, out: BinaryIO, _picture: Picture) -> None:
    with as_text(out) as text:
        write_change_table(difference.scaled, text)


def _svg(difference: Difference, out: BinaryIO, picture: Picture) -> None:
    with as_text(out) as text:
        write_diff_svg(difference.scaled, text, picture, note=difference.note)


DIFF_WRITERS: Mapping[str, Callable[[Difference, BinaryIO, Picture], None]] = {
    "svg": _svg,
    "folded": _folded,
    "pprof": _pprof,
    "speedscope": _speedscope,
    "json": _json,
    "csv": _table,
}
"""By names of FORMS, which has their titles."""
