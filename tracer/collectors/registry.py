"""Collectors by name; one line each."""

from __future__ import annotations

import importlib

from tracer.collectors.collector import Collector, Open
from tracer.collectors.processes import Processes
from tracer.protocol import RunSpec

MODULES: dict[str, str] = {
    "malloc": "tracer.collectors.malloc",
    "brk": "tracer.collectors.brk",
    "mmap": "tracer.collectors.mmap",
    "page_faults": "tracer.collectors.page_faults",
}


def open_collector(spec: RunSpec, processes: Processes) -> Collector:
    """Attach the spec's collector; its module is loaded now, not before."""
    make: Open = importlib.import_module(MODULES[spec.collector]).open_collector
    return make(spec, processes)
