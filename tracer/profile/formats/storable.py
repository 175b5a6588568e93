"""Names of value types and facts of a capture, as a file tells them, to what every store and every link can hold."""

from __future__ import annotations

from dataclasses import replace

from tracer.profile.folded import MAX_VALUE_NAME
from tracer.profile.model import Profile, ValueType

_MAX_UNIT = 60  # characters; a word on an axis
_MAX_TEXT = 4096  # characters of one fact, a command line for example


def make_storable(profile: Profile) -> None:
    """In place: names without white space that occur once, texts without NUL and lone surrogates, of bounded length."""
    taken: set[str] = set()
    profile.value_types = tuple(_named_apart(known, taken) for known in profile.value_types)
    profile.capture = {key: _clean(value) for key, value in profile.capture.items()}


def _named_apart(known: ValueType, taken: set[str]) -> ValueType:
    plain = "_".join(_text(known.name).split())[:MAX_VALUE_NAME] or "value"
    name, count = plain, 1
    while name in taken:
        count += 1
        ending = f"_{count}"
        name = f"{plain[: MAX_VALUE_NAME - len(ending)]}{ending}"
    taken.add(name)
    return known if name == known.name and _is_plain(known.unit) else replace(known, name=name, unit=_unit(known.unit))


def _unit(unit: str) -> str:
    return " ".join(_text(unit).split())[:_MAX_UNIT] or "value"


def _is_plain(unit: str) -> bool:
    return _unit(unit) == unit


def _clean(fact: object) -> object:
    if isinstance(fact, str):
        return _text(fact[:_MAX_TEXT])
    if isinstance(fact, list | tuple):
        return [_clean(each) for each in fact]
    if isinstance(fact, dict):
        return {_text(str(key)): _clean(each) for key, each in fact.items()}
    return fact


def _text(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", "\ufffd")
