"""What each collector asks perf for: events, the arguments that a uprobe reads, and what their leaves are called."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from tracer.bpf.program import kernel_version
from tracer.collectors.allocators import Site, SiteFinder
from tracer.collectors.allocators_found import AllocatorsFound
from tracer.collectors.collector import Probe
from tracer.options.allocators import AllocatorOptions
from tracer.perf.uprobes import UprobeEvent, Uprobes
from tracer.perf.words import CALLER, PERHAPS_KNOWN_CALLER, RETURN_ADDRESS
from tracer.process.address_space import AddressSpace
from tracer.process.maps import parse_maps
from tracer.process.target import Target

_REGISTERS = ("di", "si", "dx", "cx", "r8", "r9")  # of arguments, as tracefs calls them
# Linux adds the caller to stacks taken at an instruction that begins a function; at endbr64 only if built with IBT.
_REPAIRS_CALLERS = (6, 12, 0)
_BEGINS_FUNCTION = (b"\x55", b"\xf3\x0f\x1e\xfa")  # push %rbp, endbr64


@dataclass(frozen=True, slots=True)
class Asked:
    """`state` is what the parser of samples starts with."""

    events: list[str]
    probes: list[Probe]
    leaf_by_event: dict[str, str] = field(default_factory=dict)
    span_by_event: dict[str, list[int]] = field(default_factory=dict)  # start and end of the function's code
    wrappers: list[str] = field(default_factory=list)  # events of functions that have others make their blocks
    state: dict[str, object] = field(default_factory=dict)
    facts: dict[str, object] = field(default_factory=dict)  # further keys of the capture


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
    found = SiteFinder(space, AllocatorOptions()).new_sites()
    allocators = AllocatorsFound(target, space, found)
    allocators.refuse_unfollowable(has_defaults=True)
    asked = Asked([], [], facts=allocators.facts())
    probed = [site for site in found if _makes_blocks(site) or (reads_callers and site.is_wrapper)]
    for number, site in enumerate(probed):
        event = _uprobe(number, site, links, reads_callers=reads_callers)
        uprobes.add([event])
        name = f"{uprobes.group}:{event.name}"
        asked.events.append(name)
        place = site.placements[0]
        asked.probes.append(Probe(site.module, site.symbol, place.offset, place.kind))
        assert site.allocator is not None
        asked.leaf_by_event[name] = site.allocator.leaf
        asked.span_by_event[name] = [site.span.start, site.span.stop]
        if site.is_wrapper:
            asked.wrappers.append(name)
    return asked


def _makes_blocks(site: Site) -> bool:
    """It is told a size; asprintf and its like are not, and what they have malloc make counts for malloc."""
    return site.allocator is not None and site.allocator.size > 0 and not site.is_wrapper


def _uprobe(number: int, site: Site, links: Path, *, reads_callers: bool) -> UprobeEvent:
    known, place = site.allocator, site.placements[0]
    assert known is not None
    offset = site.start + place.offset
    positions = {"size": known.size, "count": known.factor}
    arguments = [
        f"{name}=%{_REGISTERS[place.register(position) - 1]}:x64" for name, position in positions.items() if position
    ]
    arguments.append(f"{_caller_argument(site.path, offset, reads_callers=reads_callers)}=+0(%sp):x64")
    name = "".join(letter if letter.isalnum() else "_" for letter in site.symbol)
    return UprobeEvent(f"{name}_{number}", _plain_path(site.path, links, number), offset, " ".join(arguments))


def _caller_argument(path: str, offset: int, *, reads_callers: bool) -> str:
    if not reads_callers:
        return RETURN_ADDRESS
    return PERHAPS_KNOWN_CALLER if _may_have_caller(path, offset) else CALLER


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
