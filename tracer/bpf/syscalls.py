"""bpf(2) and perf_event_open(2): what bcc's Python does not pass on whole, each failure an OSError with its errno."""

from __future__ import annotations

import ctypes
import fcntl
import os
import struct
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

# Numbers of x86_64 and of uapi/linux/bpf.h, uapi/linux/perf_event.h: part of the kernel's ABI.
_NR_BPF, _NR_PERF_EVENT_OPEN = 321, 298
_MAP_LOOKUP, _MAP_UPDATE, _MAP_DELETE, _PROG_LOAD, _LINK_CREATE, _MAP_LOOKUP_BATCH = 1, 2, 3, 5, 28, 24
_PROG_NEXT_ID, _OBJECT_INFO, _LINK_NEXT_ID, _ENABLE_STATS = 11, 15, 31, 32
_PROG_TYPE_KPROBE = 2
_ATTACH_PERF_EVENT = 41
ATTACH_UPROBE_MULTI, ATTACH_UPROBE_SESSION = 48, 57
_PERF_ATTR_BYTES = 112  # PERF_ATTR_SIZE_VER5
_PERF_TYPE_SOFTWARE, _PERF_TYPE_TRACEPOINT = 1, 2
_PERF_SET_BPF, _PERF_ENABLE = 0x40042408, 0x2400
_CLOSE_ON_EXEC = 8  # PERF_FLAG_FD_CLOEXEC
_RETURN_FLAG = 1
EVERY_PROCESS = -1  # in place of a pid
_STATS_RUN_TIME, _RUNS_AT = 0, 192  # BPF_STATS_RUN_TIME; where bpf_prog_info has run_time_ns and run_cnt

_libc = ctypes.CDLL(None, use_errno=True)


def _syscall(number: int, *arguments: object) -> int:
    result = int(_libc.syscall(ctypes.c_long(number), *arguments))
    if result < 0:
        errno = ctypes.get_errno()
        raise OSError(errno, os.strerror(errno))
    return result


def _bpf(command: int, attributes: ctypes.Array[ctypes.c_char]) -> int:
    size = ctypes.c_uint(len(attributes))
    return _syscall(_NR_BPF, ctypes.c_int(command), ctypes.byref(attributes), size)


def _attributes(layout: str, *values: int) -> ctypes.Array[ctypes.c_char]:
    return ctypes.create_string_buffer(struct.pack(layout, *values), 128)


# --- maps -------------------------------------------------------------------------------------------------------------


def lookup(map_fd: int, key: bytes, value_bytes: int) -> bytes | None:
    value = ctypes.create_string_buffer(value_bytes)
    name = ctypes.create_string_buffer(key, len(key))
    attributes = _attributes("=IxxxxQQQ", map_fd, ctypes.addressof(name), ctypes.addressof(value), 0)
    try:
        _bpf(_MAP_LOOKUP, attributes)
    except FileNotFoundError:
        return None
    return value.raw


def update(map_fd: int, key: bytes, value: bytes) -> None:
    name, content = ctypes.create_string_buffer(key, len(key)), ctypes.create_string_buffer(value, len(value))
    _bpf(_MAP_UPDATE, _attributes("=IxxxxQQQ", map_fd, ctypes.addressof(name), ctypes.addressof(content), 0))


def delete(map_fd: int, key: bytes) -> None:
    name = ctypes.create_string_buffer(key, len(key))
    with suppress(FileNotFoundError):
        _bpf(_MAP_DELETE, _attributes("=IxxxxQQQ", map_fd, ctypes.addressof(name), 0, 0))


def lookup_all(map_fd: int, *, key_bytes: int, value_bytes: int, max_entries: int) -> Iterator[tuple[bytes, bytes]]:
    """All entries of a hash map, as they were in one reading."""
    keys, values = _copy(map_fd, key_bytes=key_bytes, value_bytes=value_bytes, max_entries=max_entries)
    for key, value in zip(range(0, len(keys), key_bytes), range(0, len(values), value_bytes), strict=True):
        yield bytes(keys[key : key + key_bytes]), bytes(values[value : value + value_bytes])


def lookup_values(map_fd: int, *, key_bytes: int, value_bytes: int, max_entries: int) -> memoryview:
    """The values of a hash map, one behind the other: a million of them should not become a million objects."""
    return _copy(map_fd, key_bytes=key_bytes, value_bytes=value_bytes, max_entries=max_entries)[1]


def _copy(map_fd: int, *, key_bytes: int, value_bytes: int, max_entries: int) -> tuple[memoryview, memoryview]:
    """Keys and values; one call copies a map whole, so the buffers are as large as the map may be."""
    keys = ctypes.create_string_buffer(key_bytes * max_entries)
    values = ctypes.create_string_buffer(value_bytes * max_entries)
    cursor = ctypes.create_string_buffer(8)
    attributes = _attributes(
        "=QQQQIIQQ", 0, ctypes.addressof(cursor), ctypes.addressof(keys), ctypes.addressof(values),
        max_entries, map_fd, 0, 0,
    )  # fmt: skip
    with suppress(FileNotFoundError):  # it says that this was the last batch
        _bpf(_MAP_LOOKUP_BATCH, attributes)
    (count,) = struct.unpack_from("=I", attributes, 32)
    return memoryview(keys)[: count * key_bytes], memoryview(values)[: count * value_bytes]


# --- programs, links, perf events -------------------------------------------------------------------------------------


def load_trivial_program(attach_type: int = 0) -> int:
    """Load `return 0`: shows that this process may load tracing programs at all, and what a probe costs by itself."""
    code = struct.pack("=BBhiBBhi", 0xB7, 0, 0, 0, 0x95, 0, 0, 0)  # r0 = 0; exit
    instructions, licence = ctypes.create_string_buffer(code, len(code)), ctypes.create_string_buffer(b"GPL")
    pointers = ctypes.addressof(instructions), ctypes.addressof(licence)
    count = len(code) // 8
    return _bpf(_PROG_LOAD, _attributes("=IIQQ44xI", _PROG_TYPE_KPROBE, count, *pointers, attach_type))


def link_uprobes(
    program_fd: int, path: str, offsets: Sequence[int], cookies: Sequence[int], *, pid: int, is_return: bool,
    attach_type: int = ATTACH_UPROBE_MULTI,
) -> int:  # fmt: skip
    """One link for many probes of one file (Linux 6.6): it goes away in one grace period instead of one a probe."""
    count = len(offsets)
    name = ctypes.create_string_buffer(os.fsencode(path))
    places, marks = (ctypes.c_uint64 * count)(*offsets), (ctypes.c_uint64 * count)(*cookies)
    addresses = ctypes.addressof(name), ctypes.addressof(places), 0, ctypes.addressof(marks)
    flags = _RETURN_FLAG if is_return else 0
    return _bpf(
        _LINK_CREATE,
        _attributes("=IIIIQQQQIII", program_fd, 0, attach_type, 0, *addresses, count, flags, max(0, pid)),
    )


def link_perf_event(program_fd: int, event_fd: int, cookie: int) -> int:
    """Run a program on a perf event and tell it `cookie` (Linux 5.15)."""
    return _bpf(_LINK_CREATE, _attributes("=IIIIQ", program_fd, event_fd, _ATTACH_PERF_EVENT, 0, cookie))


def open_uprobe(path: str, offset: int, *, pid: int, is_return: bool, reference_counter: int = 0) -> int:
    """A perf event at one instruction; `reference_counter` is the file offset of a USDT semaphore."""
    name = ctypes.create_string_buffer(os.fsencode(path))
    cpu = 0 if pid == EVERY_PROCESS else -1  # the kernel wants one named; programs run on all of them
    config = (_RETURN_FLAG if is_return else 0) | reference_counter << 32
    return _perf_event(_uprobe_type(), config, ctypes.addressof(name), offset, pid=pid, cpu=cpu)


def open_software_event(config: int, *, cpu: int) -> int:
    """A perf software event that fires each time, on one processor, for all processes."""
    return _perf_event(_PERF_TYPE_SOFTWARE, config, 0, 0, pid=-1, cpu=cpu, period=1)


def open_tracepoint(number: int, *, pid: int) -> int:
    """Counts a tracepoint in a thread, 0 being this one; read(2) gives the count."""
    return _perf_event(_PERF_TYPE_TRACEPOINT, number, 0, 0, pid=pid, cpu=-1)


def _perf_event(kind: int, config: int, config1: int, config2: int, *, pid: int, cpu: int, period: int = 0) -> int:
    layout = "=IIQQQQQIIQQ"
    head = struct.pack(layout, kind, _PERF_ATTR_BYTES, config, period, 0, 0, 0, 0, 0, config1, config2)
    attributes = ctypes.create_string_buffer(head, _PERF_ATTR_BYTES)
    numbers = (ctypes.c_int(pid), ctypes.c_int(cpu), ctypes.c_int(-1), ctypes.c_ulong(_CLOSE_ON_EXEC))
    return _syscall(_NR_PERF_EVENT_OPEN, ctypes.byref(attributes), *numbers)


def run_on_event(program_fd: int, event_fd: int) -> None:
    fcntl.ioctl(event_fd, _PERF_SET_BPF, program_fd)
    fcntl.ioctl(event_fd, _PERF_ENABLE, 0)


@cache
def _uprobe_type() -> int:
    return int(Path("/sys/bus/event_source/devices/uprobe/type").read_text())


# --- what programs cost -----------------------------------------------------------------------------------------------


def enable_run_statistics() -> int:
    """Until the descriptor is closed, the kernel counts and times the runs of every BPF program (Linux 5.8).

    That costs each run 0.1 µs.
    """
    return _bpf(_ENABLE_STATS, _attributes("=I", _STATS_RUN_TIME))


def program_runs(program_fd: int) -> tuple[int, int]:
    """How often a program ran while statistics were on, and for how many nanoseconds in all."""
    information = ctypes.create_string_buffer(_RUNS_AT + 16)
    _bpf(_OBJECT_INFO, _attributes("=IIQ", program_fd, len(information), ctypes.addressof(information)))
    run_ns, runs = struct.unpack_from("=QQ", information, _RUNS_AT)
    return runs, run_ns


def program_misses(program_fd: int) -> int:
    """How often the kernel let a program's event pass, as another one ran or a map was written on that processor."""
    information = ctypes.create_string_buffer(_RUNS_AT + 24)
    _bpf(_OBJECT_INFO, _attributes("=IIQ", program_fd, len(information), ctypes.addressof(information)))
    return int(struct.unpack_from("=Q", information, _RUNS_AT + 16)[0])


# --- what is loaded ---------------------------------------------------------------------------------------------------


def program_id(program_fd: int) -> int:
    information = ctypes.create_string_buffer(64)
    _bpf(_OBJECT_INFO, _attributes("=IIQ", program_fd, len(information), ctypes.addressof(information)))
    return int(struct.unpack_from("=I", information, 4)[0])


def link_id(link_fd: int) -> int:
    information = ctypes.create_string_buffer(64)
    _bpf(_OBJECT_INFO, _attributes("=IIQ", link_fd, len(information), ctypes.addressof(information)))
    return int(struct.unpack_from("=I", information, 4)[0])


def loaded_program_ids() -> Iterator[int]:
    return _ids(_PROG_NEXT_ID)


def link_ids() -> Iterator[int]:
    return _ids(_LINK_NEXT_ID)


def _ids(command: int) -> Iterator[int]:
    last = 0
    while True:
        attributes = _attributes("=II", last, 0)
        try:
            _bpf(command, attributes)
        except FileNotFoundError:
            return
        (last,) = struct.unpack_from("=I", attributes, 4)
        yield last
