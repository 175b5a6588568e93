"""Code that turns a live process into stacks and values; nothing here loads bcc before a recording starts."""

from __future__ import annotations

from tracer.collectors.errors import CollectorError
from tracer.collectors.perf_recording import PerfRecording
from tracer.collectors.recording import Progress, Recording
from tracer.options.perf import is_by_perf
from tracer.protocol import RunSpec

__all__ = ["CollectorError", "PerfRecording", "Progress", "Recording", "start"]


def start(spec: RunSpec, *, own_root: int = 0) -> Recording | PerfRecording:
    """A recording that attaches when it is entered; CollectorError tells people what is wrong.

    An agent's process is `own_root`: it and those that it started are never recorded.
    """
    kind = PerfRecording if is_by_perf(spec.options) else Recording
    return kind(spec, own_root=own_root)
