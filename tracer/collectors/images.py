"""The maps of images.h: which processes are recorded, and what each of them runs."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tracer.bpf.btf import Btf
from tracer.bpf.program import Program
from tracer.process.selection import Found

MAX_PROCESSES = 4096  # that live at one time
MAX_IMAGES = 32_768  # over a whole recording; their number is part of a block's key, in 16 bits
_IMAGE, _NUMBER, _COUNT = struct.Struct("=QIII16s4x"), struct.Struct("=I"), struct.Struct("=Q")
_IMAGE_SHIFT = 48
_GIVEN_NUMBERS, _NOT_FOLLOWED = 0, 1
_TICK_NS = 10**9 // os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class ImageEntry:
    """An entry of the kernel's map; `parent` is the number of the image that forked or called exec."""

    number: int
    parent: int
    is_exec: bool
    process: Found


def own_address(image: int, address: int) -> bytes:
    """The key of that name in images.h."""
    return struct.pack("=Q", image << _IMAGE_SHIFT | address)


def image_and_address(key: int) -> tuple[int, int]:
    return divmod(key, 1 << _IMAGE_SHIFT)


def defines(*, follows_children: bool) -> dict[str, int]:
    kernel = Btf.of_kernel()
    return {
        "MAX_PROCESSES": MAX_PROCESSES,
        "MAX_IMAGES": MAX_IMAGES,
        "FOLLOWS_CHILDREN": int(follows_children),
        "TASK_TGID": kernel.offset("task_struct", "tgid"),
        "TASK_MM": kernel.offset("task_struct", "mm"),
        "TASK_STARTED": kernel.offset("task_struct", "start_boottime"),
        "TASK_SIGNAL": kernel.offset("task_struct", "signal"),
        "SIGNAL_LIVE": kernel.offset("signal_struct", "live"),
    }


class ImageMaps:
    """Of a program that counts the events of several processes; these are the first images, in their order."""

    def __init__(self, program: Program, first: Sequence[Found]) -> None:
        self._image_by_tgid = program.map("image_by_tgid")
        self._images = program.map("images")
        self._counts = program.map("image_counts")
        self._read = len(first)  # images that `take_new` has given, or whose number it was given
        self._counts.update(_NUMBER.pack(_GIVEN_NUMBERS), _COUNT.pack(len(first)))
        for number, process in enumerate(first):
            command = process.command.encode("utf-8", "replace")[:15]
            entry = _IMAGE.pack(process.start_time * _TICK_NS, process.pid, number, 1, command)
            self._images.update(_NUMBER.pack(number), entry)
            self._image_by_tgid.update(_NUMBER.pack(process.pid), _NUMBER.pack(number))

    def take_new(self) -> Iterator[ImageEntry]:
        """Those that have begun since, in the order of their numbers: a parent comes before its children."""
        given = min(self._count(_GIVEN_NUMBERS), MAX_IMAGES)
        while self._read < given:
            entry = self._entry(self._read)
            if entry is None:
                return  # its number is given, it is being written
            self._read += 1
            yield entry

    def current(self) -> dict[int, int]:
        """Image by pid, of all processes that live."""
        return {_NUMBER.unpack(tgid)[0]: _NUMBER.unpack(image)[0] for tgid, image in self._image_by_tgid.entries()}

    def leave_out(self, pid: int) -> None:
        self._image_by_tgid.delete(_NUMBER.pack(pid))

    def not_followed(self) -> int:
        return self._count(_NOT_FOLLOWED)

    def _count(self, which: int) -> int:
        raw = self._counts.lookup(_NUMBER.pack(which))
        return int(_COUNT.unpack(raw)[0]) if raw else 0

    def _entry(self, number: int) -> ImageEntry | None:
        raw = self._images.lookup(_NUMBER.pack(number))
        started_ns, tgid, parent, is_exec, command = _IMAGE.unpack(raw) if raw else (0, 0, 0, 0, b"")
        if not started_ns:
            return None
        text = command.partition(b"\0")[0].decode("utf-8", "replace")
        return ImageEntry(number, parent, bool(is_exec), Found(tgid, started_ns // _TICK_NS, text))
