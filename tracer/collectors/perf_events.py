"""What each collector asks perf for: events, the arguments that a uprobe reads, and what their leaves are called."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from tracer.bpf.program import kernel_version
from tracer.collectors.allocators import Site, sites
from tracer.collectors.collector import Probe
from tracer.collectors.errors import CollectorError
from tracer.perf.uprobes import UprobeEvent, Uprobes
from tracer.perf.words import CALLER, PERHAPS_KNOWN_CALLER
from tracer.process.address_space import AddressSpace
from tracer.process.maps import parse_maps
from tracer.process.target import Target

_REGISTERS = ("di", "si", "dx", "cx")  # of arguments, as tracefs calls them
# Linux adds the caller to stacks taken at an instruction that begins a function; at endbr64 only if built with IBT.
_REPAIRS_CALLERS = (6, 12, 0)
_BEGINS_FUNCTION = (b"\x55", b"\xf3\x0f\x1e\xfa")  # push %rbp, endbr64
_CALLS_ANOTHER = ("reallocarray",)  # it calls realloc, which is probed too


@dataclass(frozen=True, slots=True)
class Asked:
    """`state` is what the parser of samples starts with."""

    events: list[str]
    probes: list[Probe]
    leaf_by_event: dict[str, str] = field(default_factory=dict)
    span_by_wrapper: dict[str, list[int]] = field(default_factory=dict)  # start and end of its code, by event
    state: dict[str, object] = field(default_factory=dict)


def asked_of(
    collector: str, target: Target, space: AddressSpace, *, unwind: str, uprobes: Uprobes | None, links: Path
) -> Asked:
    if collector == "page_faults":
        names = ["minor-faults", "major-faults"]
        return Asked(names, [Probe("kernel", name, 0, "perf event") for name in names])
    if collector == "malloc":
        assert uprobes is not None
        return _allocator_events(target, space, uprobes, links, reads_callers=unwind == "fp")
    calls = ("mmap", "mremap") if collector == "mmap" else ("brk",)
    names = [f"syscalls:sys_{side}_{call}" for call in calls for side in ("enter", "exit")]
    state: dict[str, object] = {"end": _heap_end(target)} if collector == "brk" else {}
    return Asked(names, [Probe("kernel", name, 0, "tracepoint") for name in names], state=state)


def _heap_end(target: Target) -> int:
    """To the page, as nearly all programs have it; 0 before the first call of brk()."""
    text = (target.directory / "maps").read_text(errors="surrogateescape")
    return next((mapping.end for mapping in parse_maps(text) if mapping.path == "[heap]"), 0)


def _allocator_events(
    target: Target, space: AddressSpace, uprobes: Uprobes, links: Path, *, reads_callers: bool
) -> Asked:
    found = [site for site in sites(space) if _makes_blocks(site) or (reads_callers and site.is_wrapper)]
    if not any(_makes_blocks(site) for site in found):
        raise CollectorError(
            f"no allocator function was found in process {target.pid} ({target.command}): "
            "its program may be linked statically and stripped of symbols"
        )
    asked = Asked([], [])
    for number, site in enumerate(found):
        event = _uprobe(number, site, links, reads_callers=reads_callers)
        uprobes.add([event])
        name = f"{uprobes.group}:{event.name}"
        asked.events.append(name)
        place = site.placements[0]
        asked.probes.append(Probe(site.module, site.symbol, place.offset, place.kind))
        assert site.allocator is not None
        asked.leaf_by_event[name] = site.allocator.leaf
        if site.is_wrapper:
            asked.span_by_wrapper[name] = [site.span.start, site.span.stop]
    return asked


def _makes_blocks(site: Site) -> bool:
    """It is told a size and makes the block itself: of a function that calls another, only the other counts."""
    known = site.allocator
    return known is not None and known.size > 0 and not site.is_wrapper and site.symbol not in _CALLS_ANOTHER


def _uprobe(number: int, site: Site, links: Path, *, reads_callers: bool) -> UprobeEvent:
    known = site.allocator
    assert known is not None
    offset = site.start + site.placements[0].offset
    arguments = [f"size=%{_REGISTERS[known.size - 1]}:x64"] if known.size else []
    if known.factor:
        arguments.append(f"count=%{_REGISTERS[known.factor - 1]}:x64")
    if reads_callers:
        argument = PERHAPS_KNOWN_CALLER if _may_have_caller(site.path, offset) else CALLER
        arguments.append(f"{argument}=+0(%sp):x64")
    name = "".join(letter if letter.isalnum() else "_" for letter in site.symbol)
    return UprobeEvent(f"{name}_{number}", _plain_path(site.path, links, number), offset, " ".join(arguments))


def _may_have_caller(path: str, offset: int) -> bool:
    """Whether a stack taken at this instruction can have the caller, of which frame pointers know nothing yet."""
    with Path(path).open("rb") as file:
        file.seek(offset)
        return kernel_version() >= _REPAIRS_CALLERS and file.read(4).startswith(_BEGINS_FUNCTION)


def _plain_path(path: str, links: Path, number: int) -> str:
    """tracefs takes words apart at spaces, so a path with one is given as a link."""
    if path.split() == [path]:
        return path
    link = links / f"library-{number}"
    link.symlink_to(path)
    return str(link)
