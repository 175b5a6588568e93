"""The functions that give out and take back memory, and where a process has them.

One row a function: adding one needs no other change. Positions are those of the arguments, counted from 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping as Map
from dataclasses import dataclass, replace

from tracer.bpf.exits import exits
from tracer.bpf.placement import ARGUMENT_REGISTERS, SCANNED_BYTES, Placement, placements
from tracer.process.address_space import AddressSpace
from tracer.process.maps import Mapping
from tracer.symbols.elf import ElfError, ElfFile, Symbol
from tracer.symbols.spans import FunctionSpans


@dataclass(frozen=True, slots=True)
class Allocator:
    """How to read a call: the size, a factor of it, the block that is given back, where the result is written.

    Without a size, that one counts which the function asks malloc for.
    """

    leaf: str
    size: int = 0
    factor: int = 0
    block: int = 0
    result: int = 0
    is_new: bool = False  # throws: it can't have a return probe

    @property
    def arguments(self) -> int:
        """How many argument registers the probe reads."""
        return max(self.size, self.factor, self.block, self.result)

    @property
    def is_copy(self) -> bool:
        """It calls malloc and gives that block to the program."""
        return not self.size and not self.result


_NEW = Allocator("operator new", size=1, is_new=True)
_NEW_ARRAY = Allocator("operator new[]", size=1, is_new=True)
_PRINT = Allocator("asprintf", result=1)
_PRINT_LIST = Allocator("vasprintf", result=1)

ALLOCATORS: Map[str, Allocator] = {
    "malloc": Allocator("malloc", size=1),
    "calloc": Allocator("calloc", size=2, factor=1),
    "realloc": Allocator("realloc", size=2, block=1),
    "reallocarray": Allocator("reallocarray", size=3, factor=2, block=1),
    "posix_memalign": Allocator("posix_memalign", size=3, result=1),
    "aligned_alloc": Allocator("aligned_alloc", size=2),
    "memalign": Allocator("memalign", size=2),
    "valloc": Allocator("valloc", size=1),
    "pvalloc": Allocator("pvalloc", size=1),
    "mallocx": Allocator("mallocx", size=1),  # jemalloc
    "rallocx": Allocator("rallocx", size=2, block=1),  # jemalloc
    "strdup": Allocator("strdup"),
    "strndup": Allocator("strndup"),
    "wcsdup": Allocator("wcsdup"),
    "getline": Allocator("getline"),
    "getdelim": Allocator("getdelim"),
    "asprintf": _PRINT,
    "__asprintf_chk": _PRINT,  # with _FORTIFY_SOURCE
    "vasprintf": _PRINT_LIST,
    "__vasprintf_chk": _PRINT_LIST,
    "_Znwm": _NEW,
    "_ZnwmRKSt9nothrow_t": _NEW,
    "_ZnwmSt11align_val_t": _NEW,
    "_ZnwmSt11align_val_tRKSt9nothrow_t": _NEW,
    "_Znam": _NEW_ARRAY,
    "_ZnamRKSt9nothrow_t": _NEW_ARRAY,
    "_ZnamSt11align_val_t": _NEW_ARRAY,
    "_ZnamSt11align_val_tRKSt9nothrow_t": _NEW_ARRAY,
}

FREES = ("free", "cfree", "free_sized", "free_aligned_sized", "sdallocx", "dallocx")
_DELETE_FORMS = ("", "m", "RKSt9nothrow_t", "St11align_val_t", "mSt11align_val_t", "St11align_val_tRKSt9nothrow_t")
DELETES = tuple(f"_Zd{kind}Pv{form}" for kind in "la" for form in _DELETE_FORMS)

# Their operator delete is a call of free, which has its own probe: a second one would only cost.
_DELETE_IS_FREE = ("libstdc++.so", "libc++.so", "libc++abi.so")

CALLED_OFTEN = frozenset(["malloc", "calloc", "realloc", "free", "_Znwm", "_Znam", "_ZdlPv", "_ZdlPvm"])

_SYMBOLS = tuple(ALLOCATORS)
LEAVES = tuple(dict.fromkeys(allocator.leaf for allocator in ALLOCATORS.values()))


@dataclass(frozen=True, slots=True)
class Site:
    """One function in one file, with the places a probe may take, best first; as file offsets."""

    module: str
    path: str
    symbol: str
    start: int
    placements: tuple[Placement, ...]
    allocator: Allocator | None  # None: it takes memory back
    span: range  # of its code in the process, as addresses
    rets: tuple[int, ...] = ()  # of an operator new that makes its blocks itself: its ret instructions

    @property
    def cookie(self) -> int:
        """What malloc.c reads of a call: leaf and argument positions."""
        if self.allocator is None:
            return 0
        known = self.allocator
        positions = known.size << 8 | known.factor << 12 | known.block << 16 | known.result << 20
        symbol = _SYMBOLS.index(self.symbol) << 24
        return LEAVES.index(known.leaf) | positions | symbol | bool(self.rets) << 32

    @property
    def is_wrapper(self) -> bool:
        """It takes its blocks from another allocator function, and its entry is enough to tell whose they are."""
        known = self.allocator
        return known is not None and (known.is_copy or (known.is_new and not self.rets))


def sites(space: AddressSpace) -> Iterator[Site]:
    """Every allocator function of every mapped file, once an address: aliases are one function."""
    seen: set[tuple[int, int, int]] = set()
    for mapping in space.mappings():
        if mapping.inode and mapping.file_id not in seen:
            seen.add(mapping.file_id)
            yield from _sites_of(space, mapping)


def _sites_of(space: AddressSpace, mapping: Mapping) -> Iterator[Site]:
    fd, path = space.open_file(mapping), space.probe_path(mapping)
    if fd is None or path is None:
        return
    try:
        with ElfFile(fd) as elf:
            symbols = list(_allocator_symbols(elf, mapping.module))
            rets = _RetFinder(elf, symbols)
            for symbol in symbols:
                yield replace(_site(space, mapping, path, elf, symbol), rets=rets.of(symbol))
    except ElfError:
        return  # a font or an archive can be mapped executable by mistake; it has no functions


def _allocator_symbols(elf: ElfFile, module: str) -> Iterator[Symbol]:
    symbol_by_name = elf.exported_functions()
    taken: set[int] = set()
    for name in _names(module):
        symbol = symbol_by_name.get(name)
        if symbol is not None and symbol.address not in taken:
            taken.add(symbol.address)
            yield symbol


def _site(space: AddressSpace, mapping: Mapping, path: str, elf: ElfFile, symbol: Symbol) -> Site:
    allocator = ALLOCATORS.get(symbol.name)
    arguments = min(allocator.arguments if allocator else 1, len(ARGUMENT_REGISTERS))
    places = placements(elf.code(symbol.address, SCANNED_BYTES), arguments=arguments, is_free=allocator is None)
    start = elf.file_offset(symbol.address)
    address = space.address_of(mapping.file_id, start) or 0
    span = range(address, address + symbol.size)
    return Site(mapping.module, path, symbol.name, start, tuple(places), allocator, span)


class _RetFinder:
    """Ret instructions, as file offsets, of the operators new of a file that has a malloc, and whose new calls none."""

    def __init__(self, elf: ElfFile, symbols: list[Symbol]) -> None:
        self._elf = elf
        self._mallocs = {symbol.address for symbol in symbols if _is_malloc(symbol.name)}
        self._spans: FunctionSpans | None = None
        # A statically linked program has no search table, but its symbols.
        self._span_by_start = {
            known.address: range(known.address, known.address + known.size)
            for known in (elf.functions() if self._mallocs else ())
        }

    def of(self, symbol: Symbol) -> tuple[int, ...]:
        if not self._mallocs or symbol.name not in ALLOCATORS or not ALLOCATORS[symbol.name].is_new:
            return ()
        found = exits(symbol.address, span_at=self._span_at, code_of=self._code_of)
        if found is None or found.callees & self._mallocs:
            return ()
        return tuple(self._elf.file_offset(address) for address in found.returns)

    def _span_at(self, address: int) -> range | None:
        if self._spans is None:
            self._spans = self._elf.spans()
        return self._spans.span_at(address) or self._span_by_start.get(address)

    def _code_of(self, span: range) -> bytes:
        return self._elf.code(span.start, len(span))


def _is_malloc(name: str) -> bool:
    return name in ALLOCATORS and bool(ALLOCATORS[name].size) and not ALLOCATORS[name].is_new


def _names(module: str) -> Iterator[str]:
    yield from ALLOCATORS
    yield from FREES
    if not module.startswith(_DELETE_IS_FREE):
        yield from DELETES


def without_probe_path(space: AddressSpace) -> list[str]:
    """Mapped files that no probe can reach: deleted or replaced since they were mapped."""
    files = {mapping.file_id: mapping for mapping in space.mappings() if mapping.inode}
    return sorted(mapping.path for mapping in files.values() if space.probe_path(mapping) is None)
