"""How complete a capture was, for pages without script: grade, figures, notes and banner, of what a snapshot tells.

frontend/js/quality.js and quality-words.js write the same; tests/view/quality.json holds both to one text.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tracer import protocol
from tracer.profile.amounts import NBSP, percent, plural, short_count, size, value
from tracer.profile.gaps import NO_MODULE
from tracer.profile.grade import Finding, grade

LEVELS = {"A": "ok", "B": "ok", "C": "weak", "D": "bad", "": "unknown"}
WORDS = {"A": "A, complete", "B": "B, minor gaps", "C": "C, weak", "D": "D, not reliable", "": "not known"}
UNWINDS = {"fp": "frame pointers", "dwarf": "the unwind tables of the mapped files"}
NAMED_MODULES = 3

Figure = tuple[str, str, str]  # label, number, rest
Claims = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Banner:
    level: str  # "warn", "bad"
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Quality:
    level: str  # "ok", "weak", "bad", "unknown"
    word: str
    figures: list[Figure]
    notes: list[str]
    banner: Banner | None  # what makes it weak or worse


def capture_quality(capture: object, *, skipped_lines: int, unit: str) -> Quality:
    """`unit` is that of the default value type."""
    claims = _claims(capture)
    verdict = grade(claims, skipped_lines=skipped_lines)
    return Quality(
        LEVELS[verdict.grade],
        WORDS[verdict.grade],
        list(_figures(claims, skipped_lines)),
        list(_notes(claims, unit)),
        _banner(verdict.findings, claims),
    )


# --- claims: an upload writes its own capture, so each is taken only where it has the right form ----------------------


def _claims(capture: object) -> Claims:
    claimed = capture if isinstance(capture, Mapping) else {}
    taken = {key: form(claimed.get(key)) for key, form in _FORMS.items()}
    return {key: claim for key, claim in taken.items() if claim is not None}


def _count(claim: object) -> int | None:
    return claim if isinstance(claim, int) and not isinstance(claim, bool) and 0 <= claim < 1 << 53 else None


def _number(claim: object) -> float | None:
    is_number = isinstance(claim, int | float) and not isinstance(claim, bool)
    return claim if is_number and math.isfinite(claim) and claim >= 0 else None  # type: ignore[arg-type,operator,return-value]


def _word(claim: object) -> str | None:
    return claim if isinstance(claim, str) else None


def _entries(form: Callable[[object], Any]) -> Callable[[object], dict[str, Any] | None]:
    def entries(claim: object) -> dict[str, Any] | None:
        if not isinstance(claim, Mapping):
            return None
        return {str(key): each for key, each in claim.items() if form(each) is not None}

    return entries


def _amounts(claim: object) -> dict[str, Any] | None:
    found = _entries(_number)(claim)
    return None if found is None else {key: amount for key, amount in found.items() if amount > 0}


def _overhead(claim: object) -> dict[str, Any] | None:
    shares = _entries(_number)(claim)
    if shares is None or not isinstance(claim, Mapping):
        return None
    return shares | {"is_measured": claim.get("is_measured") is True, "trap_ns": _amounts(claim.get("trap_ns")) or {}}


def _words(claim: object) -> list[str]:
    return [text for text in (claim if isinstance(claim, list) else [claim]) if isinstance(text, str)]


def _symbols(claim: object) -> list[str]:
    probes = claim if isinstance(claim, list) else [claim]
    symbols = (probe.get("symbol") for probe in probes if isinstance(probe, Mapping))
    return [symbol for symbol in symbols if isinstance(symbol, str)]


_FORMS: Mapping[str, Callable[[object], Any]] = {
    "collector": _word,
    "allocator": _word,
    "mode": _word,
    "mode_reason": _word,
    "unwind": _word,
    "unwind_reason": _word,
    "sample_bytes": _count,
    "events": _count,
    "truncated_stacks": _count,
    "broken_unwinds": _count,
    "unresolved_frames": _count,
    "frames": _count,
    "unknown_frees": _count,
    "lost": _entries(_count),
    "failed_stacks": _entries(_count),
    "unresolved_by_module": _amounts,
    "shares": _entries(_number),
    "overhead": _overhead,
    "filters": _entries(lambda claim: claim),
    "notes": _words,
    "allocators": _words,
    "probes": _symbols,
}


def _losses(claims: Claims) -> list[tuple[int, str]]:
    """Largest first, with words of the cause."""
    causes = [(count, cause) for cause, count in claims.get("lost", {}).items() if count]
    ordered = sorted(causes, key=lambda loss: -loss[0])
    return [(count, protocol.LOSS_CAUSES.get(cause, cause.replace("_", " "))) for count, cause in ordered]


# --- the strip --------------------------------------------------------------------------------------------------------


def _figures(claims: Claims, skipped_lines: int) -> Iterator[Figure]:
    told = list(_told(claims))
    yield from told or [("", "", "the file does not say what was lost")]
    if skipped_lines:
        yield "skipped", short_count(skipped_lines), "lines"


def _told(claims: Claims) -> Iterator[Figure]:
    lost = sum(count for count, _ in _losses(claims))
    shares = claims.get("shares", {})
    if "events" in claims:
        yield "lost", short_count(lost), f"of {short_count(claims['events'] + lost)} events"
    if shares.get("without_stack"):
        yield "without a stack", percent(shares["without_stack"]), "of the value"
    if "truncated_stacks" in claims:
        yield "truncated", short_count(claims["truncated_stacks"]), "stacks"
    if claims.get("broken_unwinds"):
        yield "broken off", short_count(claims["broken_unwinds"]), "stacks"
    yield from _nameless(claims, shares)
    if "share" in claims.get("overhead", {}):
        yield "overhead", percent(claims["overhead"]["share"]), "of one core"
    if claims.get("collector") == "malloc":
        yield "", "", _counted(claims)


def _nameless(claims: Claims, shares: Claims) -> Iterator[Figure]:
    if "unresolved" in shares:
        yield "without a name", percent(shares["unresolved"]), "of the graph"
    elif claims.get("frames"):
        yield "without a name", percent(claims.get("unresolved_frames", 0) / claims["frames"]), "of frames"


def _counted(claims: Claims) -> str:
    if claims.get("mode") == "sampled" and claims.get("sample_bytes"):
        return f"sampled: one block {_sizes(claims)}for each {size(claims['sample_bytes'])}"
    return (
        "calls only, frees are not seen"
        if claims.get("mode") == "calls"
        else f"every allocation {_sizes(claims)}counted"
    )


def _sizes(claims: Claims) -> str:
    filters = claims.get("filters", {})
    return "of the sizes asked for " if filters.get("min_size") or "max_size" in filters else ""


# --- details below the graph ------------------------------------------------------------------------------------------


def _notes(claims: Claims, unit: str) -> Iterator[str]:
    for count, words in _losses(claims):
        yield f"{plural(count, 'event was', 'events were')} lost: {words}."
    if failed := claims.get("failed_stacks"):
        errors = (f"{error} {plural(count, 'time', 'times')}" for error, count in failed.items() if count)
        yield f"Stacks that the kernel could not read: {', '.join(errors)}."
    if frees := claims.get("unknown_frees"):
        words = plural(frees, "free was of a block", "frees were of blocks")
        yield f"{words} from before the recording, or given back by the C library itself."
    if modules := claims.get("unresolved_by_module"):
        values = ", ".join(f"{module} ({value(amount, unit)})" for module, amount in modules.items())
        yield f"Passes through code without function names: {values}."
    yield from _overhead_words(claims.get("overhead", {}))
    if claims.get("mode_reason"):
        yield claims["mode_reason"]
    yield from _unwind_words(claims)
    if allocator := claims.get("allocator"):
        others = ", ".join(module for module in claims["allocators"] if module != allocator)
        yield f"The allocator is {allocator}{f'; there is one in {others} too' if others else ''}."
    if probes := claims["probes"]:
        yield f"{plural(len(probes), 'probe was', 'probes were')} placed: {', '.join(probes)}."
    yield from claims["notes"]


def _unwind_words(claims: Claims) -> Iterator[str]:
    if claims.get("unwind") in UNWINDS:
        yield f"Stacks were found by {UNWINDS[claims['unwind']]}."
    if claims.get("unwind_reason"):
        yield claims["unwind_reason"]


def _overhead_words(overhead: Claims) -> Iterator[str]:
    if "share" not in overhead:
        return
    peak, budget = overhead.get("peak_share", overhead["share"]), overhead.get("budget")
    bounds = f"its budget is {percent(budget)}" if budget else "it had no budget"
    yield (f"Recording took {percent(overhead['share'])} of one core, {percent(peak)} at most over 5{NBSP}s; {bounds}.")
    if "own_share" in overhead:
        yield f"The recording process itself took {percent(overhead['own_share'])} of one core."
    if traps := overhead["trap_ns"]:
        prices = ", ".join(f"{kind} {ns / 1000:.1f}{NBSP}µs" for kind, ns in traps.items())
        how = "measured" if overhead["is_measured"] else "assumed"
        yield f"A hit of a probe was {how} to cost: {prices}."


# --- the banner above it ----------------------------------------------------------------------------------------------


def _banner(findings: tuple[Finding, ...], claims: Claims) -> Banner | None:
    """Of the worst, which comes first; the others are named."""
    told = [finding for finding in findings if finding.grade in "CD" and finding.cause in _BANNERS]
    if not told:
        return None
    is_bad = told[0].grade == "D"
    (title, text), *others = [_BANNERS[finding.cause](percent(finding.share), claims) for finding in told]
    also = f" Also: {'; '.join(other for other, _ in others)}." if others else ""
    return Banner(
        "bad" if is_bad else "warn",
        f"Do not rely on it: {title}" if is_bad else title[:1].upper() + title[1:],
        text + also,
    )


def _lost_banner(share: str, claims: Claims) -> tuple[str, str]:
    losses = _losses(claims)
    lost = sum(count for count, _ in losses)
    causes = ", ".join(f"{short_count(count)} because {words}" for count, words in losses)
    return (
        f"{share} of events were lost, small paths may be wrong or missing",
        f"{short_count(lost)} of {short_count(claims.get('events', 0) + lost)} events: {causes}.",
    )


def _without_stack_banner(share: str, claims: Claims) -> tuple[str, str]:
    is_full = claims.get("lost", {}).get("stack_map_full")
    why = (
        "There were more different stacks than the map holds: "
        "record again with more, by “Stacks to keep” or --max-stacks."
    )
    return (
        f"{share} of the value has no stack",
        "It stands under [stack not recorded], totals are true. "
        + (why if is_full else "The kernel could not read the stacks."),
    )


def _unresolved_banner(share: str, claims: Claims) -> tuple[str, str]:
    modules = [module for module in claims.get("unresolved_by_module", {}) if module != NO_MODULE]
    title = f"{share} of the graph has no function name"
    if not modules:
        return title, "Not even the file of that code is known. The values are complete."
    return (
        title,
        f"Code without symbols stands by its file and address: {', '.join(modules[:NAMED_MODULES])}. "
        "The values are complete; debug symbols of these files give the names.",
    )


def _no_events_banner(share: str, claims: Claims) -> tuple[str, str]:
    return (
        f"no event came from {claims.get('allocator') or 'the allocator'}",
        "None of the functions that have probes was called. "
        "The program may have been idle, or take its memory by mmap, or from an allocator that was not found.",
    )


def _broken_banner(share: str, claims: Claims) -> tuple[str, str]:
    return (
        f"{share} of the value lacks callers",
        "Unwinding broke off before the root, mostly in code without frame pointers. "
        "The frames that are there are right.",
    )


def _truncated_banner(share: str, claims: Claims) -> tuple[str, str]:
    return (
        f"{share} of the value is in stacks that were cut at the root",
        "They had more frames than are captured. The innermost frames are there, and right.",
    )


_BANNERS: Mapping[str, Callable[[str, Claims], tuple[str, str]]] = {
    "lost": _lost_banner,
    "without_stack": _without_stack_banner,
    "unresolved": _unresolved_banner,
    "broken": _broken_banner,
    "truncated": _truncated_banner,
    "no_events": _no_events_banner,
}
