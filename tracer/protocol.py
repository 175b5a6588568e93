"""The contract between the site, the agents and the command line: collectors, value types, specs, names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from tracer.options.allocators import check_allocator_options
from tracer.options.blocks import COLLECTOR as BLOCK_COLLECTOR
from tracer.options.blocks import OLDEST_BAND, BlockOptions, age_of, age_words, check_block_options
from tracer.options.limits import check_limits
from tracer.options.modes import SAMPLE_BYTES, ModeOptions, check_mode, mode_captured, size_text
from tracer.options.perf import check_perf_options, is_by_perf
from tracer.options.pull import PULLED, check_pull_options, refuse_pull_options
from tracer.options.unwind import check_unwind
from tracer.profile.model import ValueType
from tracer.selector import Selector

PROTOCOL_VERSION = 1

# --- collectors and their value types (DESIGN.md 4.1), the first is the default -------------------------------------

_OUTSTANDING_BYTES = ValueType("outstanding_bytes", "bytes", "level", "Bytes allocated while tracing and not freed yet")
HEAP_VALUE_TYPES = (
    ValueType("inuse_bytes", "bytes", "level", "Bytes in use when the profile was taken"),
    ValueType("inuse_objects", "objects", "level", "Objects in use when the profile was taken"),
    ValueType("alloc_bytes", "bytes", "flow", "Bytes allocated since the program began, freed since or not"),
    ValueType("alloc_objects", "objects", "flow", "Objects allocated since the program began, freed since or not"),
)
"""Of a profile that the process makes itself; the last two only where it counts them."""
_VALUE_TYPES: Mapping[str, tuple[ValueType, ...]] = {
    "malloc": (
        _OUTSTANDING_BYTES,
        ValueType("outstanding_objects", "objects", "level", "Objects allocated while tracing and not freed yet"),
        ValueType("allocated_bytes", "bytes", "flow", "Bytes allocated while tracing, freed since or not"),
        ValueType("allocated_objects", "objects", "flow", "Objects allocated while tracing, freed since or not"),
    ),
    "brk": (
        ValueType("heap_bytes", "bytes", "flow", "Bytes by which brk() moved the end of the heap", is_signed=True),
        ValueType("calls", "calls", "flow", "Calls of brk()"),
        ValueType("failed_calls", "calls", "flow", "Calls of brk() that did not get what they asked for"),
    ),
    "mmap": (
        ValueType("outstanding_bytes", "bytes", "level", "Bytes mapped while tracing and not unmapped yet"),
        ValueType("mapped_bytes", "bytes", "flow", "Bytes mapped while tracing, unmapped since or not"),
        ValueType("calls", "calls", "flow", "Successful calls of mmap() and mremap()"),
    ),
    "page_faults": (
        ValueType("minor_faults", "faults", "flow", "Page faults served without reading a file"),
        ValueType("major_faults", "faults", "flow", "Page faults that had to wait for a read"),
    ),
    **dict.fromkeys(PULLED, HEAP_VALUE_TYPES),
}
_CALL_VALUE_TYPES = (
    ValueType("requested_bytes", "bytes", "flow", "Bytes that allocator calls asked for while tracing"),
    ValueType("calls", "calls", "flow", "Allocator calls while tracing"),
)
"""Of malloc in mode calls."""
_BY_PERF: Mapping[str, tuple[ValueType, ...]] = {
    **_VALUE_TYPES,
    "malloc": _CALL_VALUE_TYPES,
    "mmap": tuple(known for known in _VALUE_TYPES["mmap"] if known.kind == "flow"),
}


@dataclass(frozen=True, slots=True)
class CollectorFacts:
    """What the New-run page and the documentation say of a collector."""

    name: str
    title: str
    sees: str
    costs: str
    value_types: tuple[ValueType, ...]
    misses: str


COLLECTORS: Mapping[str, CollectorFacts] = {
    facts.name: facts
    for facts in (
        CollectorFacts(
            "malloc",
            "Allocator calls",
            "Each malloc, calloc, realloc, new and free: which code path holds memory that it has not given back.",
            "3 to 5 µs for each malloc and its free: noticeable above 10,000 calls a second.",
            _VALUE_TYPES["malloc"],
            "Memory mapped by hand, pools that hand out parts of a block, and blocks from before the recording.",
        ),
        CollectorFacts(
            "brk",
            "Heap growth by brk()",
            "The moments at which the heap itself grows or shrinks: few events, and the path that pushed it.",
            "Next to nothing: a few calls a minute, about 2 µs each.",
            _VALUE_TYPES["brk"],
            "Heaps that are mapped: large blocks and the arenas of threads.",
        ),
        CollectorFacts(
            "mmap",
            "Mappings",
            "Each mmap, munmap and mremap: mapped memory that was never unmapped, thread stacks and arenas among it.",
            "About 2 µs for each mapping; services map rarely.",
            _VALUE_TYPES["mmap"],
            "The heap that brk() moves, and whether what is mapped was ever touched.",
        ),
        CollectorFacts(
            "page_faults",
            "Page faults",
            "The code that touches memory for the first time, which is where the resident set grows.",
            "1 to 3 µs for each fault.",
            _VALUE_TYPES["page_faults"],
            "Bytes: a fault can map one page, many pages of a file, or a huge page.",
        ),
        CollectorFacts(
            "jemalloc",
            "jemalloc’s own profile",
            "What the program holds, as its own jemalloc samples it: pulled from an endpoint, or from files it writes.",
            "Nothing but the pull: jemalloc samples anyway.",
            _VALUE_TYPES["jemalloc"],
            "Programs that were started without prof:true, small blocks between samples, and memory beside jemalloc.",
        ),
        CollectorFacts(
            "tcmalloc",
            "tcmalloc’s own profile",
            "What the program holds, as its own tcmalloc samples it: from /pprof/heap, or from files of HEAPPROFILE.",
            "Nothing but the pull: tcmalloc samples anyway.",
            _VALUE_TYPES["tcmalloc"],
            "Programs that do not sample, small blocks between samples, and memory beside tcmalloc.",
        ),
        CollectorFacts(
            "pprof",
            "pprof heap endpoint",
            "What the program holds, as it tells in pprof’s format: /debug/pprof/heap of Go, and of Rust and others.",
            "Nothing but the pull: Go samples anyway.",
            _VALUE_TYPES["pprof"],
            "Small blocks between samples, what Go freed since its last collection, and memory beside its heap.",
        ),
    )
}
TRACED = tuple(name for name in COLLECTORS if name not in PULLED)
"""Collectors that count in the kernel."""


def value_type_named(name: str, collector: str | None = None) -> ValueType:
    """The value type of that name, of that collector if given; an unknown name is an import's own flow."""
    own = _VALUE_TYPES.get(collector or "")
    tables = [own] if own is not None else list(_VALUE_TYPES.values())
    if collector in (None, BLOCK_COLLECTOR):
        tables.append(_CALL_VALUE_TYPES)
    for table in tables:
        for value_type in table:
            if value_type.name == name:
                return value_type
    band = age_band_named(name) if collector in (None, BLOCK_COLLECTOR) else None
    return band or imported_value_type(name)


def value_types_of(collector: str, options: Mapping[str, int | str]) -> tuple[ValueType, ...]:
    """What a recording with these options counts; BadOption says which of them can't be."""
    own = COLLECTORS[collector].value_types
    if collector in TRACED and is_by_perf(options):
        return _BY_PERF[collector]
    if collector != BLOCK_COLLECTOR:
        return own
    mode = ModeOptions.of(options)
    if mode.is_calls:
        return _CALL_VALUE_TYPES
    names = [f"{_OUTSTANDING_BYTES.name}.{band}" for band in BlockOptions.of(options).band_names]
    known = (*own, *(value_type_named(name, collector) for name in names))
    return tuple(as_counted(value_type, mode) for value_type in known)


def as_counted(value_type: ValueType, mode: ModeOptions | None) -> ValueType:
    """With a meaning that says so, where a mode estimates the values."""
    if mode is None or not mode.is_sampled:
        return value_type
    return replace(value_type, meaning=f"{value_type.meaning}, {mode.words}")


def as_captured(value_type: ValueType, capture: Mapping[str, object]) -> ValueType:
    """With a meaning that says how it was estimated, as far as its snapshot tells."""
    sample_bytes = capture.get(SAMPLE_BYTES)
    if capture.get("collector") in PULLED and isinstance(sample_bytes, int) and 1 < sample_bytes < 1 << 62:
        about = f"estimated from samples every {size_text(sample_bytes)}"
        return replace(value_type, meaning=f"{value_type.meaning}, {about}")
    return as_counted(value_type, mode_captured(capture))


def age_band_named(name: str) -> ValueType | None:
    """The part of malloc's outstanding bytes that is of an age, such as `outstanding_bytes.lt10s`.

    A name does not tell the other bands' bounds, so neither does the meaning.
    """
    whole, _, band = name.partition(".")
    if whole != _OUTSTANDING_BYTES.name:
        return None
    if band == OLDEST_BAND:
        return ValueType(name, "bytes", "level", "Bytes allocated before those of all younger bands and not freed yet")
    age_s = age_of(band.removeprefix("lt")) if band.startswith("lt") else None
    if age_s is None:
        return None
    age = f"less than {age_words(age_s)} before the snapshot"
    return ValueType(name, "bytes", "level", f"Bytes allocated {age} and not freed yet, younger bands left out")


def imported_value_type(name: str, *, is_float: bool = False, is_signed: bool = False) -> ValueType:
    """A value type that only its name tells of: its unit is read off the name's end, its kind is flow."""
    last = name.rsplit("_", 1)[-1]
    unit = last if last in ("bytes", "objects", "calls", "pages", "faults") else name
    words = name.replace("_", " ")
    return ValueType(
        name,
        unit,
        "flow",
        f"{words[:1].upper()}{words[1:]} as counted by the tool that wrote the file",
        is_signed=is_signed,
        is_float=is_float,
    )


# --- capture: what a snapshot says of its own making ----------------------------------------------------------------

CAPTURE_KEYS = (
    "collector",  # name in COLLECTORS
    "pid",  # of the first process
    "command",
    "pids",  # [{"pid": …, "start_time": …, "command": …}]: all processes, where there are several
    "host",
    "started_at",  # of the target; started_at: run start, ISO 8601 UTC
    "elapsed_s",  # from "attached" to this snapshot
    "interval_s",  # that flows cover, where a service pushes those of the last seconds only
    "value_type",  # of a text that names none, as who pushed it told
    "events",  # counted in the kernel: allocations and frees, calls, faults
    "lost",  # {cause: count}; causes in LOSS_CAUSES
    "truncated_stacks",  # had more frames than were captured
    "broken_unwinds",  # stacks whose unwinding ended before their root
    "unresolved_frames",
    "frames",
    "build_ids",  # {module: build id in hexadecimal} of modules with unresolved frames, to name them later
    "modules",  # {module: path} of such modules, where the source tells it
    "offsets",  # OFFSETS_IN_IMAGE, where those of frames without a name are no offsets in their file
    "probes",  # [{"module": …, "symbol": …, "offset": …, "kind": one of PROBE_KINDS}]
    "allocator",  # file name of the module whose malloc the program calls
    "allocators",  # file names of all modules that have one
    "mode",  # of malloc: exact, sampled or calls
    "mode_reason",  # a sentence: why, if that was chosen for the user
    "sample_bytes",  # of mode sampled: one block is followed for each so many, on average
    "sample_period",  # [number, unit, of what]: between two samples of a profile whose values count them
    "is_unscaled",  # sampled sizes, which nothing scaled to what they stand for: the file names no rate
    "counted",  # of mode sampled: {value type: number}, exact over all stacks
    "filters",  # {option: value}: options that leave blocks out, of BlockOptions.filters
    "shares",  # of the default value type, 0 to 1: profile/gaps.py
    "unresolved_by_module",  # {file: value of the default value type whose stacks pass through nameless places of it}
    "failed_stacks",  # {name of the kernel's error: count}, of the lost ones
    "unknown_frees",  # of blocks from before the recording, or given back by the C library itself
    "grade",  # "A", "B", "C", "D", or "" where the losses are not told: profile/grade.py
    "overhead",  # {"share", "peak_share", "own_share", "budget": of one core, "trap_ns": {kind: ns}, "is_measured"}
    "source",  # perf; without it, our own programs in the kernel
    "pulled_from",  # address or path, of a profile that the process made itself
    "modules",  # {module: path} of modules with unresolved frames, as their process sees them
    "unwind",  # how malloc's stacks were found: fp or dwarf
    "unwind_reason",  # a sentence: why, if that was chosen for the user
    "notes",  # [sentence]
)
"""Keys of `Profile.capture`, written as `# capture: {json}` under the folded header. All are optional."""

OFFSETS_IN_IMAGE = "image"  # distances from where the file was loaded

PROBE_KINDS = ("emulated", "single-step", "tracepoint", "perf event")

LOSS_CAUSES: Mapping[str, str] = {
    "stack_map_full": "the stack map was full",
    "allocation_map_full": "the allocation map was full",
    "ring_buffer_full": "the ring buffer was full",
    "failed_stack": "the kernel could not read the stack",
    "perf_lost": "perf could not keep up with them",
    "call_map_full": "more threads were inside a call than the map of calls holds",
    "missed": "the kernel was busy with another program on that processor",
}


# --- run spec: site -> agent, and command line -> collector -----------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RunSpec:
    """One recording to make. `start_time` is the target's start in clock ticks since boot (/proc/PID/stat field 22);
    0 means that the pid alone names it. `target` is the text of a Selector that names several processes; the host
    looks for them when the recording starts, and `pid` is the first one's, or 0."""

    run: str
    collector: str
    pid: int = 0
    start_time: int = 0
    target: str = ""
    duration_s: float = 10.0
    snapshot_every_s: float = 0.0  # 0: one snapshot, at the end; of a pulled profile the only one, at once
    options: Mapping[str, int | str] = field(default_factory=dict)  # map sizes and the like; numbers and enums only

    @property
    def selector(self) -> Selector:
        return Selector.parse(self.target) if self.target else Selector.of_pids([(self.pid, self.start_time)])

    @property
    def is_pulled(self) -> bool:
        """The process makes the profile itself; pid 0 says that nobody knows which process."""
        return self.collector in PULLED

    def to_dict(self) -> dict[str, Any]:
        return {"v": PROTOCOL_VERSION, **asdict(self), "options": dict(self.options)}

    @classmethod
    def from_dict(cls, raw: Mapping[str, Any]) -> RunSpec:
        """Read what the site sent; ValueError names what is wrong with it."""
        if raw.get("v") != PROTOCOL_VERSION:
            raise ValueError(f"run spec has version {raw.get('v')!r}, this agent speaks {PROTOCOL_VERSION}")
        spec = cls(
            run=str(raw["run"]),
            collector=str(raw["collector"]),
            pid=int(raw.get("pid", 0)),
            start_time=int(raw.get("start_time", 0)),
            target=str(raw.get("target", "")),
            duration_s=float(raw["duration_s"]),
            snapshot_every_s=float(raw.get("snapshot_every_s", 0)),
            options=dict(raw.get("options", {})),
        )
        if spec.collector not in COLLECTORS:
            raise ValueError(f"unknown collector {spec.collector!r}, there is {', '.join(COLLECTORS)}")
        if spec.target:
            Selector.parse(spec.target)
        elif spec.pid < 0 or (spec.pid == 0 and not spec.is_pulled):
            raise ValueError(f"pid is {spec.pid}, it must be positive")
        if not 0 < spec.duration_s <= MAX_DURATION_S:
            raise ValueError(f"duration is {spec.duration_s:g} s, the limit is {MAX_DURATION_S} s")
        check_run_options(spec.collector, spec.options)
        return spec


def check_run_options(collector: str, options: Mapping[str, int | str]) -> None:
    """BadOption for a value that can't be, and for an option that this collector does not have."""
    if collector in PULLED:
        check_pull_options(collector, options)
        return
    refuse_pull_options(collector, options)
    check_perf_options(collector, options)
    if is_by_perf(options):
        return
    check_block_options(collector, options)
    check_allocator_options(collector, options)
    check_limits(collector, options)
    check_unwind(collector, options)
    check_mode(collector, options)


MAX_DURATION_S = 3600
MAX_SNAPSHOTS = 2000  # DESIGN.md 4.7

# --- states and the agent's conversation ------------------------------------------------------------------------------

RunState = Literal["queued", "claimed", "recording", "ingesting", "ready", "failed", "cancelled"]
ACTIVE_STATES: tuple[RunState, ...] = ("queued", "claimed", "recording", "ingesting")

LEASE_S = 15.0  # an agent that is silent for longer has lost its run
PROGRESS_EVERY_S = 0.5  # cancel must act within 2 s, and at most 4 posts a second are wanted
HEARTBEAT_EVERY_S = 3.0
POLL_EVERY_S = 5.0  # an agent asks for work by itself, in case a nudge was lost

# --- task and queue names ---------------------------------------------------------------------------------------------

TASK_RUN_READY = "memflame.run.ready"  # on the host's queue; argument: id of a run or an estimate
TASK_NAME_SNAPSHOT = "memflame.symbols.name"  # on INGEST_QUEUE; argument: snapshot primary key
TASK_INGEST_SNAPSHOT = "memflame.ingest.snapshot"  # on INGEST_QUEUE; arguments: snapshot primary key
INGEST_QUEUE = "ingest"


def host_queue(host_id: str) -> str:
    """Celery queue of one host; an agent listens to its own only."""
    return f"host.{host_id}"
