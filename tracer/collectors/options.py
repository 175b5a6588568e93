"""Sizes and switches of a run spec's `options`: their defaults and bounds."""

from __future__ import annotations

from collections.abc import Mapping

from tracer.collectors.errors import CollectorError
from tracer.options.allocators import ALLOCATOR_OPTIONS
from tracer.options.blocks import BLOCK_OPTIONS
from tracer.options.errors import BadOption
from tracer.options.limits import LIMIT_OPTIONS, MAP_SIZES, Bounds, check_size
from tracer.options.modes import MODE_OPTIONS
from tracer.options.perf import SOURCE, is_by_perf
from tracer.options.unwind import UNWIND
from tracer.protocol import RunSpec, check_run_options

OPTIONS: dict[str, Bounds] = {
    **MAP_SIZES,
    "unwinds_a_second": Bounds(2000, 10, 100_000),  # of faults or new stacks; each takes 0.1 ms outside of the process
    "lines": Bounds(0, 0, 1),  # 1: frames end with file and line, where debug information tells them
    "follow_children": Bounds(0, 0, 1),
    "by_process": Bounds(0, 0, 1),  # 1: a frame for the process at the root of each stack
    "multi_links": Bounds(1, 0, 1),  # 0: one perf event a probe, as on kernels before 6.6
    "session_links": Bounds(1, 0, 1),  # 0: a link each for entries and returns, as on kernels before 6.13
}


def option(spec: RunSpec, name: str) -> int:
    return checked(name, spec.options.get(name, OPTIONS[name].default))


def check_options(spec: RunSpec) -> None:
    """Refuse what no collector knows: a misspelt size would be ignored in silence."""
    try:
        if not is_by_perf(spec.options):
            _check_own(spec.options)
        check_run_options(spec.collector, spec.options)
    except BadOption as error:
        raise CollectorError(str(error)) from None


def _check_own(options: Mapping[str, int | str]) -> None:
    for name, value in options.items():
        if name not in (*BLOCK_OPTIONS, *ALLOCATOR_OPTIONS, *LIMIT_OPTIONS, *MODE_OPTIONS, UNWIND, SOURCE):
            checked(name, value)


def checked(name: str, value: object) -> int:
    if name not in OPTIONS:
        known = dict.fromkeys([*OPTIONS, *LIMIT_OPTIONS, *BLOCK_OPTIONS, *ALLOCATOR_OPTIONS, *MODE_OPTIONS, UNWIND])
        raise CollectorError(f"there is no option {name!r}, there is {', '.join(known)}")
    try:
        return check_size(name, value, OPTIONS[name])
    except BadOption as error:
        raise CollectorError(str(error)) from None
