"""Frames that are a place in a file, `module+0xOFFSET`, to the functions there, by the binaries of those modules."""

from __future__ import annotations

import re
from array import array
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from tracer.profile.gaps import C_LIBRARY
from tracer.profile.model import Profile
from tracer.symbols.lines import Location
from tracer.symbols.symbolizer import Binary, Session, Symbolizer

_PLACE = re.compile(r"(.+)\+0x([0-9a-f]{1,16})")
Places = dict[str, dict[int, str]]
"""By module and offset: the frame's name until now."""


def places_in(names: Iterable[str]) -> Places:
    """Of all frames that have no name yet; a function's name with an offset behind it looks like a module's."""
    places: Places = defaultdict(dict)
    for name in names:
        if found := _PLACE.fullmatch(name):
            places[found[1]][int(found[2], 16)] = name
    return dict(places)


def with_names(profile: Profile, binary_by_module: Mapping[str, Binary], symbolizer: Symbolizer) -> Profile:
    """The same values; inlined functions become frames of their own, and what has no name there stays as it is.

    Stacks that become equal add up. A symbolizer that is kept knows the places of earlier profiles.
    """
    places = {module: found for module, found in places_in(profile.names).items() if module in binary_by_module}
    if not places:
        return profile
    names_by_frame: dict[str, list[str]] = {}
    binaries = {module: binary_by_module[module] for module in places}
    with symbolizer.session(binaries.values()) as session:
        for module, binary in binaries.items():
            names_by_frame.update(_names(session, binary, places[module]))
    return _renamed(profile, names_by_frame)


def shown(binary: Binary, locations: Sequence[list[Location]]) -> list[list[Location]]:
    """Of the C library functions only, without what they inline: that would tell `mmap` to call `__GI___mmap64`, on
    hosts that have its debug package."""
    is_c_library = binary.path.rpartition("/")[2].startswith(C_LIBRARY)
    return [places[:1] for places in locations] if is_c_library else list(locations)


def _names(session: Session, binary: Binary, frame_by_offset: Mapping[int, str]) -> dict[str, list[str]]:
    """Root first, by the frame that they replace."""
    locations = shown(binary, session.locations(binary, list(frame_by_offset)))
    texts = session.demangled(place.name for found in locations for place in found)
    return {
        frame: [texts[place.name] for place in found]
        for frame, found in zip(frame_by_offset.values(), locations, strict=True)
        if found
    }


def _renamed(profile: Profile, names_by_frame: Mapping[str, list[str]]) -> Profile:
    renamed = Profile(profile.value_types, capture=profile.capture, format=profile.format)
    renamed.skipped, renamed.skipped_lines = profile.skipped, profile.skipped_lines
    ids = [array("i", map(renamed.id_of, names_by_frame.get(name, [name]))).tobytes() for name in profile.names]
    for key, row in profile.row_by_key.items():
        renamed.add_key(b"".join([ids[number] for number in array("i", key)]), [c[row] for c in profile.columns])
    return renamed
