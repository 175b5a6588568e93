"""Folded text of other tools, and of ours, to stacks that can be compared: what a form takes away is no difference."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

Stack = tuple[str, ...]
Values = Counter[Stack]


@dataclass(frozen=True)
class Form:
    """One way in which names are written differently; `ours` too where the tool's way loses what ours keeps."""

    change: Callable[[Stack], Stack]
    ours: bool = False


def _each(pattern: str, by: str) -> Callable[[Stack], Stack]:
    known = re.compile(pattern)
    return lambda stack: tuple(known.sub(by, name) for name in stack)


def _root(pattern: str, by: str) -> Callable[[Stack], Stack]:
    known = re.compile(pattern)
    return lambda stack: (known.sub(by, stack[0]), *stack[1:])


_RUST = {"LT": "<", "GT": ">", "RF": "&", "LP": "(", "RP": ")", "C": ",", "BP": "*", "SP": "@"}
_RUST_ESCAPE = re.compile(r"\$(?:u([0-9a-f]{1,5})|([A-Z]{1,2}))\$")


def _plain_rust(stack: Stack) -> Stack:
    return tuple(_plain_rust_name(name) for name in stack)


def _plain_rust_name(name: str) -> str:
    name = re.sub(r"^_(?=\$)|::h[0-9a-f]{16}$", "", name).replace("..", "::")
    return _RUST_ESCAPE.sub(lambda found: chr(int(found[1], 16)) if found[1] else _RUST.get(found[2], found[0]), name)


FORMS = {
    "tags": Form(_each(r"_\[[kijw]\]$", ""), ours=True),
    "process": Form(_root(r"-(?:\?|\d+)(?:/\d+)?$", "")),
    "command": Form(_root(" ", "_"), ours=True),
    "addresses": Form(_each(r" <[0-9a-f]+>\]$", "]")),
    "offsets": Form(_each(r"\+(?:0x[0-9a-f]+|\d+)$", "")),
    "glued offsets": Form(_each(r"(?<=\w)0x[0-9a-f]+$", "")),
    "brackets": Form(_each(r"^\[(\[.*\])\]$", r"\1")),
    "arguments": Form(_each(r"\((?!anonymous namespace).*", ""), ours=True),
    "quotes": Form(_each("[\"']", ""), ours=True),
    "class letter": Form(_each(r"^L(?=[\w$]+/)", ""), ours=True),
    "Rust": Form(_plain_rust, ours=True),
}
"""Each with its reason in docs/corpus.md."""


def in_forms(values: Values, names: Iterable[str], *, ours: bool) -> Values:
    forms = [FORMS[name] for name in names]
    changed: Values = Counter()
    for stack, value in values.items():
        for form in forms:
            if form.ours or not ours:
                stack = form.change(stack)
        changed[stack] += value
    return changed


_LINE = re.compile(r"(.*\S)\s+(-?\d+(?:\.\d+)?)")


def folded(text: str) -> Values:
    """As any of these tools writes it: one value a line, no escapes."""
    values: Values = Counter()
    for line in text.splitlines():
        if found := _LINE.fullmatch(line):
            values[tuple(found[1].split(";"))] += float(found[2]) if "." in found[2] else int(found[2])  # type: ignore[assignment]
    return values
