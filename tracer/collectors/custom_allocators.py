"""Functions that a run names itself, by library and name or by address, to what the kernel reads of their calls."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import get_close_matches

from tracer.collectors.allocator_functions import ALLOCATORS, FREES, LEAVES, SYMBOLS, Allocator, Function
from tracer.collectors.errors import CollectorError
from tracer.options.allocators import AllocatorOptions, CustomFunction
from tracer.symbols.demangle import demangled
from tracer.symbols.elf import ElfFile, Symbol

# Of a program without symbols nobody knows where operator new throws, or which functions strdup calls.
_BY_ADDRESS = (*(name for name, known in ALLOCATORS.items() if known.size and not known.is_new), *FREES)
_SHOWN = 3  # near misses


class CustomFunctions:
    def __init__(self, wanted: AllocatorOptions) -> None:
        self._wanted = wanted
        self._names_by_library: dict[str, set[str]] = {}
        for name, _ in wanted.addresses:
            if name not in _BY_ADDRESS:
                raise CollectorError(f"option addr names {name!r}{_near(name, _BY_ADDRESS)}")

    @property
    def leaves(self) -> tuple[str, ...]:
        """Behind those of the functions that everyone has."""
        return tuple(demangled(known.name) for known in self._wanted.allocs)

    def are_in(self, module: str) -> bool:
        return any(known.library == module for known in self._wanted.custom)

    def named_in(self, module: str, symbols: Iterable[Symbol]) -> Iterator[Function]:
        """Local ones too: a pool need not be for others."""
        if not self.are_in(module):
            return
        known = list(symbols)
        self._names_by_library[module] = {symbol.name for symbol in known}
        for number, custom in enumerate(self._wanted.custom):
            if custom.library == module:
                yield from (self._function(symbol, custom, number) for symbol in known if symbol.name == custom.name)

    def addressed_in(self, elf: ElfFile) -> Iterator[Function]:
        spans = elf.spans()
        for name, address in self._wanted.addresses:
            if not elf.has_code_at(address):
                raise CollectorError(f"option addr: {name} is not at {address:#x}: the program has no code there")
            span = spans.span_at(address)
            if span is not None and span.start != address:
                raise CollectorError(f"option addr: {address:#x} is inside of the function at {span.start:#x}")
            yield Function.known(Symbol(address, len(span or ()), name, is_local=False))

    def refuse_missing(self, modules: list[str]) -> None:
        """CollectorError names the first function that was not found, and those with names like it."""
        for custom in self._wanted.custom:
            if custom.library not in modules:
                raise CollectorError(f"the process has no {custom.library}{_near(custom.library, modules)}")
            names = self._names_by_library.get(custom.library, set())
            if custom.name not in names:
                raise CollectorError(
                    f"{custom.library} has no function {custom.name}{_near(custom.name, names) or ' in its symbols'}"
                )

    def _function(self, symbol: Symbol, custom: CustomFunction, number: int) -> Function:
        if not custom.size:
            return Function(symbol, None, block=custom.block)
        allocator = Allocator(demangled(custom.name), size=custom.size, factor=custom.factor)
        # A return probe is put in the way of an exception, and C++ functions may throw.
        may_throw = custom.name.startswith("_Z")
        return Function(symbol, allocator, len(LEAVES) + number, len(SYMBOLS) + number, may_throw=may_throw)


def _near(name: str, known: Iterable[str]) -> str:
    close = get_close_matches(name, sorted(set(known)), _SHOWN)
    return f", but {' and '.join(close)}" if close else ""
