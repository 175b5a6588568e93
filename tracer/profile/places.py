"""Frames without a name to what their text tells: a file, and the offset in it, by which symbols may name them later.

search-api+0x18d8e     the byte at 0x18d8e of the file search-api; of a caller, one inside of its call
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

MOST_TOLD = 100  # files of one profile that an importer tells by their paths
_PLACE = re.compile(r"(?P<module>.+)\+0x(?P<offset>[0-9a-f]{1,16})")
# Other tools put offsets behind function names too: of their files these are sure to be no function.
_NO_FUNCTION = re.compile(r".*\.so[.0-9]*|\[.*\]")


class Place(NamedTuple):
    module: str
    offset: int


def place_of(name: str) -> Place | None:
    """None for a frame that can't be one; what is a place may be a function and an offset in it all the same."""
    found = _PLACE.fullmatch(name)
    return Place(found["module"], int(found["offset"], 16)) if found else None


def places_in(names: Iterable[str]) -> dict[str, Place]:
    """By name."""
    return {name: place for name in names if "+0x" in name and (place := place_of(name))}


def told_modules(capture: Mapping[str, object]) -> Collection[str]:
    """Those of which a profile itself says that they are files."""
    claims = [capture.get(key) for key in ("build_ids", "modules")]
    return {str(module) for claim in claims if isinstance(claim, Mapping) for module in claim}


def is_file(module: str, told: Collection[str], *, is_ours: bool) -> bool:
    """Whether this is no function. `is_ours` says that one of our collectors wrote the names."""
    return is_ours or module in told or _NO_FUNCTION.fullmatch(module) is not None
