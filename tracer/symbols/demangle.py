"""C++ symbol names to what was written, whole: with namespaces, templates and parameters."""

from __future__ import annotations

from functools import lru_cache


@lru_cache(maxsize=65_536)
def demangled(name: str) -> str:
    """A name that is not mangled, or not validly so, comes back as it is."""
    if not name.startswith("_Z"):
        return name
    import cxxfilt

    try:
        return str(cxxfilt.demangle(name))
    except cxxfilt.Error:
        return name
