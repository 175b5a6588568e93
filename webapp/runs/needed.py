"""Modules without names to what a page says of them: whose symbols are missing, for how much, and how to bring them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Max

from tracer.profile.gaps import C_LIBRARY
from webapp.runs.models import Snapshot, UnnamedModule
from webapp.teams.models import Project

MOST_OF_PROJECT, MOST_OF_SNAPSHOT = 50, 3
SHOWN_SHARE = 0.001  # below, nobody misses them
_SAFE_PATH = re.compile(r"[\w.+/][\w.+/-]*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Need:
    """`share` is of the default value type, where it is largest; `path` is what the upload command gets."""

    module: str
    build_id: str
    share: float
    runs: int
    path: str

    def view(self) -> dict[str, Any]:
        return {"module": self.module, "build_id": self.build_id, "share": round(self.share, 6), "runs": self.runs}


def of_project(project: Project) -> list[Need]:
    """The largest first."""
    rows = _lacking().filter(snapshot__run__project=project).values("module", "build_id")
    counted = rows.annotate(most=Max("left"), runs=Count("snapshot__run", distinct=True)).order_by("-most", "module")
    needs = (Need(row["module"], row["build_id"], row["most"], row["runs"], _path(row["module"])) for row in counted)
    return _worth_it(needs, MOST_OF_PROJECT)


def of_snapshot(snapshot: Snapshot) -> list[Need]:
    told = snapshot.capture.get("modules")
    paths = told if isinstance(told, dict) else {}
    rows = _lacking().filter(snapshot=snapshot).order_by("-left", "module")
    needs = (Need(row.module, row.build_id, row.left, 1, _path(row.module, paths.get(row.module))) for row in rows)
    return _worth_it(needs, MOST_OF_SNAPSHOT)


def _lacking() -> Any:
    return UnnamedModule.objects.filter(is_told=True, left__gte=SHOWN_SHARE)


def _worth_it(needs: Iterable[Need], most: int) -> list[Need]:
    """Of the C library the inner names are missing nearly everywhere; it stands by its file anyway."""
    worth = (need for need in needs if not need.module.startswith((*C_LIBRARY, "[")))
    return [need for need, _ in zip(worth, range(most), strict=False)]


def _path(*names: object) -> str:
    """The last that a person may paste into a shell as it is: the profile, which anyone can write, chose them."""
    fitting = [name for name in names if isinstance(name, str) and _SAFE_PATH.fullmatch(name)]
    return fitting[-1] if fitting else "BINARY"
