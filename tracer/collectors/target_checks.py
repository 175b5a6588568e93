"""One process to one check for each thing that decides how good a recording of it will be."""

from __future__ import annotations

import os
from pathlib import Path

from tracer.collectors.allocators import CALLED_OFTEN, Site, SiteFinder
from tracer.collectors.allocators_found import without_probe_path
from tracer.collectors.check import Check, failure, ok, warning
from tracer.options.allocators import AllocatorOptions
from tracer.process.address_space import AddressSpace
from tracer.process.frame_pointers import modules_without_frame_pointers
from tracer.process.maps import Mapping, parse_maps
from tracer.process.target import Target, TargetError
from tracer.symbols.elf import ElfError, ElfFile

_NAMED = 3  # files in one line; a process may have hundreds
_NAMESPACES = ("mnt", "pid", "user")
_MANY_STEPPED = 10  # µs that a call costs more where no cheap instruction is


def target_checks(pid: int) -> list[Check]:
    """The first failure ends the list where nothing more can be asked."""
    try:
        target = Target(pid)
    except TargetError as error:
        return [failure("process", f"{str(error)[:1].upper()}{str(error)[1:]}.")]
    try:
        return _checks(target)
    finally:
        target.close()


def _checks(target: Target) -> list[Check]:
    space = AddressSpace(target)
    try:
        found = SiteFinder(space, AllocatorOptions.of({})).new_sites()
        maps = parse_maps((target.directory / "maps").read_text(errors="surrogateescape"))
        return [
            ok("process", f"{target.command}, pid {target.pid}"),
            container_view(target.directory),
            reachable_files(space),
            allocator(found),
            cheap_places(found),
            frame_pointers(space),
            symbols(space),
            perf_map(target, maps),
        ]
    finally:
        space.close()


def container_view(directory: Path) -> Check:
    """Of a directory of /proc: whether its process sees the files and the process numbers that we see."""
    apart = [name for name in _NAMESPACES if _link(directory / "ns" / name) != _link(Path("/proc/self/ns") / name)]
    root = _link(directory / "root")
    if not apart and root == "/":
        return ok("container view", "the same files and process numbers as here")
    inner = inner_pid((directory / "status").read_text())
    parts = [f"{', '.join(apart)} namespace of its own"] if apart else []
    parts += [f"its root is {root}"] if root != "/" else []
    parts += [f"it calls itself pid {inner}"] if inner != int(directory.name) else []
    return ok("container view", f"{'; '.join(parts)}; files are reached through {directory}/root")


def inner_pid(status: str) -> int:
    """Of the text of /proc/PID/status: the number that the process has for itself."""
    return next(int(line.split()[-1]) for line in status.splitlines() if line.startswith("NSpid:"))


def reachable_files(space: AddressSpace) -> Check:
    unreachable = [mapping.path for mapping in without_probe_path(space)]
    if not unreachable:
        return ok("mapped files", "all are where they were mapped from")
    replaced = f"Deleted or replaced since they were mapped, so not probed: {_some(unreachable)}."
    return warning("mapped files", replaced, "restart the process")


def allocator(found: list[Site]) -> Check:
    modules = list(dict.fromkeys(site.module for site in found if site.symbol == "malloc"))
    if modules:
        return ok("allocator", f"malloc in {_some(modules)}; {len(found)} functions are probed")
    none = "No malloc was found: the program may be linked statically and stripped of its symbols."
    return failure("allocator", none, "record it with --collector brk, mmap or page_faults")


def cheap_places(found: list[Site]) -> Check:
    """Where the kernel must execute an instruction apart, each call is an order of magnitude dearer."""
    often = [site for site in found if site.symbol in CALLED_OFTEN]
    dear = [f"{site.symbol} of {site.module}" for site in often if site.placements[0].kind == "single-step"]
    if not dear:
        return ok("places of probes", "on instructions that the kernel emulates, in all that is called often")
    slow = f"Each call of {_some(dear)} costs about {_MANY_STEPPED} µs more: no cheap instruction is in reach."
    return warning("places of probes", slow)


def frame_pointers(space: AddressSpace) -> Check:
    """Of the main modules: without them the callers of an allocator are found by unwind tables, at a price."""
    bare = modules_without_frame_pointers(space)
    if not bare:
        return ok("frame pointers", "kept by the main modules")
    unwound = f"Not kept by {_some([use.module for use in bare])}: stacks are unwound with libdw."
    return warning("frame pointers", unwound, "for cheaper stacks, compile with -fno-omit-frame-pointer")


def symbols(space: AddressSpace) -> Check:
    bare = sorted({mapping.path for mapping in space.mappings() if _is_bare(space, mapping)})
    if not bare:
        return ok("symbols", "in every mapped file")
    nameless = f"Without symbols: {_some(bare)}; their frames are shown as file+0xoffset."
    return warning("symbols", nameless, "install the packages with their debug symbols")


def _is_bare(space: AddressSpace, mapping: Mapping) -> bool:
    """Whether a file has code, and not one name for it."""
    fd = space.open_file(mapping)
    if fd is None:
        return False
    try:
        with ElfFile(fd) as elf:
            return next(elf.functions(), None) is None
    except ElfError:
        return False


def perf_map(target: Target, maps: list[Mapping]) -> Check:
    generated = [part for part in maps if "x" in part.permissions and not part.inode and not part.path.startswith("[")]
    if not generated:
        return ok("generated code", "none")
    inner = inner_pid((target.directory / "status").read_text())
    place = f"/tmp/perf-{inner}.map"
    if (target.directory / "root" / place.lstrip("/")).is_file():
        return ok("generated code", f"named by {place}")
    nameless = f"There is code made at run time, and no {place} that names it."
    return warning("generated code", nameless, "node --perf-basic-prof, python -X perf, or an agent for Java")


def _some(names: list[str]) -> str:
    shown = ", ".join(names[:_NAMED])
    return shown if len(names) <= _NAMED else f"{shown} and {len(names) - _NAMED} more"


def _link(path: Path) -> str:
    return os.readlink(path)  # noqa: PTH115 - a link that is no path
