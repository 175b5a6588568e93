"""Frames without a name to the files that they lie in, and to names where the project has symbols of these."""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from tracer import protocol
from tracer.profile.model import Profile
from tracer.profile.places import Place, is_file, places_in, told_modules
from tracer.profile.renamed import renamed
from webapp.runs.models import UnnamedModule
from webapp.symbols.matching import Match, Module, matches
from webapp.symbols.naming import names_of

MOST_MODULES = 50  # of one snapshot: those with the largest values
MODULE_CHARACTERS = 300  # no file has a longer name
_BUILD_ID = re.compile("(?:[0-9a-f]{2}){4,64}")


@dataclass(frozen=True, slots=True)
class Named:
    """A profile with the names that the project's symbols have, and its rows of modules, not saved yet."""

    profile: Profile
    modules: list[UnnamedModule]


def named(project_id: int | None, profile: Profile) -> Named:
    """`profile` is as it came. Values and totals stay what they are."""
    places = places_in(profile.names)
    rows = _rows(profile, places)
    if not rows:
        return Named(profile, [])
    found = {key.name: match for key, match in matches(project_id, [module_of(row) for row in rows]).items()}
    if project_id is None or not found:
        return Named(profile, rows)
    in_image = profile.capture.get("offsets") == protocol.OFFSETS_IN_IMAGE
    naming = names_of(project_id, places, found, in_image=in_image)
    new = renamed(profile, naming.frames)
    new.capture = _with_notes(profile.capture, [*naming.troubles, *_by_name(found)])
    _count_left(rows, new, found)
    return Named(new, rows)


def module_of(row: UnnamedModule) -> Module:
    return Module(row.module, row.build_id)


def _rows(profile: Profile, places: Mapping[str, Place]) -> list[UnnamedModule]:
    build_ids, told = _build_ids(profile.capture), told_modules(profile.capture)
    is_ours = str(profile.capture.get("collector")) in protocol.COLLECTORS
    shares = _shares(profile, places) if places else {}
    modules = [module for module in shares if len(module) <= MODULE_CHARACTERS][:MOST_MODULES]
    return [
        UnnamedModule(
            module=module,
            build_id=build_ids.get(module, ""),
            is_told=is_file(module, told, is_ours=is_ours),
            share=shares[module],
            left=shares[module],
        )
        for module in modules
    ]


def _shares(profile: Profile, places: Mapping[str, Place]) -> dict[str, float]:
    """By module, the largest first: what stacks that pass through it have of the default value type."""
    module_by_id = {number: places[name].module for number, name in enumerate(profile.names) if name in places}
    amounts: Counter[str] = Counter()
    values, whole = profile.columns[0], 0.0
    for key, row in profile.row_by_key.items():
        amount = abs(values[row])
        whole += amount
        for module in _modules(module_by_id, key):
            amounts[module] += amount
    return {module: amount / whole if whole else 0.0 for module, amount in amounts.most_common()}


def _modules(module_by_id: Mapping[int, str], key: bytes) -> Collection[str]:
    ids = array("i", key)
    if module_by_id.keys().isdisjoint(ids):
        return ()
    return {module_by_id[number] for number in ids if number in module_by_id}


def _build_ids(capture: Mapping[str, object]) -> dict[str, str]:
    claimed = capture.get("build_ids")
    pairs = claimed.items() if isinstance(claimed, Mapping) else ()
    return {str(module): found for module, found in pairs if isinstance(found, str) and _BUILD_ID.fullmatch(found)}


def _by_name(found: Mapping[str, Match]) -> list[str]:
    modules = sorted(module for module, match in found.items() if match.is_by_name)
    if not modules:
        return []
    return [
        f"Names of {', '.join(modules)} are of uploaded files of that name: the profile tells no build id to compare."
    ]


def _with_notes(capture: Mapping[str, object], notes: Sequence[str]) -> dict[str, object]:
    old = capture.get("notes") or []
    return {**capture, "notes": [*(old if isinstance(old, list) else [old]), *notes]} if notes else dict(capture)


def _count_left(rows: Iterable[UnnamedModule], new: Profile, found: Mapping[str, Match]) -> None:
    left = _shares(new, places_in(new.names))
    for row in rows:
        row.left = left.get(row.module, 0.0)
        row.used = found[row.module].key if row.module in found else ""
