"""`perf script` text to stacks, each event a value type of its own: the importer.

https://man7.org/linux/man-pages/man1/perf-script.1.html

leaky 4711 [000]   721.077787: syscalls:sys_enter_mmap: addr: 0x00000000, len: 0x00002000, prot: 0x00000003
                   20ca3 mmap64+0x13 (/usr/lib/x86_64-linux-gnu/libc.so.6)
                    1189 load_index+0x23 (/srv/leaky)
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator

from tracer.profile.errors import EmptyProfile, LimitExceeded
from tracer.profile.folded import MAX_COLUMNS
from tracer.profile.formats.perf_events import Event
from tracer.profile.formats.perf_lines import frame_of, header_of, names_of
from tracer.profile.formats.perf_samples import PerfText, Sample
from tracer.profile.formats.reading import Reading
from tracer.profile.formats.text import as_utf8
from tracer.profile.model import MAX_VALUE, Profile

NAME = "perf_script"
TITLE = "perf script"
_HEAD_LINES = 2000  # warnings and perf's own records may stand before the first sample


def matches(head: bytes) -> bool:
    lines = b"".join(as_utf8(iter([head]))).split(b"\n", _HEAD_LINES)[:_HEAD_LINES]
    return any(_is_sample(line, after) for line, after in zip(lines, [*lines[1:], b""], strict=True))


def _is_sample(line: bytes, after: bytes) -> bool:
    """A head with its time is like nothing else; one without needs a frame below it."""
    header = None if line.startswith(b"#") else header_of(line)
    if header is None:
        return False
    return header.has_time or (after[:1].isspace() and frame_of(after) is not None)


def read(steps: Iterator[bytes], reading: Reading) -> Profile:
    text = PerfText(reading.limits, names_of)
    sums = _Sums(text.profile, reading.limits.frames)
    for sample in text.samples(steps):
        sums.take(sample)
    if not sums.has_stack:
        raise _nothing_read(text.profile, sums.stackless)
    profile = sums.finish()
    profile.capture = _capture(sums, text.lost)
    return profile


class _Sums:
    """Samples by event and stack; the command is the root frame."""

    def __init__(self, profile: Profile, max_frames: int) -> None:
        self._profile, self._max_frames = profile, max_frames
        self._events: dict[bytes, Event] = {}
        self._roots: dict[bytes, bytes] = {}
        self._frames = 0  # of all distinct stacks together
        self.samples = self.stackless = 0

    @property
    def has_stack(self) -> bool:
        return self.samples > self.stackless

    def take(self, sample: Sample) -> None:
        header, stack = sample
        self.samples += 1
        self.stackless += not stack
        event = self._events.get(header.event) or self._new_event(header.event)
        key = (self._roots.get(header.command) or self._new_root(header.command)) + stack
        if key not in event.amounts:
            self._watch_frames(len(key) // _ID_BYTES)
        event.take(header, key)

    def finish(self) -> Profile:
        profile = self._profile
        columns = [column for event in self._events.values() for column in event.columns()]
        for known, value_by_stack in columns:
            total = sum(map(abs, value_by_stack.values()))
            if total > MAX_VALUE:
                raise LimitExceeded(f"sum of {known.name}", limit=MAX_VALUE, value=total)
        profile.value_types = tuple(known for known, _ in columns)
        profile.columns = [array("q") for _ in columns]
        for key in dict.fromkeys(key for event in self._events.values() for key in event.amounts):
            profile.add_key(key, [value_by_stack.get(key, 0) for _, value_by_stack in columns])
        return profile

    def _new_event(self, name: bytes) -> Event:
        event = self._events[name] = Event(name.decode())
        if len(self._events) > MAX_COLUMNS // 2:  # each can become two value types
            raise LimitExceeded("number of events", limit=MAX_COLUMNS // 2, value=len(self._events))
        return event

    def _new_root(self, command: bytes) -> bytes:
        root = array("i", [self._profile.id_of(command.decode("utf-8", "replace"))]).tobytes()
        self._roots[command] = root
        return root

    def _watch_frames(self, count: int) -> None:
        self._frames += count
        if self._frames > self._max_frames:
            raise LimitExceeded("number of frames in all stacks", limit=self._max_frames, value=self._frames)


_ID_BYTES = array("i").itemsize


def _nothing_read(profile: Profile, stackless: int) -> EmptyProfile:
    if stackless:
        return EmptyProfile(f"none of the {stackless:,} samples has a stack: record with `perf record -g`")
    return EmptyProfile(f"the file holds no sample; {profile.skipped_lines:,} lines were skipped")


def _capture(sums: _Sums, lost: int) -> dict[str, object]:
    """A text made without `--show-lost-events` does not tell, so nothing is claimed of it."""
    capture: dict[str, object] = {"events": sums.samples, "lost": {"perf_lost": lost}} if lost else {}
    if sums.stackless:
        capture["notes"] = [f"Samples without a stack, counted for their command alone: {sums.stackless:,}."]
    return capture
