"""The processes of one recording: those that were chosen, the children that they fork, and the code they have mapped.

Where there is one process and no child of it counts, it is known by its pid and watched by a pidfd. Otherwise the
kernel numbers what each process runs (images.h), and this follows the numbers: each image has its own address space.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from tracer.bpf.program import Program
from tracer.bpf.syscalls import EVERY_PROCESS
from tracer.collectors import images
from tracer.collectors.images import ImageEntry, ImageMaps
from tracer.collectors.options import option
from tracer.collectors.stacks import NO_IMAGE
from tracer.process.address_space import AddressSpace
from tracer.process.selection import Found, descendants, found_at, own_pids, select
from tracer.process.target import Target, TargetError
from tracer.protocol import RunSpec

_YOUNG_S = 0.5  # a program that has just begun still maps its libraries
_STEP_S = 0.02  # between two looks for new images: a child that ends sooner keeps no names
_TOLD = 200  # processes listed in a capture


@dataclass(slots=True)
class Image:
    """What a process runs, from its fork or exec until the next exec or its exit."""

    process: Found
    parent: int  # number of the image that forked it or called exec
    is_forked: bool
    began: float
    space: AddressSpace | None = None  # once its mappings were read; until then a forked one has its parent's


class Processes:
    """Made before the collector; counts for one program after `watch`."""

    def __init__(self, spec: RunSpec, *, own_root: int) -> None:
        self._own_root = own_root
        self.follows_children = bool(option(spec, "follow_children"))
        self._is_by_process = bool(option(spec, "by_process"))
        self._chosen = select(spec.selector, own_root=own_root)
        self.first = self._chosen[0]
        self.is_single = len(self._chosen) == 1 and not self.follows_children
        self._target = Target(self.first.pid, start_time=self.first.start_time)
        self._maps: ImageMaps | None = None
        space = AddressSpace(self._target)
        self._empty = space.of_another(self.first, is_forked=False)  # shares its open files with all others
        self._images = [Image(self.first, 0, False, 0.0, space)]
        for other in self._with_descendants()[1:]:
            self._add_first(other)

    # --- for the collector

    @property
    def probed(self) -> Iterator[tuple[int, AddressSpace]]:
        """Pids to place probes for, each with its address space; children can only be had with probes for all."""
        for number, image in enumerate(self._images):
            yield EVERY_PROCESS if self.follows_children else image.process.pid, self.space(number)

    @property
    def known(self) -> list[Found]:
        """As `probed`."""
        return [image.process for image in self._images]

    def defines(self) -> dict[str, int]:
        if self.is_single:
            return {"TARGET_TGID": self.first.pid}
        return images.defines(follows_children=self.follows_children)

    def watch(self, program: Program) -> None:
        """Let a program made with `defines` know its processes."""
        if self.is_single:
            return
        known = {image.process.pid for image in self._images}
        for other in self._with_descendants():  # those that came while the program was compiled
            if other.pid not in known:
                self._add_first(other)
        self._maps = ImageMaps(program, self.known)
        for process in self.known:
            if process.has_exited():
                self._maps.leave_out(process.pid)  # meanwhile

    def space(self, number: int) -> AddressSpace:
        """Of an image; an event can be read before its image was."""
        if number >= len(self._images):
            self.look()
        image = self._images[number]
        while image.space is None and image.is_forked:
            image = self._images[image.parent]
        return image.space or self._empty

    # --- for the recording

    def root(self, number: int) -> tuple[str, ...]:
        """The frame above all of an image, if one was asked for."""
        if not self._is_by_process or number == NO_IMAGE:
            return ()
        process = self._images[number].process
        return (f"{process.command} ({process.pid})",)

    def look(self) -> None:
        """Take in images that are new, and read the mappings of those that still load their libraries."""
        if self._maps is None:
            return
        for entry in self._maps.take_new():
            self._images.append(self._made(entry))
        if young := self._young():
            self._read(young)

    def refresh(self) -> None:
        """Read the mappings of all that live."""
        if self._maps is None:
            self.space(0).refresh()
            return
        self.look()
        self._read(range(len(self._images)))

    def has_exited(self) -> bool:
        """All of them."""
        return self._target.has_exited() if self._maps is None else not self._maps.current()

    def await_exit(self, seconds: float) -> None:
        """Wait that long at most."""
        if self._maps is None:
            self._target.exits_within(seconds)
        else:
            time.sleep(seconds)

    @property
    def longest_wait_s(self) -> float:
        """For events at a time: meanwhile nobody looks for new images."""
        return float("inf") if self.is_single else _STEP_S

    def facts(self) -> dict[str, object]:
        """Keys of the capture."""
        if self.is_single:
            return {}
        by_pid = {image.process.pid: image.process for image in self._images}
        pids = [
            {"pid": known.pid, "start_time": known.start_time, "command": known.command} for known in by_pid.values()
        ]
        return {"pids": pids[:_TOLD]}

    def notes(self) -> Iterator[str]:
        if self._maps is None:
            return
        pids = {image.process.pid for image in self._images}
        if len(pids) > _TOLD:
            yield f"{len(pids):,} processes were recorded, the first {_TOLD} of them are listed."
        if gone := len(self._images) - len(set(self._maps.current().values())):
            yield f"{gone:,} processes exited or began another program: what they held then counts as outstanding."
        if unread := sum(image.space is None and not image.is_forked for image in self._images):
            yield f"{unread:,} programs ended before their mappings could be read: their frames have no names."
        if missed := self._maps.not_followed():
            yield (
                f"{missed:,} children were not followed: the limits are {images.MAX_PROCESSES:,} at one time and "
                f"{images.MAX_IMAGES:,} in all."
            )

    def close(self) -> None:
        self._empty.close()
        self._target.close()

    # --- inside

    def _with_descendants(self) -> list[Found]:
        if not self.follows_children:
            return self._chosen
        chosen = {known.pid for known in self._chosen}
        others = descendants(chosen) - own_pids(self._own_root) - chosen
        found = self._chosen + [known for pid in sorted(others) if (known := found_at(pid))]
        if len(found) > images.MAX_PROCESSES:
            raise TargetError(f"these are {len(found):,} processes, the limit is {images.MAX_PROCESSES:,} at one time")
        return found

    def _add_first(self, process: Found) -> None:
        space = self._empty.of_another(process, is_forked=False)
        space.refresh()
        self._images.append(Image(process, 0, False, 0.0, space))

    def _young(self) -> list[int]:
        """Numbers of the images that have begun lately."""
        since = time.monotonic() - _YOUNG_S
        last_first = range(len(self._images) - 1, -1, -1)
        return list(takewhile(lambda number: self._images[number].began > since, last_first))

    def _made(self, entry: ImageEntry) -> Image:
        return Image(entry.process, entry.parent, not entry.is_exec, time.monotonic())

    def _read(self, numbers: Sequence[int]) -> None:
        """Only of images that run now: the pid of another one names another program, or another process."""
        assert self._maps is not None
        current = set(self._maps.current().values())
        for number in current.intersection(numbers):
            self._read_one(number)

    def _read_one(self, number: int) -> None:
        image = self._images[number]
        space = image.space or self.space(number).of_another(image.process, is_forked=image.is_forked)
        if space.refresh() or image.is_forked:
            image.space = space
