"""Which names of two sides are taken for the same: what an address or a project says of it, report and preview."""

from __future__ import annotations

from typing import Any

from tracer.profile.alignment import RULES, Alignment
from webapp.compare.backend import diff_payload
from webapp.compare.models import DiffPayload, ProjectAlignment
from webapp.compare.sides import Side
from webapp.flamegraph.exports import load_tree
from webapp.teams.models import Project

EXACT = "exact"  # in an address: no rules, whatever the project has
EXAMPLES = 5  # names in a preview
NAME_CHARACTERS = 300  # of them


def alignment_of(text: str, before: Side, after: Side) -> Alignment:
    """Of an address: its own rules, else those of the project of both sides. Raises BadAlignment."""
    if text:
        return Alignment.parse("" if text == EXACT else text)
    project = after.run.project
    return Alignment.parse(saved_rules(project)) if project and project == before.run.project else Alignment()


def saved_rules(project: Project) -> str:
    """Empty for none; a side's run was read with its project's alignment, so this asks the database nothing."""
    return project.alignment.rules if hasattr(project, "alignment") else ""


def save_rules(project: Project, text: str) -> None:
    """For all comparisons of the project whose address says nothing else. Raises BadAlignment."""
    rules = Alignment.parse("" if text == EXACT else text).text
    ProjectAlignment.objects.update_or_create(project=project, defaults={"rules": rules})


def report(before: Side, after: Side, diff: DiffPayload, alignment: Alignment) -> dict[str, Any]:
    """[before, after] that matched exactly, matched only after the rules, and not at all; they add up to each side."""
    exact = (diff_payload(before, after, diff.value_type) if alignment else diff).matched
    sizes = [side.total(diff.value_type) for side in (before, after)]
    pairs = list(zip(exact, diff.matched, sizes, strict=True))
    return {
        "rules": alignment.text or EXACT,
        "has_saved": bool(after.run.project and saved_rules(after.run.project)),
        "names": diff.renamed,
        "exact": [same for same, _, _ in pairs],
        "normalised": [matched - same for same, matched, _ in pairs],
        "unmatched": [(size or 0) - matched for _, matched, size in pairs],
        "known": [{"rule": name, "title": rule.title, "example": rule.example} for name, rule in RULES.items()],
        "replacements": alignment.replacements,
    }


def preview(before: Side, after: Side, alignment: Alignment) -> dict[str, Any]:
    """What an alignment does to the names of both sides, without merging them."""
    sides = [set(load_tree(side.snapshot).names) for side in (before, after)]
    new = {name: alignment.name_of(name) for name in sides[0] | sides[1]}
    changed = sorted(name for name, other in new.items() if name != other)
    aligned = [{new[name] for name in side} for side in sides]
    return {
        "rules": alignment.text or EXACT,
        "names": len(new),
        "changed": len(changed),
        "only_before": [len(sides[0] - sides[1]), len(aligned[0] - aligned[1])],
        "only_after": [len(sides[1] - sides[0]), len(aligned[1] - aligned[0])],
        "examples": [[_short(name), _short(new[name])] for name in changed[:EXAMPLES]],
    }


def _short(name: str) -> str:
    return name if len(name) <= NAME_CHARACTERS else f"{name[: NAME_CHARACTERS - 1]}…"
