"""Registers and a copied stack to return addresses, by the unwind tables of the mapped files (elfutils libdw).

It needs no frame pointers. https://sourceware.org/elfutils/, libdwfl.h; the library is Debian's package libdw1.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from ctypes import CFUNCTYPE, POINTER, Structure, byref, c_bool, c_char_p, c_int, c_uint, c_uint64, c_void_p
from dataclasses import dataclass
from functools import cache
from typing import Any

from tracer.process.address_space import AddressSpace

MAX_FRAMES = 512
STACK_POINTER, INSTRUCTION_POINTER = 7, 16  # DWARF numbers of x86_64
_GO_ON, _ABORT = 0, 1

_FindElf = CFUNCTYPE(c_int, c_void_p, c_void_p, c_char_p, c_uint64, c_void_p, c_void_p)
_FindDebuginfo = CFUNCTYPE(c_int, c_void_p, c_void_p, c_char_p, c_uint64, c_char_p, c_char_p, c_uint, c_void_p)
_NextThread = CFUNCTYPE(c_int, c_void_p, c_void_p, POINTER(c_void_p))
_GetThread = CFUNCTYPE(c_bool, c_void_p, c_int, c_void_p, POINTER(c_void_p))
_ReadMemory = CFUNCTYPE(c_bool, c_void_p, c_uint64, POINTER(c_uint64), c_void_p)
_SetRegisters = CFUNCTYPE(c_bool, c_void_p, c_void_p)
_OnFrame = CFUNCTYPE(c_int, c_void_p, c_void_p)


class _Callbacks(Structure):
    _fields_ = [
        ("find_elf", _FindElf),
        ("find_debuginfo", _FindDebuginfo),
        ("section_address", c_void_p),
        ("debuginfo_path", c_void_p),
    ]


class _ThreadCallbacks(Structure):
    _fields_ = [
        ("next_thread", _NextThread),
        ("get_thread", _GetThread),
        ("memory_read", _ReadMemory),
        ("set_initial_registers", _SetRegisters),
        ("detach", c_void_p),
        ("thread_detach", c_void_p),
    ]


Read = tuple[int, int]  # offset from the stack pointer, and the word there


@dataclass(frozen=True, slots=True)
class Unwound:
    """Addresses leaf first, each inside the instruction that was under way; complete if the root was reached.

    It is short if more of the stack than was copied, or more frames than are taken, would have been needed.
    """

    addresses: tuple[int, ...]
    is_complete: bool
    is_short: bool = False


class Unwinder:
    """For one process. Files come from the address space, so it goes on after the process has exited."""

    def __init__(self, pid: int, space: AddressSpace) -> None:
        self._pid = pid
        self._space = space
        self._fd_by_module: dict[bytes, int] = {}
        self._registers: Sequence[int] = ()
        self._stack = b""
        self._addresses: list[int] = []
        self._is_short = False
        self.reads: list[Read] = []  # of the last unwinding
        self._callbacks = _Callbacks(_FindElf(self._find_elf), _FindDebuginfo(lambda *_: -1), None, None)
        self._thread_callbacks = _ThreadCallbacks(
            _NextThread(self._next_thread), _GetThread(self._get_thread), _ReadMemory(self._read_memory),
            _SetRegisters(self._set_registers), None, None,
        )  # fmt: skip
        self._on_frame = _OnFrame(self._take_frame)
        self._dwfl = _libdw().dwfl_begin(byref(self._callbacks))
        self._is_attached = False
        self._has_given_thread = False
        self.report()

    def report(self) -> None:
        """Tell libdw which files are mapped where; needed again when that has changed."""
        library = _libdw()
        library.dwfl_report_begin(self._dwfl)
        for module in self._space.modules():
            # The place is part of the name: a file that was replaced may be mapped beside its successor.
            name = f"{module.start:x}:{module.path}".encode("utf-8", "surrogateescape")
            self._fd_by_module[name] = module.fd
            library.dwfl_report_module(self._dwfl, name, module.start, module.end)
        library.dwfl_report_end(self._dwfl, None, None)
        if not self._is_attached:
            attach = library.dwfl_attach_state
            self._is_attached = bool(attach(self._dwfl, None, self._pid, byref(self._thread_callbacks), None))

    def unwind(self, registers: Sequence[int], stack: bytes) -> Unwound:
        """`registers` in the order of their DWARF numbers; `stack` begins at the stack pointer."""
        self._registers, self._stack, self._addresses, self.reads = registers, stack, [], []
        self._has_given_thread = self._is_short = False
        status = _libdw().dwfl_getthread_frames(self._dwfl, self._pid, self._on_frame, None)
        if not self._addresses:
            self._addresses.append(registers[INSTRUCTION_POINTER])
        # A return address that could not be read ends the stack for libdw as an undefined one does: without an error.
        is_complete = status == 0 and not self._is_short
        return Unwound(tuple(self._addresses), is_complete, is_short=self._is_short)

    def close(self) -> None:
        if self._dwfl is not None:
            _libdw().dwfl_end(self._dwfl)
            self._dwfl = None

    # --- what libdw asks

    def _find_elf(
        self, _module: object, _data: object, name: bytes, _base: int, _file_name: object, _elf: object
    ) -> int:
        fd = self._fd_by_module.get(name)
        return -1 if fd is None else os.dup(fd)  # libdw closes it

    def _next_thread(self, _dwfl: object, _argument: object, _thread: object) -> int:
        if self._has_given_thread:
            return 0
        self._has_given_thread = True
        return self._pid

    def _get_thread(self, _dwfl: object, _tid: int, _argument: object, _thread: object) -> bool:
        return True

    def _read_memory(self, _dwfl: object, address: int, result: Any, _argument: object) -> bool:
        offset = address - self._registers[STACK_POINTER]
        if not 0 <= offset <= len(self._stack) - 8:
            self._is_short = offset >= 0
            return False
        word = int.from_bytes(self._stack[offset : offset + 8], "little")
        self.reads.append((offset, word))
        result[0] = word
        return True

    def _set_registers(self, thread: object, _argument: object) -> bool:
        library = _libdw()
        values = (c_uint64 * len(self._registers))(*self._registers)
        library.dwfl_thread_state_register_pc(thread, self._registers[INSTRUCTION_POINTER])
        return bool(library.dwfl_thread_state_registers(thread, 0, len(values), values))

    def _take_frame(self, frame: object, _argument: object) -> int:
        address, is_activation = c_uint64(), c_bool()
        if not _libdw().dwfl_frame_pc(frame, byref(address), byref(is_activation)):
            return _ABORT
        self._addresses.append(address.value if is_activation.value else address.value - 1)
        if len(self._addresses) < MAX_FRAMES:
            return _GO_ON
        self._is_short = True
        return _ABORT


@cache
def _libdw() -> Any:
    library = ctypes.CDLL("libdw.so.1")
    signatures: dict[str, tuple[Any, list[Any]]] = {
        "dwfl_begin": (c_void_p, [c_void_p]),
        "dwfl_end": (None, [c_void_p]),
        "dwfl_report_begin": (None, [c_void_p]),
        "dwfl_report_module": (c_void_p, [c_void_p, c_char_p, c_uint64, c_uint64]),
        "dwfl_report_end": (c_int, [c_void_p, c_void_p, c_void_p]),
        "dwfl_attach_state": (c_bool, [c_void_p, c_void_p, c_int, c_void_p, c_void_p]),
        "dwfl_getthread_frames": (c_int, [c_void_p, c_int, _OnFrame, c_void_p]),
        "dwfl_frame_pc": (c_bool, [c_void_p, POINTER(c_uint64), POINTER(c_bool)]),
        "dwfl_thread_state_registers": (c_bool, [c_void_p, c_int, c_uint, c_void_p]),
        "dwfl_thread_state_register_pc": (None, [c_void_p, c_uint64]),
    }
    for name, (result, arguments) in signatures.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library
