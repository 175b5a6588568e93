"""An ES module, or a style sheet, and all that it imports to one file: one request for a page, none for a saved one.

Each module becomes a function's body, those that it imports first. Only the few forms of import and export that
frontend/js and its vendored files use are known; anything else is refused, and tests bundle every module.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable

_IMPORT = re.compile(r'^import\s+(?:\{(?P<names>[^}]*)\}\s+from\s+)?"(?P<path>\.[^"]+)";?[ \t]*$', re.MULTILINE)
_DECLARED = re.compile(r"^export\s+(?=(?:async\s+)?(?:function\*?|class|const)\s+(?P<name>[\w$]+))", re.MULTILINE)
_LISTED = re.compile(r"(?:(?<=[;}])|^)export\s*\{(?P<names>[^}]*)\}(?!\s*from);?", re.MULTILINE)
_UNKNOWN = re.compile(r"^(?:import|export)\b.*$|\bimport\.meta\b|\bimport\s*\(", re.MULTILINE)
_STYLE_IMPORT = re.compile(r'^@import "(?P<path>[^"]+)";$', re.MULTILINE)


class UnknownModuleForm(ValueError):
    """A module is written in a way that this bundler does not know; the text names it."""


def bundle(entry: str, read: Callable[[str], str]) -> str:
    """`read` gives the text of a module by its path below the static files, `js/run-page.js`."""
    texts = _in_order_of_need(entry, read)
    number = {path: place for place, path in enumerate(texts)}
    parts = [_as_function(path, text, number) for path, text in texts.items()]
    return '(() => {\n"use strict";\n' + "".join(parts) + "})();\n"


def _in_order_of_need(entry: str, read: Callable[[str], str]) -> dict[str, str]:
    """Text by path; what a module imports stands before it."""
    texts: dict[str, str] = {}
    ordered: dict[str, str] = {}
    above: list[str] = []  # modules whose imports are being looked at, each importing the next
    waiting = [entry]
    while waiting:
        path = waiting[-1]
        if path in ordered or (above and above[-1] == path):
            ordered.setdefault(path, texts[path])
            above = above[:-1] if above[-1:] == [path] else above
            waiting.pop()
            continue
        texts[path] = read(path)
        above.append(path)
        needed = [other for other in imported(path, texts[path]) if other not in ordered]
        if circle := [other for other in needed if other in above]:
            raise UnknownModuleForm(f"{path} and {circle[0]} import each other")
        waiting += needed
    return ordered


def bundle_styles(path: str, read: Callable[[str], str]) -> str:
    """`read` gives the text of a sheet by its path below the static files; a sheet imports those of its own folder."""
    return _STYLE_IMPORT.sub(lambda found: bundle_styles(_resolved(path, found["path"]), read), read(path))


def imported(path: str, text: str) -> list[str]:
    """Paths of the modules, or sheets, that a module, or sheet, imports."""
    form = _STYLE_IMPORT if path.endswith(".css") else _IMPORT
    return [_resolved(path, found["path"]) for found in form.finditer(text)]


def _resolved(path: str, target: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), target))


def _as_function(path: str, text: str, number: dict[str, int]) -> str:
    exported = [f"{found['name']}" for found in _DECLARED.finditer(text)]
    for found in _LISTED.finditer(text):
        exported += [_pair(names, ": ") for names in _names(found["names"])]

    def constant(found: re.Match[str]) -> str:
        names = ", ".join(_pair(names[::-1], ": ") for names in _names(found["names"] or ""))
        return f"const {{ {names} }} = module_{number[_resolved(path, found['path'])]};" if names else ""

    body = _LISTED.sub("", _DECLARED.sub("", _IMPORT.sub(constant, text)))
    if unknown := _UNKNOWN.search(body):
        raise UnknownModuleForm(f"{path}: {unknown[0][:120]!r} is no form of import or export that is bundled")
    return f"const module_{number[path]} = (() => {{ // {path}\n{body}\nreturn {{ {', '.join(exported)} }};\n}})();\n"


def _names(listed: str) -> list[list[str]]:
    """`a, b as c` as [[c, a]…]: the outer name, then the one inside of the module."""
    return [part.split(" as ")[::-1] for part in re.split(r"\s*,\s*", listed.strip()) if part]


def _pair(names: list[str], sign: str) -> str:
    return names[0] if len(names) == 1 else sign.join(names)
