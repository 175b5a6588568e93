"""A profile to one-column folded text, as every flame graph tool reads it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TextIO

from tracer.profile.folded import number_text
from tracer.profile.model import Number, Profile, Stack


def write_one_column(profile: Profile, column: int, out: TextIO) -> None:
    """One value type, root first, sorted; stacks that become the same text add up.

    A stack that has a value of another type only is not of this one: samples of two perf events share no stack.
    """
    rows = ((stack, values) for stack, values in profile.rows() if values[column] or not any(values))
    value_by_line = add_up((plain_stack(stack), (values[column],)) for stack, values in rows)
    out.writelines(f"{line} {number_text(value)}\n" for line, (value,) in value_by_line)


def plain_stack(stack: Stack) -> str:
    """Frames joined by `;`. This text has no escapes: `;` inside a frame becomes `:`, a line break a space."""
    return ";".join(_plain(name) for name in stack)


def _plain(name: str) -> str:
    return " ".join(name.replace(";", ":").splitlines()) if _BREAKS & set(name) else name


_BREAKS = frozenset(";\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029")


def add_up(rows: Iterable[tuple[str, tuple[Number, ...]]]) -> Iterator[tuple[str, tuple[Number, ...]]]:
    """Sorted, the values of equal texts added."""
    values_by_text: dict[str, tuple[Number, ...]] = {}
    for text, values in rows:
        old = values_by_text.get(text)
        values_by_text[text] = values if old is None else tuple(map(sum, zip(old, values, strict=True)))
    yield from sorted(values_by_text.items())
