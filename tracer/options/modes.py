"""The options of a malloc recording that say how much of each call is followed: all, a sample, or its entry only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tracer.options.blocks import BLOCK_OPTIONS, COLLECTOR
from tracer.options.errors import BadOption

MODE, SAMPLE_BYTES, MODE_REASON = "mode", "sample_bytes", "mode_reason"
AUTO, EXACT, SAMPLED, CALLS = "auto", "exact", "sampled", "calls"
MODES: Mapping[str, str] = {
    AUTO: "Exact if that fits the budget by a count of some seconds, else sampled",
    EXACT: "Exact: every block is followed",
    SAMPLED: "Sampled: by bytes, values are estimates, totals exact",
    CALLS: "Calls only: how often and for how much, nothing of frees",
}
MODE_OPTIONS = (MODE, SAMPLE_BYTES)
DEFAULT_MODE = AUTO  # where people ask; a spec without a mode is exact, as it was before there were others
DEFAULT_SAMPLE_BYTES = 512 << 10
LEAST_SAMPLE_BYTES, MOST_SAMPLE_BYTES = 1 << 10, 1 << 30


@dataclass(frozen=True, slots=True)
class ModeOptions:
    mode: str = EXACT
    sample_bytes: int = DEFAULT_SAMPLE_BYTES  # one block is followed for each so many, on average

    @classmethod
    def of(cls, options: Mapping[str, int | str]) -> ModeOptions:
        """Of a run spec's options; BadOption says which one is wrong, and why."""
        mode = options.get(MODE, EXACT)
        if mode not in MODES:
            raise BadOption(MODE, f"{mode!r}, there is {', '.join(MODES)}")
        return cls(str(mode), _sample_bytes(options.get(SAMPLE_BYTES, DEFAULT_SAMPLE_BYTES)))

    @property
    def is_sampled(self) -> bool:
        return self.mode == SAMPLED

    @property
    def is_calls(self) -> bool:
        return self.mode == CALLS

    @property
    def words(self) -> str:
        """What a value of mode sampled is, to be read after its meaning."""
        return f"estimated from samples every {size_text(self.sample_bytes)}"

    def facts(self) -> dict[str, object]:
        """Keys of the capture."""
        return {MODE: self.mode, **({SAMPLE_BYTES: self.sample_bytes} if self.is_sampled else {})}


def mode_captured(capture: Mapping[str, object]) -> ModeOptions | None:
    """What a snapshot says of its own mode; None if it says nothing, or what can't be."""
    claimed = {name: capture[name] for name in MODE_OPTIONS if isinstance(capture.get(name), int | str)}
    try:
        return ModeOptions.of(claimed) if MODE in claimed else None  # type: ignore[arg-type] # just tested
    except BadOption:
        return None


def check_mode(collector: str, options: Mapping[str, int | str]) -> None:
    """BadOption for a value that can't be, and for options that have no meaning together."""
    mode = ModeOptions.of(options)
    for name in MODE_OPTIONS:
        if name in options and collector != COLLECTOR:
            raise BadOption(name, f"{options[name]!r}, but {collector} has no modes: leave it out, or use {COLLECTOR}")
    if SAMPLE_BYTES in options and mode.mode in (EXACT, CALLS):
        raise BadOption(SAMPLE_BYTES, f"{options[SAMPLE_BYTES]}, but mode {mode.mode} takes no samples: leave it out")
    for name in BLOCK_OPTIONS:
        if name in options and mode.is_calls:
            raise BadOption(name, f"{options[name]!r}, but mode {CALLS} follows no blocks: leave it out")


def size_text(size: int) -> str:
    """In the largest unit that keeps it short: `512 kB`, `1.5 MB`."""
    unit, name = next((unit, name) for unit, name in ((1 << 20, "MB"), (1 << 10, "kB")) if size >= unit)
    return f"{size / unit:.1f}".removesuffix(".0") + f"\N{NO-BREAK SPACE}{name}"


def _sample_bytes(value: int | str) -> int:
    if not isinstance(value, int) or not LEAST_SAMPLE_BYTES <= value <= MOST_SAMPLE_BYTES:
        raise BadOption(SAMPLE_BYTES, f"{value!r}, it must be from {LEAST_SAMPLE_BYTES:,} to {MOST_SAMPLE_BYTES:,}")
    return value
