"""Options of a malloc recording that say which blocks count, and into which bands of age outstanding bytes are split.

An age is a whole number with its unit: `30s`, `5m`, `1h`. Bands are given by their bounds: `10s,1m,10m`, or `none`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from tracer.options.errors import BadOption

COLLECTOR = "malloc"
BLOCK_OPTIONS = ("age_bands", "older_than", "min_size", "max_size")
DEFAULT_AGE_BANDS = "10s,1m,10m"
NO_AGE_BANDS = "none"
OLDEST_BAND = "older"

MAX_AGE_BOUNDS = 6  # each is one more graph of every snapshot
MAX_AGE_S = 24 * 3600
MAX_BYTES = (1 << 63) - 1

_SECONDS_BY_UNIT = {"h": 3600, "m": 60, "s": 1}
_WORD_BY_UNIT = {"h": "h", "m": "min", "s": "s"}
_AGE = re.compile(r"([0-9]{1,9})([smh])")


@dataclass(frozen=True, slots=True)
class BlockOptions:
    age_bounds_s: tuple[int, ...]  # rising
    older_than_s: int = 0  # younger blocks do not count as outstanding; 0: all do
    min_bytes: int = 0
    max_bytes: int = MAX_BYTES

    @classmethod
    def of(cls, options: Mapping[str, int | str]) -> BlockOptions:
        """Of a run spec's options; BadOption says which one is wrong, and why."""
        return cls(
            _age_bounds_s(options.get("age_bands", DEFAULT_AGE_BANDS)),
            _age_s("older_than", options["older_than"]) if "older_than" in options else 0,
            *_sizes(options.get("min_size", 0), options.get("max_size", MAX_BYTES)),
        )

    @property
    def band_names(self) -> tuple[str, ...]:
        """Youngest first; `lt1m` begins where the band before it ends."""
        bounded = tuple(f"lt{age_text(bound_s)}" for bound_s in self.age_bounds_s)
        return (*bounded, OLDEST_BAND) if bounded else ()

    @property
    def needs_ages(self) -> bool:
        return bool(self.age_bounds_s or self.older_than_s)

    @property
    def wants_all_sizes(self) -> bool:
        return self.min_bytes == 0 and self.max_bytes == MAX_BYTES

    def filters(self) -> dict[str, int | str]:
        """The options that leave blocks out, as a run spec and a capture have them."""
        asked: dict[str, int | str] = {}
        if self.older_than_s:
            asked["older_than"] = age_text(self.older_than_s)
        if self.min_bytes:
            asked["min_size"] = self.min_bytes
        if self.max_bytes < MAX_BYTES:
            asked["max_size"] = self.max_bytes
        return asked


def check_block_options(collector: str, options: Mapping[str, int | str]) -> None:
    """BadOption for a value that can't be, and for one of malloc's options with another collector."""
    if collector == COLLECTOR:
        BlockOptions.of(options)
        return
    for name in BLOCK_OPTIONS:
        if name in options:
            raise BadOption(name, f"{options[name]!r}, but {collector} has no blocks: leave it out, or use {COLLECTOR}")


def age_text(seconds: int) -> str:
    """In the largest unit that divides it, so that one age has one name: `1m`, never `60s`."""
    return next(f"{seconds // size}{unit}" for unit, size in _SECONDS_BY_UNIT.items() if seconds % size == 0)


def age_words(seconds: int) -> str:
    """As people write it: `1 min`."""
    text = age_text(seconds)
    return f"{text[:-1]}\N{NO-BREAK SPACE}{_WORD_BY_UNIT[text[-1]]}"


def age_of(text: str) -> int | None:
    """Seconds of an age as `age_text` writes it; None if it is none."""
    try:
        seconds = _age_s("age_bands", text)
    except BadOption:
        return None
    return seconds if age_text(seconds) == text else None


def _age_bounds_s(value: int | str) -> tuple[int, ...]:
    if value == NO_AGE_BANDS:
        return ()
    parts = str(value).split(",")
    if len(parts) > MAX_AGE_BOUNDS:
        raise BadOption("age_bands", f"{value!r}: these are {len(parts)} bounds, the limit is {MAX_AGE_BOUNDS}")
    bounds_s = tuple(_age_s("age_bands", part.strip()) for part in parts)
    if sorted(set(bounds_s)) != list(bounds_s):
        raise BadOption("age_bands", f"{value!r}: each bound must be above the one before it")
    return bounds_s


def _age_s(name: str, value: int | str) -> int:
    found = _AGE.fullmatch(str(value))
    if found is None:
        raise BadOption(name, f"{value!r}: an age is a whole number with s, m or h behind it, such as 30s")
    seconds = int(found[1]) * _SECONDS_BY_UNIT[found[2]]
    if seconds == 0:
        raise BadOption(name, f"{value}: the least age is 1s")
    if seconds > MAX_AGE_S:
        raise BadOption(name, f"{value}: the limit of an age is {age_text(MAX_AGE_S)}")
    return seconds


def _sizes(low: int | str, high: int | str) -> tuple[int, int]:
    smallest, largest = _size("min_size", low), _size("max_size", high)
    if smallest > largest:
        raise BadOption("min_size", f"{smallest:,} bytes, it must not be above max_size, which is {largest:,}")
    return smallest, largest


def _size(name: str, value: int | str) -> int:
    if not isinstance(value, int) or not 0 <= value <= MAX_BYTES:
        raise BadOption(name, f"{value!r}, it must be a number of bytes from 0 to {MAX_BYTES:,}")
    return value
