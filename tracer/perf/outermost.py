"""Nested calls of allocator functions to the outermost one: `operator new` calls malloc, and the block is new's.

Stacks can't tell, since these functions keep no frame pointer and may jump to each other. Return addresses can: that of
an inner call lies in the code of the outer function, or is the very one of the outer call if that jumped there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tracer.perf.words import CALLER, PERHAPS_KNOWN_CALLER, RETURN_ADDRESS, TRAMPOLINES
from tracer.profile.formats.perf_events import fields_of
from tracer.profile.formats.perf_lines import Header


@dataclass(frozen=True, slots=True)
class _Call:
    event: bytes
    span: range  # of its code
    caller: int

    def calls(self, inner: _Call) -> bool:
        """One call instruction calls one function: the same return address again, for another one, was a jump.

        So was one that another tracer has put in the place of the first.
        """
        is_jump = inner.caller == self.caller or inner.caller in TRAMPOLINES
        return inner.caller in self.span or (is_jump and inner.event != self.event)


@dataclass(slots=True)
class _Outer:
    """What a thread called last; of the inner calls the last of each function."""

    first: _Call
    stack: bytes
    wrappers: dict[bytes, _Call] = field(default_factory=dict)
    makers: dict[bytes, _Call] = field(default_factory=dict)


class Outermost:
    """Wrappers have others make their blocks; `span_by_event` has where the code of all functions is."""

    def __init__(self, span_by_event: Mapping[str, Sequence[int]], wrappers: Sequence[str]) -> None:
        self._span_by_event = {event.encode(): range(*span) for event, span in span_by_event.items()}
        self._wrappers = {event.encode() for event in wrappers}
        self._outer_by_thread: dict[int, _Outer] = {}

    def stack(self, header: Header, stack: bytes) -> bytes | None:
        """Where a call counts; None for one that is part of another, and for a wrapper's, which makes no block."""
        span = self._span_by_event.get(header.event)
        if span is None:
            return stack
        call = _Call(header.event, span, _caller(header))
        outer = self._outer_by_thread.get(header.tid)
        if outer is not None and call == outer.first:  # in a loop, it is called again from the same place
            outer = None
        if outer is not None and any(maker.calls(call) for maker in outer.makers.values()):
            outer.makers[call.event] = call
            return None
        if outer is None or not any(wrapper.calls(call) for wrapper in outer.wrappers.values()):
            outer = self._outer_by_thread[header.tid] = _Outer(call, stack)
        if call.event in self._wrappers:
            outer.wrappers[call.event] = call
            return None
        outer.makers[call.event] = call
        return outer.stack


def _caller(header: Header) -> int:
    fields = fields_of(header.payload)
    return next((fields[name] for name in (CALLER, PERHAPS_KNOWN_CALLER, RETURN_ADDRESS) if name in fields), 0)
