"""Mangled names of C++ and Rust to what was written: whole, but for the hash at the end of a Rust name.

https://itanium-cxx-abi.github.io/cxx-abi/abi.html#mangling
https://doc.rust-lang.org/rustc/symbol-mangling/v0.html
_ZN5store5IndexIlE6insertEl            store::Index<long>::insert(long)
_ZN5store4load17h0123456789abcdefE     store::load
_RNCNvCs1234_5store4load0B3_           store::load::{closure#0}
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from functools import cache

MAX_NAME = 8192  # characters of a name that is shown; a site takes 65,536 bytes, and libLLVM's longest has 4,272
_LONG = 120  # what is shorter can't say so little and mean so much that c++filt does not come to an end

_RUST_LEGACY = re.compile(r"_ZN.+17h[0-9a-f]{16}E(?:\.|$)")
_RUST_V0 = re.compile(r"_R[A-Z0-9]")
_HASH = re.compile(r"::h[0-9a-f]{16}$")
_VERSION = re.compile(r"@@?[A-Za-z0-9_.]+$")  # of a symbol of a library, such as @GLIBCXX_3.4


def demangled(name: str) -> str:
    """A name that is not mangled, or not validly so, comes back as it is; one beyond all measure is cut."""
    return cut(name if len(name) > MAX_NAME else _demangled(_VERSION.sub("", name)))


def cut(name: str) -> str:
    return name if len(name) <= MAX_NAME else name[: MAX_NAME - 1] + "…"


def load() -> None:
    """Open the libraries now: a process that gives up its rights may not reach their files any more."""
    _cxx_demangle()
    _bounded("_Z1fv")


def _demangled(name: str) -> str:
    if _RUST_V0.match(name) or _RUST_LEGACY.match(name):
        return _HASH.sub("", _bounded(name))
    if not name.startswith("_Z"):
        return name
    # Back references may double a name with every ten characters: c++filt would go on for years. Its names are the
    # ones that people know, so it has the word where another demangler, which has bounds, comes to an end.
    if len(name) > _LONG and _bounded(name) == name:
        return name
    return _cxx_demangle()(name) or name


def _bounded(name: str) -> str:
    import multi_demangle

    return str(multi_demangle.demangle_symbol(name)) if name.isascii() else name


@cache
def _cxx_demangle() -> Callable[[str], str | None]:
    """The C++ library's own demangler, as c++filt has it; bcc needs the library too."""
    demangle = ctypes.CDLL("libstdc++.so.6").__cxa_demangle
    demangle.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_int)]
    demangle.restype = ctypes.c_void_p
    free = ctypes.CDLL(None).free
    free.argtypes, free.restype = [ctypes.c_void_p], None

    def demangled(name: str) -> str | None:
        status = ctypes.c_int()
        place = demangle(name.encode("utf-8", "replace"), None, None, ctypes.byref(status))
        if not place:
            return None
        try:
            return ctypes.string_at(place).decode("utf-8", "replace")
        finally:
            free(place)

    return demangled
