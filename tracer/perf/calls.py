"""Samples of perf to what a collector counts: bytes asked for, moved and mapped, calls, faults."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Protocol

from tracer.profile.formats.perf_events import fields_of
from tracer.profile.formats.perf_lines import Header

Values = tuple[int, ...]
_PAGE_BYTES = 4096
_OLDEST_ERROR = (1 << 64) - 4095  # what a failed system call returns, as an unsigned number
_ADDRESS_BYTES = 1 << 47  # of a process; who asks for more asks in vain


class Counting(Protocol):
    """`state` outlives a part of the recording: a call can begin in one and end in the next."""

    names: tuple[str, ...]  # of the value types

    def take(self, header: Header) -> Values | None:
        """What this sample adds to its stack; None if nothing."""

    def state(self) -> Mapping[str, Any]: ...


class Requests:
    """Entries of allocator functions, with size, members and the address of the caller as arguments."""

    names = ("requested_bytes", "calls")

    def __init__(self, state: Mapping[str, Any]) -> None:
        pass

    def take(self, header: Header) -> Values:
        fields = fields_of(header.payload)
        size = fields.get("size", 0) * fields.get("count", 1)
        return (size if size < _ADDRESS_BYTES else 0), 1

    def state(self) -> Mapping[str, Any]:
        return {}


class Faults:
    names = ("minor_faults", "major_faults")

    def __init__(self, state: Mapping[str, Any]) -> None:
        pass

    def take(self, header: Header) -> Values:
        return (0, 1) if header.event.startswith(b"major") else (1, 0)

    def state(self) -> Mapping[str, Any]:
        return {}


class _SystemCalls(ABC):
    """Entries remembered by thread until their exit tells the result."""

    def __init__(self, state: Mapping[str, Any]) -> None:
        self._entered: dict[str, dict[str, int]] = dict(state.get("entered", {}))

    def take(self, header: Header) -> Values | None:
        if b"sys_enter_" in header.event:
            self._entered[str(header.tid)] = fields_of(header.payload)
            return None
        fields = self._entered.pop(str(header.tid), None)
        if fields is None or not header.payload.startswith(b"0x"):
            return None
        return self._returned(fields, int(header.payload, 0))

    def state(self) -> Mapping[str, Any]:
        return {"entered": self._entered}

    @abstractmethod
    def _returned(self, fields: Mapping[str, int], result: int) -> Values | None:
        """What a call with these arguments counts, now that its result is known."""


class Mappings(_SystemCalls):
    names = ("mapped_bytes", "calls")

    def _returned(self, fields: Mapping[str, int], result: int) -> Values | None:
        size = fields.get("new_len", fields.get("len", 0))
        return None if result >= _OLDEST_ERROR else (-(-size // _PAGE_BYTES) * _PAGE_BYTES, 1)


class HeapEnds(_SystemCalls):
    """A call has failed if it asked for an end and did not get that one; brk(0) only asks where it is."""

    names = ("heap_bytes", "calls", "failed_calls")

    def __init__(self, state: Mapping[str, Any]) -> None:
        super().__init__(state)
        self._end = int(state.get("end", 0))  # 0: not known

    def state(self) -> Mapping[str, Any]:
        return {**super().state(), "end": self._end}

    def _returned(self, fields: Mapping[str, int], result: int) -> Values:
        moved = result - self._end if self._end else 0
        self._end = result
        return moved, 1, int(fields.get("brk", 0) not in (0, result))


COUNTINGS: Mapping[str, type[Requests] | type[Faults] | type[Mappings] | type[HeapEnds]] = {
    "malloc": Requests,
    "page_faults": Faults,
    "mmap": Mappings,
    "brk": HeapEnds,
}
