"""A frame as valgrind's tools write it to the name that a graph shows.

0x10AD8D: Index::load(int, char) (index.cc:17)
0x48F97B9: ??? (in /usr/lib/x86_64-linux-gnu/libstdc++.so.6.0.30)
"""

from __future__ import annotations

import re

_FRAME = re.compile(r"0x[0-9A-Fa-f]+: (.*)")
_PLACE = re.compile(r"(.*) \((in )?([^()]*)\)")


def frame_name(text: str) -> str | None:
    """The function; of one without a name, its file. None if it is no frame."""
    frame = _FRAME.fullmatch(text)
    if frame is None:
        return None
    place = _PLACE.fullmatch(frame[1])
    name = place[1] if place else frame[1]
    if name != "???":
        return name
    return f"[{place[3].rpartition('/')[2]}]" if place and place[2] else "[unknown]"
