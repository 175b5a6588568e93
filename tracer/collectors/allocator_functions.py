"""The functions that give out and take back memory, by symbol, and how to read a call of each.

One row a function: adding one needs no other change. Positions are those of the arguments, counted from 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from tracer.symbols.elf import Symbol


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

    @property
    def is_malloc(self) -> bool:
        """Others can take their blocks from it."""
        return self.size > 0 and not self.is_new


_NEW = Allocator("operator new", size=1, is_new=True)
_NEW_ARRAY = Allocator("operator new[]", size=1, is_new=True)
_PRINT = Allocator("asprintf", result=1)
_PRINT_LIST = Allocator("vasprintf", result=1)

_STANDARD = {
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
}
_COPIES = {
    "strdup": Allocator("strdup"),
    "strndup": Allocator("strndup"),
    "wcsdup": Allocator("wcsdup"),
    "getline": Allocator("getline"),
    "getdelim": Allocator("getdelim"),
    "asprintf": _PRINT,
    "__asprintf_chk": _PRINT,  # with _FORTIFY_SOURCE
    "vasprintf": _PRINT_LIST,
    "__vasprintf_chk": _PRINT_LIST,
}
_OPERATORS = {
    "_Znwm": _NEW,
    "_ZnwmRKSt9nothrow_t": _NEW,
    "_ZnwmSt11align_val_t": _NEW,
    "_ZnwmSt11align_val_tRKSt9nothrow_t": _NEW,
    "_Znam": _NEW_ARRAY,
    "_ZnamRKSt9nothrow_t": _NEW_ARRAY,
    "_ZnamSt11align_val_t": _NEW_ARRAY,
    "_ZnamSt11align_val_tRKSt9nothrow_t": _NEW_ARRAY,
}

# Builds that stand beside the C library's functions instead of taking their place: jemalloc in C programs and in
# Rust's, mimalloc, tcmalloc.
_PREFIXES = ("je_", "_rjem_", "mi_", "tc_")
_PREFIXED = {
    prefix + name: replace(known, leaf=prefix + name) for prefix in _PREFIXES for name, known in _STANDARD.items()
}


def _named(prefix: str, **known: Allocator) -> dict[str, Allocator]:
    return {prefix + name: replace(allocator, leaf=prefix + name) for name, allocator in known.items()}


_ONE = Allocator("", size=1)
_NEW_ONE = replace(_ONE, is_new=True)
_MANY = Allocator("", size=2, factor=1)
_AGAIN = Allocator("", size=2, block=1)
_MANY_AGAIN = Allocator("", size=3, factor=2, block=1)
_MIMALLOC = _named(
    "mi_",
    zalloc=_ONE, malloc_small=_ONE, zalloc_small=_ONE, mallocn=_MANY,
    reallocn=_MANY_AGAIN, rezalloc=_AGAIN, recalloc=_MANY_AGAIN,
    malloc_aligned=_ONE, zalloc_aligned=_ONE, calloc_aligned=_MANY,
    realloc_aligned=_AGAIN, rezalloc_aligned=_AGAIN, recalloc_aligned=_MANY_AGAIN,
    heap_malloc=Allocator("", size=2), heap_zalloc=Allocator("", size=2), heap_malloc_aligned=Allocator("", size=2),
    heap_calloc=Allocator("", size=3, factor=2), heap_mallocn=Allocator("", size=3, factor=2),
    heap_realloc=Allocator("", size=3, block=2),
    new=_NEW_ONE, new_nothrow=_NEW_ONE, new_aligned=_NEW_ONE, new_aligned_nothrow=_NEW_ONE,
    new_n=replace(_MANY, is_new=True),
)  # fmt: skip
_TCMALLOC = _named(
    "tc_",
    malloc_skip_new_handler=_ONE,
    new=_NEW_ONE, new_nothrow=_NEW_ONE, new_aligned=_NEW_ONE, new_aligned_nothrow=_NEW_ONE,
    newarray=_NEW_ONE, newarray_nothrow=_NEW_ONE, newarray_aligned=_NEW_ONE, newarray_aligned_nothrow=_NEW_ONE,
)  # fmt: skip

# The names that programs use come first: an address is probed once, by the first name it has.
ALLOCATORS: Mapping[str, Allocator] = {
    **_STANDARD, **_COPIES, **_OPERATORS, **_PREFIXED, **_MIMALLOC, **_TCMALLOC,
}  # fmt: skip

_STANDARD_FREES = ("free", "cfree", "free_sized", "free_aligned_sized", "sdallocx", "dallocx")
_PREFIXED_FREES = (
    *(prefix + name for prefix in _PREFIXES for name in _STANDARD_FREES),
    *(f"mi_free_{form}" for form in ("size", "size_aligned", "aligned")),
    *(
        f"tc_delete{kind}{form}"
        for kind in ("", "array")
        for form in ("", "_nothrow", "_sized", "_aligned", "_aligned_nothrow", "_sized_aligned")
    ),
)
FREES = (*_STANDARD_FREES, *_PREFIXED_FREES)
_DELETE_FORMS = ("", "m", "RKSt9nothrow_t", "St11align_val_t", "mSt11align_val_t", "St11align_val_tRKSt9nothrow_t")
DELETES = tuple(f"_Zd{kind}Pv{form}" for kind in "la" for form in _DELETE_FORMS)

# A linker makes hidden functions of a library that it takes into a program local ones. Of the standard names only
# global ones count: a program may well have a static function of its own called `free`.
MAY_BE_LOCAL = frozenset({*_PREFIXED, *_MIMALLOC, *_TCMALLOC, *_PREFIXED_FREES})

SYMBOLS = tuple(ALLOCATORS)
LEAVES = tuple(dict.fromkeys(allocator.leaf for allocator in ALLOCATORS.values()))


@dataclass(frozen=True, slots=True)
class Function:
    """A function to follow, by where its file has it."""

    symbol: Symbol
    allocator: Allocator | None  # None: it takes memory back
    leaf_number: int = 0
    symbol_number: int = 0
    block: int = 1  # position of the argument that it takes back
    may_throw: bool = False  # and is none of the known ones: it is left by its rets

    @classmethod
    def known(cls, symbol: Symbol) -> Function:
        """By its name, one of those above."""
        known = ALLOCATORS.get(symbol.name)
        if known is None:
            return cls(symbol, None)
        return cls(symbol, known, LEAVES.index(known.leaf), SYMBOLS.index(symbol.name))
