"""`perf script` text of one part of a recording to our folded text: runs unprivileged, since what it reads is foreign.

The argument: {"collector", "pid", "leaves": {event: name}, "spans": {event: [start, end]}, "wrappers": [event],
"max_frames", "state", "data_fd"}. The answer's capture has
"samples", "truncated_stacks", "lost", "lost_counted" and "state", for the next part.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Mapping
from typing import Any, BinaryIO

from tracer.perf.calls import COUNTINGS
from tracer.perf.losses import lost_samples
from tracer.perf.outermost import Outermost
from tracer.perf.words import ADDRESS, CALLER, PERHAPS_KNOWN_ADDRESS, PERHAPS_KNOWN_CALLER, TRAMPOLINES
from tracer.profile.folded import write_folded
from tracer.profile.formats.perf_events import fields_of
from tracer.profile.formats.perf_lines import Frame, Header, names_or_offsets
from tracer.profile.formats.perf_samples import PerfText
from tracer.profile.gaps import NO_STACK, TRUNCATED
from tracer.profile.model import Limits, Profile, ValueType
from tracer.symbols.demangle import demangled
from tracer.symbols.demangle import load as load_demanglers

_ALIAS = re.compile(r"^__GI_(?=\w)")  # perf takes the first of several names: of the C library, the one for itself
_STEP = 256 << 10
_ID_BYTES = array("i").itemsize
_LIMITS = Limits(lines=1 << 40)  # of our own making: the size of a part bounds it


def load() -> None:
    """What can't be loaded once there is no way to any file."""
    load_demanglers()


def main(argument: Mapping[str, Any], source: BinaryIO, out: BinaryIO) -> None:
    text = PerfText(_LIMITS, _names)
    counting = COUNTINGS[argument["collector"]](argument["state"])
    shaper = _Shaper(text.profile, argument["leaves"], int(argument["max_frames"]))
    text.profile.value_types = tuple(ValueType(name, name, "flow", name, is_signed=True) for name in counting.names)
    text.profile.columns = [array("q") for _ in counting.names]
    outermost = Outermost(argument["spans"], argument["wrappers"])
    samples = 0
    for header, stack in text.samples(iter(lambda: source.read(_STEP), b"")):
        if header.pid != argument["pid"]:
            continue
        samples += 1
        counted_at = outermost.stack(header, shaper.shaped(header, stack))
        values = counting.take(header) if counted_at is not None else None
        if counted_at is not None and values is not None:
            text.profile.add_key(counted_at, values)
    told, counted = lost_samples(int(argument["data_fd"]))
    text.profile.capture = {
        "collector": argument["collector"],
        "samples": samples,
        "truncated_stacks": shaper.truncated_stacks,
        "lost": told,
        "lost_counted": counted,
        "state": counting.state(),
    }
    write_folded(text.profile, out)


def _names(frame: Frame) -> tuple[str, ...]:
    return tuple(demangled(_ALIAS.sub("", name)) for name in names_or_offsets(frame))


class _Shaper:
    """Stacks as a collector has them: the function asked for as their leaf, its caller below, a mark if cut."""

    def __init__(self, profile: Profile, leaves: Mapping[str, str], max_frames: int) -> None:
        self._profile, self._max_frames = profile, max_frames
        self._leaf_by_event = {event.encode(): self._id(leaf) for event, leaf in leaves.items()}
        self._truncated, self._none = self._id(TRUNCATED), self._id(NO_STACK)
        self.truncated_stacks = 0

    def shaped(self, header: Header, stack: bytes) -> bytes:
        leaf = self._leaf_by_event.get(header.event)
        if not stack:
            return self._none + (leaf or b"")
        is_cut = len(stack) >= self._max_frames * _ID_BYTES
        self.truncated_stacks += is_cut
        root = self._truncated if is_cut else b""
        return root + (stack if leaf is None else stack[:-_ID_BYTES] + self._caller(header) + leaf)

    def _caller(self, header: Header) -> bytes:
        """Frame pointers miss the caller of a function that has not yet made its own frame: the probe read it."""
        fields = fields_of(header.payload)
        for argument, mark in ((CALLER, ADDRESS), (PERHAPS_KNOWN_CALLER, PERHAPS_KNOWN_ADDRESS)):
            if argument in fields and fields[argument] not in TRAMPOLINES:
                return self._id(f"{mark}{fields[argument]:x}")
        return b""

    def _id(self, name: str) -> bytes:
        return array("i", [self._profile.id_of(name)]).tobytes()
