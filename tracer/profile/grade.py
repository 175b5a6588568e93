"""What a capture says of itself to a grade: how far a reader may trust the picture.

frontend/js/grade.js does the same; tests/view/grades.json holds both to one meaning, docs/reading.md tells it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

Grade = Literal["A", "B", "C", "D", ""]
"""A complete, B minor gaps, C weak, D not to be relied on; empty: the file does not say."""

# Up to these shares the grade is A, B, C; above the last it is D.
LIMITS: Mapping[str, tuple[float, float, float]] = {
    "without_stack": (0.0, 0.01, 0.1),  # of the value
    "lost": (0.0, 0.001, 0.01),  # of events
    "unresolved": (0.05, 0.2, 0.5),  # of the graph's area
    "broken": (0.01, 0.1, 1.0),  # of the value: callers are missing, what is there is right
    "truncated": (0.01, 0.1, 1.0),
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One gap that keeps a capture from being complete."""

    grade: Grade
    cause: str  # of LIMITS, "no_events" or "skipped_lines"
    share: float = 0.0  # of 1, where the cause has one


@dataclass(frozen=True, slots=True)
class Verdict:
    grade: Grade
    findings: tuple[Finding, ...]  # worst first


def grade(capture: Mapping[str, object], *, skipped_lines: int = 0) -> Verdict:
    """A claim of the wrong form is no claim: an upload writes its own capture."""
    findings = tuple(sorted(_findings(capture, skipped_lines), key=lambda finding: finding.grade, reverse=True))
    worst: Grade = findings[0].grade if findings else "A"
    # A file that does not say what it lost may be weak, but is never called complete.
    return Verdict(worst if tells_losses(capture) or worst in "CD" else "", findings)


def tells_losses(capture: Mapping[str, object]) -> bool:
    return _count(capture, "events") is not None or isinstance(capture.get("lost"), Mapping)


def _findings(capture: Mapping[str, object], skipped_lines: int) -> Iterator[Finding]:
    for cause, share in _shares(capture).items():
        found = _grade_of(share, LIMITS[cause])
        if found != "A":
            yield Finding(found, cause, share)
    if capture.get("collector") == "malloc" and _count(capture, "events") == 0:
        yield Finding("C", "no_events")
    if skipped_lines:
        yield Finding("C", "skipped_lines")


def _grade_of(share: float, limits: tuple[float, float, float]) -> Grade:
    complete, minor, weak = limits
    return "A" if share <= complete else "B" if share <= minor else "C" if share <= weak else "D"


def _shares(capture: Mapping[str, object]) -> dict[str, float]:
    """In the order of LIMITS."""
    claimed = capture.get("shares")
    known = {"lost": _lost_share(capture), **(claimed if isinstance(claimed, Mapping) else _unweighted(capture))}
    return {cause: float(known[cause]) for cause in LIMITS if _is_share(known.get(cause))}


def _unweighted(capture: Mapping[str, object]) -> dict[str, float]:
    """Of captures from before the shares were told."""
    frames, unresolved = _count(capture, "frames"), _count(capture, "unresolved_frames")
    return {"unresolved": min(1.0, unresolved / frames)} if frames and unresolved else {}


def _lost_share(capture: Mapping[str, object]) -> float:
    events, lost = _count(capture, "events") or 0, lost_events(capture)
    return lost / (events + lost) if lost else 0.0


def lost_events(capture: Mapping[str, object]) -> int:
    by_cause = capture.get("lost")
    return sum(_count(by_cause, cause) or 0 for cause in by_cause) if isinstance(by_cause, Mapping) else 0


def _count(claims: Mapping[str, object], key: str) -> int | None:
    claimed = claims.get(key)
    is_count = isinstance(claimed, int) and not isinstance(claimed, bool) and 0 <= claimed < 1 << 53
    return claimed if is_count else None  # type: ignore[return-value]


def _is_share(claimed: object) -> bool:
    return isinstance(claimed, int | float) and not isinstance(claimed, bool) and 0 <= claimed <= 1
