"""A few bytes of machine code, run with probes and without, to what a probe hit costs on this machine."""

from __future__ import annotations

import ctypes
import mmap
import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache

from tracer.bpf import syscalls
from tracer.bpf.program import ProbeKind, has_multi_links


@dataclass(frozen=True, slots=True)
class TrapCosts:
    """Nanoseconds of the probed program's time for each hit, the BPF program's own run left out."""

    emulated_ns: float  # the kernel emulates the probed instruction
    stepped_ns: float  # it executes the instruction out of line and traps a second time
    return_ns: float  # of a return probe, on top of its entry
    is_measured: bool = True


# These are no traps, and differ little between machines: two tracepoints around a system call cost it 54 ns, a perf
# event a page fault 300 ns, each with a program that does nothing.
_OTHER_NS: dict[ProbeKind, float] = {"tracepoint": 25.0, "perf event": 300.0}

# Measured in one virtual machine, for where measuring is not possible.
ASSUMED = TrapCosts(750, 10_000, 500, is_measured=False)


@dataclass(frozen=True, slots=True)
class _Loop:
    """Machine code of x86_64 that counts its argument down; `probed` is the instruction that gets the probe."""

    start: int
    code: bytes
    probed: int
    calls: int  # a round of about 2 ms


_EMULATED = _Loop(0, bytes.fromhex("90 ff cf 75 fb c3"), 0, 2000)  # 1: nop; dec %edi; jnz 1b; ret
_STEPPED = _Loop(64, bytes.fromhex("31 c0 ff cf 75 fa c3"), 64, 200)  # 1: xor %eax,%eax; dec %edi; jnz 1b; ret
# 1: call f; dec %edi; jnz 1b; ret; f: nop; ret
_RETURNING = _Loop(128, bytes.fromhex("e8 05 00 00 00 ff cf 75 f7 c3 90 c3"), 138, 1000)
_LOOPS = (_EMULATED, _STEPPED, _RETURNING)

_ROUNDS = 5  # the shortest is the one that nothing interrupted
_LEAST_NS, _MOST_NS = 50, 100_000  # no trap is as fast or as slow as that: the measurement was disturbed


def hit_ns(kind: ProbeKind) -> float:
    """Nanoseconds of a hit of one kind, the BPF program's own run left out."""
    if kind in _OTHER_NS:
        return _OTHER_NS[kind]
    costs = trap_costs()
    return {"emulated": costs.emulated_ns, "single-step": costs.stepped_ns}.get(kind, costs.return_ns)


@cache
def trap_costs() -> TrapCosts:
    """Measured on ourselves, once a process; ASSUMED where that fails.

    It takes 0.13 s; 0.5 s on kernels before 6.6, which take each probe away by itself.
    """
    try:
        measured = _measured()
    except OSError:
        return ASSUMED
    return measured if _is_plausible(measured) else ASSUMED


def _is_plausible(costs: TrapCosts) -> bool:
    return _LEAST_NS <= costs.emulated_ns <= costs.stepped_ns <= _MOST_NS and 0 <= costs.return_ns <= _MOST_NS


def _measured() -> TrapCosts:
    with _code_file() as (fd, path), _mapped(fd) as address:
        free_ns = [_each_ns(address, loop) for loop in _LOOPS]
        with _probes(path):
            probed_ns = [_each_ns(address, loop) for loop in _LOOPS]
    emulated_ns, stepped_ns, returning_ns = (probed - free for probed, free in zip(probed_ns, free_ns, strict=True))
    return TrapCosts(emulated_ns, stepped_ns, returning_ns - emulated_ns)


@contextmanager
def _code_file() -> Iterator[tuple[int, str]]:
    """A file of the loops that nobody else has, so no other tool's probe can be in it."""
    fd = os.memfd_create("memflame-trap-cost")
    try:
        os.ftruncate(fd, mmap.PAGESIZE)
        for loop in _LOOPS:
            os.pwrite(fd, loop.code, loop.start)
        yield fd, f"/proc/self/fd/{fd}"
    finally:
        os.close(fd)


@contextmanager
def _mapped(fd: int) -> Iterator[int]:
    """Its address; Python's own mmap objects tell theirs only where they are writable."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    address = libc.mmap(None, mmap.PAGESIZE, mmap.PROT_READ | mmap.PROT_EXEC, mmap.MAP_PRIVATE, fd, 0)
    if address == ctypes.c_void_p(-1).value:
        raise OSError(ctypes.get_errno(), "code of a memory file could not be mapped")
    try:
        yield address
    finally:
        libc.munmap(address, mmap.PAGESIZE)


@contextmanager
def _probes(path: str) -> Iterator[None]:
    """One in each loop, and a return probe in the function that the last one calls."""
    is_multi = has_multi_links()
    attach = _attach_multi if is_multi else _attach_each
    with ExitStack() as opened:
        program = syscalls.load_trivial_program(syscalls.ATTACH_UPROBE_MULTI if is_multi else 0)
        opened.callback(os.close, program)
        attach(opened, program, path, [loop.probed for loop in _LOOPS], is_return=False)
        attach(opened, program, path, [_RETURNING.probed], is_return=True)
        yield


def _attach_multi(opened: ExitStack, program: int, path: str, points: list[int], *, is_return: bool) -> None:
    cookies = [0] * len(points)
    link = syscalls.link_uprobes(program, path, points, cookies, pid=os.getpid(), is_return=is_return)
    opened.callback(os.close, link)


def _attach_each(opened: ExitStack, program: int, path: str, points: list[int], *, is_return: bool) -> None:
    for point in points:
        event = syscalls.open_uprobe(path, point, pid=os.getpid(), is_return=is_return)
        opened.callback(os.close, event)
        opened.callback(os.close, syscalls.link_perf_event(program, event, cookie=0))


def _each_ns(address: int, loop: _Loop) -> float:
    run = ctypes.CFUNCTYPE(None, ctypes.c_int)(address + loop.start)
    return min(_round_ns(run, loop.calls) for _ in range(_ROUNDS)) / loop.calls


def _round_ns(run: Callable[[int], None], calls: int) -> int:
    began = time.thread_time_ns()
    run(calls)
    return time.thread_time_ns() - began
