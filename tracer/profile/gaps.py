"""A profile to what its graph does not show: the share of its default value without names, callers or any stack."""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tracer.profile.model import Number, Profile
from tracer.profile.places import is_file, place_of, told_modules

TRUNCATED = "[truncated]"  # root of a stack that had more frames than were captured
BROKEN = "[broken unwind]"  # root of a stack whose unwinding ended before its root
NO_CALLER = "[caller not unwound]"  # root of a leaf that was not unwound
NO_STACK = "[stack not recorded]"  # all of a stack that was lost
# Most systems strip the C library of its inner names; it stands by its file anyway, and every stack has some.
C_LIBRARY = ("libc.so.", "libc-2.", "ld-linux", "ld-2.", "ld-musl", "libpthread")

NO_MODULE = "[unknown]"
MOST_MODULES = 20  # that are told by name: those with the largest values

_MARKS = {TRUNCATED: "truncated", BROKEN: "broken", NO_CALLER: "broken", NO_STACK: "without_stack"}
_OURS = re.compile(r"\[unknown\]")
_OTHERS = re.compile(r"\[unknown\]|\?\?|0x[0-9a-f]+|\[[^]]*\.so[.0-9]*\]")


@dataclass(frozen=True, slots=True)
class Gaps:
    shares: dict[str, float]  # of 1: unresolved, truncated, broken, without_stack; none if there is no value
    unresolved_by_module: dict[str, Number]  # value whose stacks pass through places of it that have no name


def gaps_of(profile: Profile, *, is_ours: bool) -> Gaps:
    """Of the default value type, by amount. `is_ours` says that one of our collectors wrote the names.

    `unresolved` is a share of the graph's area, where each frame is as wide as its value; the others are of the value.
    """
    sums = _Sums(_module_by_id(profile, is_ours=is_ours), _mark_by_id(profile.names))
    values = profile.columns[0]
    for key, row in profile.row_by_key.items():
        if values[row]:
            sums.add(array("i", key), abs(values[row]))
    return Gaps(sums.shares(), dict(sums.by_module.most_common(MOST_MODULES)))


class _Sums:
    def __init__(self, module_by_id: Mapping[int, str], mark_by_id: Mapping[int, str]) -> None:
        self._module_by_id, self._mark_by_id = module_by_id, mark_by_id
        self._value: Number = 0
        self._area: Number = 0
        self._unresolved: Number = 0
        self._by_mark: Counter[str] = Counter(dict.fromkeys(_MARKS.values(), 0))
        self.by_module: Counter[str] = Counter()

    def add(self, ids: Sequence[int], value: Number) -> None:
        modules = [self._module_by_id[number] for number in ids if number in self._module_by_id]
        self._value += value
        self._area += value * len(ids)
        self._unresolved += value * len(modules)
        for module in set(modules):
            self.by_module[module] += value  # type: ignore[assignment]  # of a heap that was sampled it is a fraction
        if mark := self._mark_by_id.get(ids[0]):
            self._by_mark[mark] += value  # type: ignore[assignment]

    def shares(self) -> dict[str, float]:
        if not self._value:
            return {}
        marked = {mark: round(value / self._value, 6) for mark, value in self._by_mark.items()}
        return {"unresolved": round(self._unresolved / self._area, 6), **marked}


def _module_by_id(profile: Profile, *, is_ours: bool) -> dict[int, str]:
    """Of names that are none: the file they are in, as far as that is known."""
    pattern, told = _OURS if is_ours else _OTHERS, told_modules(profile.capture)
    modules: dict[int, str] = {}
    for number, name in enumerate(profile.names):
        place = None if name.startswith(C_LIBRARY) else place_of(name)
        if place is not None and is_file(place.module, told, is_ours=is_ours):
            modules[number] = place.module
        elif place is None and pattern.fullmatch(name):
            modules[number] = NO_MODULE
    return modules


def _mark_by_id(names: list[str]) -> dict[int, str]:
    return {number: _MARKS[name] for number, name in enumerate(names) if name in _MARKS}
