"""Modules that frames lie in to the files that name them: by build id, or by file name where the source tells no id."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from django.db.models import Q

from webapp.symbols.models import SymbolFile


@dataclass(frozen=True, slots=True)
class Match:
    """A binary, its debug file, or both; the newest of each."""

    files: tuple[SymbolFile, ...]
    is_by_name: bool  # nothing tells whether it is the very file that ran

    @property
    def key(self) -> str:
        """Other files have another one."""
        return "+".join(str(file.pk) for file in self.files)


class Module(NamedTuple):
    """A file that frames lie in; the build id is empty where the source tells none."""

    name: str
    build_id: str


def matches(project_id: int | None, modules: Collection[Module]) -> dict[Module, Match]:
    """Of those that a file of the project names. A module with a build id takes no file of another."""
    files = _candidates(project_id, modules) if project_id is not None and modules else []
    found = ((module, _match(files, module)) for module in modules)
    return {module: match for module, match in found if match is not None}


def _candidates(project_id: int, modules: Collection[Module]) -> list[SymbolFile]:
    ids = {module.build_id for module in modules if module.build_id}
    names = {module.name for module in modules if not module.build_id}
    fitting = Q(build_id__in=ids) | Q(module__in=names)
    return list(SymbolFile.objects.filter(fitting, project=project_id).order_by("-pk"))


def _match(files: Sequence[SymbolFile], module: Module) -> Match | None:
    if module.build_id:
        return _newest([file for file in files if file.build_id == module.build_id], is_by_name=False)
    named = [file for file in files if file.module == module.name]
    same = [file for file in named if file.build_id and file.build_id == named[0].build_id]
    return _newest(same or named[:1], is_by_name=True)


def _newest(files: Sequence[SymbolFile], *, is_by_name: bool) -> Match | None:
    of_kind = [[file for file in files if file.kind == kind][:1] for kind in SymbolFile.Kind.values]
    picked = tuple(file for some in of_kind for file in some)
    return Match(picked, is_by_name) if picked else None
