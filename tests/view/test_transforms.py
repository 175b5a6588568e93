"""What each step and view makes of stacks, worked out stack by stack; transforms.json holds it for JavaScript, too."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Stack = tuple[str, ...]
Stacks = dict[Stack, int]
CASES: dict[str, Any] = json.loads((Path(__file__).parent / "transforms.json").read_text())


def module(name: str) -> str:
    """Of names as these graphs have them; moduleOf of JavaScript knows more."""
    return name.split("::")[0] if "::" in name else "[no module in the name]"


def below_first(stack: Stack, name: str) -> Stack | None:
    return stack[stack.index(name) :] if name in stack else None


def without(stack: Stack, is_hidden: Callable[[str], bool]) -> Stack:
    return tuple(frame for frame in stack if not is_hidden(frame))


def collapsed(stack: Stack) -> Stack:
    kept: list[str] = []
    for frame in stack:
        kept = kept[: kept.index(frame) + 1] if frame in kept else [*kept, frame]
    return tuple(kept)


def merged(stack: Stack) -> Stack:
    modules = [module(frame) for frame in stack]
    return tuple(each for place, each in enumerate(modules) if place == 0 or modules[place - 1] != each)


def matches(stack: Stack, pattern: str) -> bool:
    return any(re.search(pattern, frame) for frame in stack)


# A stack after a step, None when it is gone.
STEPS: dict[str, Callable[[Stack, dict[str, Any]], Stack | None]] = {
    "focus": lambda stack, step: (
        stack[len(step["path"]) - 1 :] if list(stack[: len(step["path"])]) == step["path"] else None
    ),
    "focus-function": lambda stack, step: below_first(stack, step["name"]),
    "hide-function": lambda stack, step: without(stack, lambda frame: frame == step["name"]),
    "hide-module": lambda stack, step: without(stack, lambda frame: module(frame) == step["name"]),
    "leave-out": lambda stack, step: None if step["name"] in stack else stack,
    "only-code": lambda stack, step: without(stack, lambda frame: not re.search(step["pattern"], frame)),
    "keep-matches": lambda stack, step: stack if matches(stack, step["pattern"]) else None,
    "recursion": lambda stack, step: collapsed(stack),
    "modules": lambda stack, step: merged(stack),
}
VIEWS: dict[str, Callable[[Stack, str], Stack | None]] = {
    "icicle": lambda stack, fn: stack,
    "bottom-up": lambda stack, fn: stack[::-1],
    "callees": lambda stack, fn: stack[stack.index(fn) + 1 :] if fn in stack else None,
    "callers": lambda stack, fn: stack[: stack.index(fn)][::-1] if fn in stack else None,
}


def added(stacks: list[tuple[Stack | None, int]]) -> Stacks:
    total: Counter[Stack] = Counter()
    for stack, value in stacks:
        if stack is not None:
            total[stack] += value
    return {stack: value for stack, value in total.items() if value}


def shown(stacks: Stacks, case: dict[str, Any]) -> Stacks:
    for step in case["steps"]:
        stacks = added([(STEPS[step["kind"]](stack, step), value) for stack, value in stacks.items()])
    view = VIEWS[case["view"]]
    return added([(view(stack, case.get("fn", "")), value) for stack, value in stacks.items()])


def read(rows: list[list[Any]]) -> Stacks:
    return {tuple(stack): value for stack, value in rows}


@pytest.mark.parametrize("case", CASES["cases"], ids=lambda case: case["about"])
def test_a_step_or_a_view_shows_these_stacks(case: dict[str, Any]) -> None:
    assert shown(read(CASES["stacks"]), case) == read(case["stacks"])


def test_what_only_folds_or_turns_keeps_the_total() -> None:
    losing = {"focus", "focus-function", "leave-out", "keep-matches"}
    whole = sum(read(CASES["stacks"]).values())
    kept = [
        case
        for case in CASES["cases"]
        if case["view"] in ("icicle", "bottom-up") and not losing & {step["kind"] for step in case["steps"]}
    ]

    assert len(kept) >= 7
    for case in kept:
        assert sum(read(case["stacks"]).values()) == whole, case["about"]


def test_every_step_has_a_case() -> None:
    assert {step["kind"] for case in CASES["cases"] for step in case["steps"]} == set(STEPS)
