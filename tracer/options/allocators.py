"""Options of a malloc recording that name further functions to follow: pools of libraries, and functions by address.

`alloc` and `free` hold functions as `LIBRARY:FUNCTION`, separated by commas, with the positions of arguments behind
`@`: `libpool.so:pool_get@2*1` has its size in argument 2, and how many of it in argument 1; `libpool.so:pool_put@1`
gets the block in argument 1. `addr` holds functions of a program without symbols as `malloc=0x4012f0`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from tracer.options.blocks import COLLECTOR
from tracer.options.errors import BadOption

ALLOCATOR_OPTIONS = ("alloc", "free", "addr")
DEFAULT = "default"  # in `alloc`: the usual functions too

MAX_FUNCTIONS = 16  # of each option
MAX_OPTION_LENGTH = 2000
MAX_POSITION = 6  # of an argument in a register

_LIBRARY = r"(?P<library>[A-Za-z0-9_.+@-]{1,255}?)"
_NAME = r"(?P<name>[A-Za-z_][A-Za-z0-9_.$]{0,511})"
_ALLOC = re.compile(rf"{_LIBRARY}:{_NAME}(?:@(?P<size>[1-9])(?:\*(?P<factor>[1-9]))?)?")
_FREE = re.compile(rf"{_LIBRARY}:{_NAME}(?:@(?P<block>[1-9]))?")
_ADDRESS = re.compile(r"([a-z_]{1,40})=0x([0-9a-f]{1,16})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class CustomFunction:
    """One function of one mapped file; it gives out memory if it has a size, else it takes `block` back."""

    library: str
    name: str
    size: int = 0
    factor: int = 0
    block: int = 0

    def __str__(self) -> str:
        factor = f"*{self.factor}" if self.factor else ""
        return f"{self.library}:{self.name}@{self.size or self.block}{factor}"


@dataclass(frozen=True, slots=True)
class AllocatorOptions:
    has_defaults: bool = True
    allocs: tuple[CustomFunction, ...] = ()
    frees: tuple[CustomFunction, ...] = ()
    addresses: tuple[tuple[str, int], ...] = ()  # of the program's own functions, as `nm` shows them

    @classmethod
    def of(cls, options: Mapping[str, int | str]) -> AllocatorOptions:
        """Of a run spec's options; BadOption says which one is wrong, and why."""
        words = _words("alloc", options)
        allocs = tuple(_alloc(word) for word in words if word != DEFAULT)
        frees = tuple(_free(word) for word in _words("free", options))
        if frees and not words:
            raise BadOption("free", f"{options['free']!r}, but there is no alloc: name the function that gives out too")
        if words and not allocs:
            raise BadOption("alloc", f"{options['alloc']!r}: the usual functions are followed anyway, leave it out")
        addresses = tuple(_address(word) for word in _words("addr", options))
        return cls(not allocs or DEFAULT in words, allocs, frees, addresses)

    @property
    def custom(self) -> tuple[CustomFunction, ...]:
        return (*self.allocs, *self.frees)

    @property
    def last_position(self) -> int:
        """Of the arguments that a probe must be able to read."""
        return max((max(known.size, known.factor, known.block) for known in self.custom), default=0)


def check_allocator_options(collector: str, options: Mapping[str, int | str]) -> None:
    """BadOption for a value that can't be, and for one of these options with another collector than malloc."""
    if collector == COLLECTOR:
        AllocatorOptions.of(options)
        return
    for name in ALLOCATOR_OPTIONS:
        if name in options:
            raise BadOption(name, f"{options[name]!r}, but {collector} follows no allocator: use {COLLECTOR}")


def _words(name: str, options: Mapping[str, int | str]) -> list[str]:
    if name not in options:
        return []
    value = str(options[name])
    if len(value) > MAX_OPTION_LENGTH:
        raise BadOption(name, f"{len(value):,} characters long, the limit is {MAX_OPTION_LENGTH:,}")
    words = [word.strip() for word in value.split(",")]
    if len(words) > MAX_FUNCTIONS:
        raise BadOption(name, f"{value!r}: these are {len(words)} functions, the limit is {MAX_FUNCTIONS}")
    if len(set(words)) < len(words):
        raise BadOption(name, f"{value!r}: a function is named twice")
    return words


def _alloc(word: str) -> CustomFunction:
    found = _ALLOC.fullmatch(word)
    if found is None:
        raise BadOption("alloc", f"{word!r}, it must be LIBRARY:FUNCTION@SIZE, such as libpool.so:pool_get@1")
    size = _position("alloc", word, found["size"] or "1")
    factor = _position("alloc", word, found["factor"]) if found["factor"] else 0
    return CustomFunction(found["library"], found["name"], size=size, factor=factor)


def _free(word: str) -> CustomFunction:
    found = _FREE.fullmatch(word)
    if found is None:
        raise BadOption("free", f"{word!r}, it must be LIBRARY:FUNCTION@BLOCK, such as libpool.so:pool_put@1")
    return CustomFunction(found["library"], found["name"], block=_position("free", word, found["block"] or "1"))


def _position(option: str, word: str, text: str) -> int:
    if int(text) > MAX_POSITION:
        raise BadOption(option, f"{word!r}: argument {text} is not in a register, the last one is {MAX_POSITION}")
    return int(text)


def _address(word: str) -> tuple[str, int]:
    found = _ADDRESS.fullmatch(word)
    if found is None:
        raise BadOption("addr", f"{word!r}, it must be FUNCTION=ADDRESS, such as malloc=0x4012f0")
    return found[1], int(found[2], 16)
