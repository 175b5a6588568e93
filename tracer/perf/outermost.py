"""Nested calls of allocator functions to the outermost one: `operator new` calls malloc, and the block is new's.

Frame pointers can't tell whose call it is, since `operator new` keeps none. The return address can: malloc's lies in
the code of `operator new`, or is the very one of `operator new` if that jumped there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tracer.perf.words import CALLER, PERHAPS_KNOWN_CALLER
from tracer.profile.formats.perf_events import fields_of
from tracer.profile.formats.perf_lines import Header


@dataclass(slots=True)
class _Outer:
    stack: bytes
    caller: int
    spans: list[range]  # its code, and that of wrappers which it called


class Outermost:
    """Wrappers make no blocks themselves; `span_by_event` has where their code is."""

    def __init__(self, span_by_event: Mapping[str, Sequence[int]]) -> None:
        self._span_by_event = {event.encode(): range(*span) for event, span in span_by_event.items()}
        self._outer_by_thread: dict[int, _Outer] = {}

    def stack(self, header: Header, stack: bytes) -> bytes | None:
        """Where a call counts; None for the entry of a wrapper, whose own call of an allocator follows."""
        if not self._span_by_event:
            return stack
        caller = caller_of(header) or 0
        outer = self._outer_by_thread.get(header.tid)
        is_nested = outer is not None and (caller == outer.caller or any(caller in span for span in outer.spans))
        span = self._span_by_event.get(header.event)
        if span is None:
            self._outer_by_thread.pop(header.tid, None)
            return outer.stack if outer is not None and is_nested else stack
        if outer is not None and is_nested:
            outer.spans.append(span)
        else:
            self._outer_by_thread[header.tid] = _Outer(stack, caller, [span])
        return None


def caller_of(header: Header) -> int | None:
    fields = fields_of(header.payload)
    return fields.get(CALLER, fields.get(PERHAPS_KNOWN_CALLER))
