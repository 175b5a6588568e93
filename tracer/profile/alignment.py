"""Names of frames to names without what differs from build to build, so that in a difference code meets itself.

What is done is a text, which an address carries: rules by name, then patterns with what takes their place:
    hashes;templates;~std::__v\\d+::~std::
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any
from urllib.parse import quote, unquote

MAX_REPLACEMENTS = 20
MAX_CHARACTERS = 500  # of a pattern, and of what takes its place
MAX_PATTERN_BYTES = 1 << 20  # of memory that a compiled pattern may take


class BadAlignment(ValueError):
    """The text says nothing that can be done; the message is for people."""


@dataclass(frozen=True, slots=True)
class Rule:
    """`apply` gives the new name; an empty one means that the frame only passes on, and counts as its caller's."""

    title: str
    example: tuple[str, str]
    apply: Callable[[str], str]


def _replacing(pattern: str, by: str) -> Callable[[str], str]:
    compiled = re.compile(pattern)
    return lambda name: compiled.sub(by, name)


def _without_template_arguments(name: str) -> str:
    """`a<b<c>>::d` is `a<>::d`; the signs of operators are no brackets."""
    kept: list[str] = []
    depth = place = 0
    while place < len(name):
        operator = _OPERATOR.match(name, place)
        if operator:
            text, place = operator.group(), operator.end()
        else:
            text, place = name[place], place + 1
        depth -= text == ">" and depth > 0
        if depth == 0:
            kept.append(text)
        depth += text == "<"
    return "".join(kept) if depth == 0 else name


# Operators are taken as one sign; "<" after them may open arguments of the operator itself.
_OPERATOR = re.compile(r"operator(?:<=>|<<=|>>=|<<|>>|<=|>=|->\*|->|<(?!=)|>)|->|=>")
_WRAPPER = re.compile(
    r"^(?:std::(?:__\w+::)?(?:__)?invoke(?:_impl|_r)?\b|std::(?:__\w+::)?function<.*>::operator\(\)"
    r"|std::_Function_handler<.*>::_M_invoke|core::ops::function::Fn(?:Once|Mut)?::call(?:_once|_mut)?\b"
    r"|<.* as core::ops::function::Fn(?:Once|Mut)?<.*>>::call|std::panicking::(?:r#)?try\b|std::panic::catch_unwind\b"
    r"|std::sys_common::backtrace::__rust_(?:begin|end)_short_backtrace\b"
    r"|(?:java\.base/)?(?:jdk\.internal|java\.lang)\.(?:reflect|invoke)\.[\w.$]*[iI]nvoke"
    r"|__libc_start_(?:call_)?main|start_thread|clone3?$|_start$|reflect\.Value\.[cC]all$)"
)

RULES: Mapping[str, Rule] = {
    "hashes": Rule(
        "Hashes and suffixes of the compiler",
        ("parse::h0123456789abcdef", "parse"),
        _replacing(r"::h[0-9a-f]{16}\b|\.(?:llvm|constprop|isra|part|lto_priv|cold)(?:\.\d+)*\b| \[clone [^\]]*\]", ""),
    ),
    "lambdas": Rule(
        "Numbers of lambdas",
        ("lambda$main$12", "lambda$main$"),
        _replacing(r"(?<=\$_)\d+|(?<=#)\d+(?=\})|(?<=\$)\d+$|(?<=\$\$Lambda)[$/]?[\w/+]+|(?<=\.func)\d+(?:\.\d+)*", ""),
    ),
    "templates": Rule(
        "Template arguments",
        ("std::vector<int>::push_back", "std::vector<>::push_back"),
        _without_template_arguments,
    ),
    "versions": Rule(
        "Versioned namespaces",
        ("std::__1::sort", "std::sort"),
        _replacing(r"\b(?:__cxx\d+|__\d+|__ndk\d+|v\d+(?:_\d+)*|lts_\d+)::|@v?\d+(?:\.\d+)+(?:[-+][\w.]+)?", ""),
    ),
    "addresses": Rule(
        "Addresses",
        ("[libc.so.6+0x1d2f0]", "[libc.so.6]"),
        _replacing(r"\+?\b0x[0-9a-fA-F]+|\+0x[0-9a-fA-F]+", ""),
    ),
    "wrappers": Rule(
        "Frames that only pass a call on",
        ("core::ops::function::FnOnce::call_once", ""),
        lambda name: "" if _WRAPPER.match(name) else name,
    ),
}


@dataclass(frozen=True)
class Alignment:
    """Rules in the order of RULES, then replacements in the order given."""

    rules: tuple[str, ...] = ()
    replacements: tuple[tuple[str, str], ...] = ()

    @classmethod
    def parse(cls, text: str) -> Alignment:
        """Raises BadAlignment when a rule is not known or a pattern is none."""
        steps = [step for step in text.split(";") if step]
        rules = {step for step in steps if not step.startswith("~")}
        if unknown := rules - RULES.keys():
            raise BadAlignment(f"There is no rule {sorted(unknown)[0]!r}, there is {', '.join(RULES)}.")
        alignment = cls(
            tuple(rule for rule in RULES if rule in rules),
            tuple(_replacement(step) for step in steps if step.startswith("~")),
        )
        if len(alignment.replacements) > MAX_REPLACEMENTS:
            raise BadAlignment(f"There are {len(alignment.replacements)} patterns, the limit is {MAX_REPLACEMENTS}.")
        _ = alignment.steps  # compiles the patterns
        return alignment

    def __bool__(self) -> bool:
        return bool(self.rules or self.replacements)

    @property
    def text(self) -> str:
        """The same alignment always has the same text."""
        return ";".join([*self.rules, *(f"~{_escaped(old)}~{_escaped(new)}" for old, new in self.replacements)])

    def toggled(self, rule: str) -> Alignment:
        """With that rule, or without it where it was there."""
        kept = {*self.rules} ^ {rule}
        return replace(self, rules=tuple(name for name in RULES if name in kept))

    @property
    def words(self) -> str:
        """`hashes, 1 pattern`; empty for none."""
        count = len(self.replacements)
        patterns = [f"{count} {'pattern' if count == 1 else 'patterns'}"] if count else []
        return ", ".join([*self.rules, *patterns])

    @cached_property
    def steps(self) -> Sequence[Callable[[str], str]]:
        return [*(RULES[rule].apply for rule in self.rules), *(_user_step(*pair) for pair in self.replacements)]

    def name_of(self, name: str) -> str:
        """Empty for a frame that only passes a call on."""
        for step in self.steps:
            name = step(name)
        return name

    def names(self, names: Iterable[str]) -> list[str]:
        return [self.name_of(name) for name in names]


AS_NAMED = Alignment()


def _replacement(step: str) -> tuple[str, str]:
    parts = [unquote(part) for part in step[1:].split("~")]
    if len(parts) != 2 or not parts[0]:
        raise BadAlignment(f"A pattern and what takes its place were expected, got {unquote(step)[:80]!r}.")
    if longest := next((part for part in parts if len(part) > MAX_CHARACTERS), ""):
        raise BadAlignment(
            f"The pattern {longest[:40]!r}… has {len(longest)} characters, the limit is {MAX_CHARACTERS}."
        )
    return parts[0], parts[1]


def _escaped(text: str) -> str:
    return quote(text, safe="").replace("~", "%7E")


def _user_step(pattern: str, by: str) -> Callable[[str], str]:
    """RE2 needs time in proportion to the name, whatever the pattern: a person's pattern can't hold the site up."""
    import re2

    if wrong := re.search(r"\\(?:[^0-9\\]|$)", by):
        raise BadAlignment(
            f"{wrong.group()!r} in {by[:80]!r} is no group for RE2: there are \\1 to \\9, and \\\\ for a backslash."
        )
    options = re2.Options()
    options.log_errors, options.max_mem = False, MAX_PATTERN_BYTES
    try:
        compiled: Any = re2.compile(pattern, options)
    except re2.error as error:
        raise BadAlignment(f"{pattern[:80]!r} is no pattern that RE2 knows: {_words(error)}.") from None
    if highest := max((int(group) for group in re.findall(r"(?<!\\)\\(\d)", by)), default=0):
        _require_group(compiled, highest)
    return lambda name: str(compiled.sub(by, name))


def _require_group(compiled: Any, highest: int) -> None:
    if highest > compiled.groups:
        raise BadAlignment(f"{compiled.pattern[:80]!r} has {compiled.groups} groups for RE2, \\{highest} is asked for.")


def _words(error: Exception) -> str:
    said = error.args[0] if error.args else error
    return said.decode(errors="replace") if isinstance(said, bytes) else str(said)
