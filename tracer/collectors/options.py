"""Sizes and switches of a run spec's `options`: their defaults and bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tracer.block_options import BLOCK_OPTIONS, BadOption, check_block_options
from tracer.collectors.errors import CollectorError
from tracer.perf_options import check_perf_options, is_by_perf
from tracer.protocol import RunSpec


@dataclass(frozen=True, slots=True)
class Bounds:
    default: int
    lowest: int
    highest: int


# Maps are allocated whole when a recording starts; the bounds keep all of them together below 512 MiB.
OPTIONS: dict[str, Bounds] = {
    "max_stacks": Bounds(16_384, 16, 131_072),  # 1 kB each
    "max_blocks": Bounds(1 << 20, 16, 1 << 22),  # 96 bytes each, live ones
    "max_calls": Bounds(16_384, 16, 131_072),  # threads inside a traced call
    "ring_pages": Bounds(4096, 8, 16_384),  # of 4 kB
    "unwinds_a_second": Bounds(2000, 10, 100_000),  # of faults; each takes 0.1 ms outside of the process
    "multi_links": Bounds(1, 0, 1),  # 0: one perf event a probe, as on kernels before 6.6
}


def option(spec: RunSpec, name: str) -> int:
    return checked(name, spec.options.get(name, OPTIONS[name].default))


def check_options(spec: RunSpec) -> None:
    """Refuse what no collector knows: a misspelt size would be ignored in silence."""
    try:
        check_perf_options(spec.collector, spec.options)
        if is_by_perf(spec.options):
            return
    except BadOption as error:
        raise CollectorError(str(error)) from None
    for name, value in spec.options.items():
        if name not in (*BLOCK_OPTIONS, "source"):
            checked(name, value)
    try:
        check_block_options(spec.collector, spec.options)
    except BadOption as error:
        raise CollectorError(str(error)) from None


def checked(name: str, value: Any) -> int:
    if name not in OPTIONS:
        raise CollectorError(f"there is no option {name!r}, there is {', '.join([*OPTIONS, *BLOCK_OPTIONS])}")
    bounds = OPTIONS[name]
    if not isinstance(value, int) or not bounds.lowest <= value <= bounds.highest:
        raise CollectorError(f"option {name} is {value!r}, it must be from {bounds.lowest:,} to {bounds.highest:,}")
    if name == "ring_pages" and value & (value - 1):
        raise CollectorError(f"option {name} is {value}, it must be a power of two")
    return value
