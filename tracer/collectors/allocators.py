"""Where a process has the functions that give out and take back memory, and where in them a probe may sit."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass

from tracer.bpf.exits import exits
from tracer.bpf.placement import ARGUMENT_REGISTERS, SCANNED_BYTES, Placement, placements
from tracer.collectors.allocator_functions import ALLOCATORS, DELETES, FREES, LEAVES, MAY_BE_LOCAL, Allocator, Function
from tracer.collectors.custom_allocators import CustomFunctions
from tracer.collectors.errors import CollectorError
from tracer.options.allocators import AllocatorOptions
from tracer.process.address_space import AddressSpace
from tracer.process.maps import Mapping
from tracer.symbols.elf import ElfError, ElfFile
from tracer.symbols.spans import FunctionSpans

# Their operator delete is a call of free, which has its own probe: a second one would only cost.
_DELETE_IS_FREE = ("libstdc++.so", "libc++.so", "libc++abi.so")

_MOST_CODE_BYTES = (1 << 24) - 1
CALLED_OFTEN = frozenset(["malloc", "calloc", "realloc", "free", "_Znwm", "_Znam", "_ZdlPv", "_ZdlPvm"])


@dataclass(frozen=True, slots=True)
class Site:
    """One function in one file, with the places a probe may take, best first; as file offsets."""

    module: str
    path: str
    function: Function
    start: int
    placements: tuple[Placement, ...]
    span: range  # of its code in the process, as addresses
    rets: tuple[int, ...] = ()  # its ret instructions, where it can't have a return probe

    @property
    def symbol(self) -> str:
        return self.function.symbol.name

    @property
    def allocator(self) -> Allocator | None:
        return self.function.allocator

    def cookie_at(self, place: Placement) -> int:
        """What malloc.c reads of a call there: leaf, symbol, registers of the arguments, and how long the code is."""
        known = self.allocator
        if known is None:
            return place.register(self.function.block) << 16
        size, factor, block, result = map(place.register, (known.size, known.factor, known.block, known.result))
        positions = size << 8 | factor << 12 | block << 16 | result << 20
        is_left_by_ret, code_bytes = bool(self.rets) << 32, min(len(self.span), _MOST_CODE_BYTES) << 40
        return self.function.leaf_number | positions | self.function.symbol_number << 24 | is_left_by_ret | code_bytes

    @property
    def is_wrapper(self) -> bool:
        """It takes its blocks from another allocator function, and its entry is enough to tell whose they are."""
        known = self.allocator
        return known is not None and (known.is_copy or (known.is_new and not self.rets))

    @property
    def has_return_probe(self) -> bool:
        return self.allocator is not None and not self.rets and not self.is_wrapper


class SiteFinder:
    """Looks at each file once; of several names of one function the first counts."""

    def __init__(
        self, space: AddressSpace, wanted: AllocatorOptions, *, but_of: Collection[tuple[int, int, int]] = ()
    ) -> None:
        """Files of `but_of` are left out."""
        self._space, self._wanted = space, wanted
        self._custom = CustomFunctions(wanted)
        self._seen = set(but_of)

    def refuse_missing(self) -> None:
        """CollectorError: a function that was asked for by name is nowhere."""
        self._custom.refuse_missing([mapping.module for mapping in self._space.mappings() if mapping.inode])

    @property
    def leaves(self) -> tuple[str, ...]:
        """By the numbers that cookies carry."""
        return (*LEAVES, *self._custom.leaves)

    def new_sites(self, *, are_late: bool = False) -> list[Site]:
        """Those of files that were mapped since the last call.

        The addresses of wrappers are compiled into the program, so one that comes late is left by its rets.
        """
        mappings = [mapping for mapping in self._space.mappings() if mapping.inode]
        files = {mapping.file_id: mapping for mapping in reversed(mappings) if mapping.file_id not in self._seen}
        self._seen |= set(files)
        return [site for mapping in reversed(files.values()) for site in self._sites_of(mapping, are_late)]

    def place_of(self, name: str, modules: tuple[str, ...]) -> tuple[str, int] | None:
        """Path and file offset of a function, of the first file that has it; files by how their names begin."""
        for mapping in self._space.mappings():
            fd, path = self._space.open_file(mapping), self._space.probe_path(mapping)
            if fd is None or path is None or not mapping.module.startswith(modules):
                continue
            with suppress(ElfError), ElfFile(fd) as elf:
                symbol = elf.exported_functions().get(name)
                if symbol is not None:
                    return path, elf.file_offset(symbol.address)
        return None

    def _sites_of(self, mapping: Mapping, are_late: bool) -> Iterator[Site]:
        fd, path = self._space.open_file(mapping), self._space.probe_path(mapping)
        if fd is None or path is None:
            return
        try:
            with ElfFile(fd) as elf:
                functions = list(self._functions_of(elf, mapping))
                rets = _RetFinder(elf, functions, are_late=are_late)
                for function in functions:
                    site = self._site(mapping, path, elf, function, rets.of(function))
                    if not (are_late and site.is_wrapper):
                        yield site
        except ElfError:
            return  # a font or an archive can be mapped executable by mistake; it has no functions

    def _functions_of(self, elf: ElfFile, mapping: Mapping) -> Iterator[Function]:
        taken: set[int] = set()
        for function in self._candidates(elf, mapping):
            if function.symbol.address not in taken:
                taken.add(function.symbol.address)
                yield function

    def _candidates(self, elf: ElfFile, mapping: Mapping) -> Iterator[Function]:
        symbols = list(elf.functions()) if self._wanted.has_defaults or self._custom.are_in(mapping.module) else []
        if self._space.is_program(mapping):
            yield from self._custom.addressed_in(elf)
        yield from self._custom.named_in(mapping.module, symbols)
        if self._wanted.has_defaults:
            symbol_by_name = {
                known.name: known for known in symbols if not known.is_local or known.name in MAY_BE_LOCAL
            }
            names = _names(mapping.module)
            yield from (Function.known(symbol_by_name[name]) for name in names if name in symbol_by_name)

    def _site(
        self, mapping: Mapping, path: str, elf: ElfFile, function: Function, rets: tuple[int, ...]
    ) -> Site:  # fmt: skip
        symbol, known = function.symbol, function.allocator
        arguments = min(known.arguments if known else function.block, len(ARGUMENT_REGISTERS))
        places = placements(elf.code(symbol.address, SCANNED_BYTES), arguments=arguments, is_free=known is None)
        if known is None:  # the probe of a free is not told where the block is by then
            places = [place for place in places if not place.moved]
        start = elf.file_offset(symbol.address)
        address = self._space.address_of(mapping.file_id, start) or 0
        span = range(address, address + symbol.size)
        return Site(mapping.module, path, function, start, tuple(places), span, rets)


class _RetFinder:
    """Ret instructions, as file offsets, of functions that may throw and make their blocks themselves."""

    def __init__(self, elf: ElfFile, functions: list[Function], *, are_late: bool) -> None:
        self._elf, self._are_late = elf, are_late
        self._mallocs = {
            function.symbol.address for function in functions if function.allocator and function.allocator.is_malloc
        }
        self._spans: FunctionSpans | None = None
        self._span_by_start: dict[int, range] = {}
        self._linked: dict[int, int] = {}

    def of(self, function: Function) -> tuple[int, ...]:
        known = function.allocator
        is_new = known is not None and known.is_new
        if not (function.may_throw or (is_new and (self._mallocs or self._are_late))):
            return ()
        self._read_tables()
        found = exits(
            function.symbol.address, span_at=self._span_at, code_of=self._code_of, behind_slot=self._linked.get
        )  # fmt: skip
        if function.may_throw and found is None:
            name = function.symbol.name
            raise CollectorError(f"{name} may throw, and where its code ends was not found: it can't be followed")
        if found is None or (is_new and not self._are_late and not found.bypass(self._mallocs)):
            return ()
        return tuple(self._elf.file_offset(address) for address in found.returns)

    def _read_tables(self) -> None:
        if self._spans is not None:
            return
        self._spans = self._elf.spans()
        # A statically linked program has no search table, but its symbols.
        self._span_by_start = {
            known.address: range(known.address, known.address + known.size) for known in self._elf.functions()
        }
        self._linked = self._elf.linked_functions()

    def _span_at(self, address: int) -> range | None:
        span = self._spans.span_at(address) if self._spans is not None else None
        return span or self._span_by_start.get(address)

    def _code_of(self, span: range) -> bytes:
        return self._elf.code(span.start, len(span))


def _names(module: str) -> Iterator[str]:
    yield from ALLOCATORS
    yield from FREES
    if not module.startswith(_DELETE_IS_FREE):
        yield from DELETES
