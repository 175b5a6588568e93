"""Places in files to names of functions, read off a project's symbol files by a process without rights (ADR 0008)."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from django.conf import settings
from django.core.files.storage import FileSystemStorage, default_storage

from tracer.profile.gaps import C_LIBRARY
from tracer.profile.places import Place
from tracer.symbols.lines import Location
from tracer.symbols.store import NameStore
from tracer.symbols.symbolizer import Binary, Session, Symbolizer
from webapp.symbols.matching import Match
from webapp.symbols.models import SymbolFile

SESSION_S, MAKING_S = 300.0, 120.0  # nobody waits; debug information of 1 GB takes a minute
MOST_INLINED = 200  # functions of one place; a file that says more is no compiler's

Frames = dict[str, list[str]]


class Naming:
    """Frames by the text that they had, outermost function first; `troubles` are sentences for people."""

    def __init__(self) -> None:
        self.frames: Frames = {}
        self.troubles: list[str] = []


def names_of(
    project_id: int, places: Mapping[str, Place], match_by_module: Mapping[str, Match], *, in_image: bool = False
) -> Naming:
    """Of the places that lie in a matched module; those of which its file knows nothing are left out.

    `in_image`: offsets are distances from where the module was loaded.
    """
    naming = Naming()
    # A cache of this project alone: build ids are easily copied, and nobody may name other people's frames.
    store = NameStore(Path(settings.MEDIA_ROOT) / "names" / str(project_id))
    symbolizer = Symbolizer(store, session_s=SESSION_S, making_s=MAKING_S)
    with ExitStack() as resources:
        binaries = dict(_binaries(match_by_module, resources))
        if binaries:
            session = resources.enter_context(symbolizer.session(binaries.values()))
            naming.frames = _frames(session, binaries, places, in_image)
    naming.troubles = [f"Not all names of {path} could be read: {why}." for path, why in symbolizer.troubles.items()]
    return naming


def _frames(session: Session, binaries: Mapping[str, Binary], places: Mapping[str, Place], in_image: bool) -> Frames:
    found = {name: functions for name, functions in _located(session, binaries, places, in_image) if functions}
    texts = session.demangled({place.name for functions in found.values() for place in functions})
    return {name: [texts[place.name] for place in functions] for name, functions in found.items()}


def _located(
    session: Session, binaries: Mapping[str, Binary], places: Mapping[str, Place], in_image: bool
) -> Iterator[tuple[str, Sequence[Location]]]:
    names_by_module: dict[str, list[str]] = defaultdict(list)
    for name, place in places.items():
        if place.module in binaries:
            names_by_module[place.module].append(name)
    for module, names in names_by_module.items():
        located = session.locations(binaries[module], [places[name].offset for name in names], in_image=in_image)
        # As agents name it: otherwise `mmap` would call `__GI___mmap64` where there is debug information.
        most = 1 if module.startswith(C_LIBRARY) else MOST_INLINED
        yield from ((name, functions[:most]) for name, functions in zip(names, located, strict=True))


def _binaries(match_by_module: Mapping[str, Match], resources: ExitStack) -> Iterator[tuple[str, Binary]]:
    """A file that was deleted meanwhile names nothing."""
    for module, match in match_by_module.items():
        with suppress(FileNotFoundError):
            fd, *others = [_opened(file, resources) for file in match.files]
            yield module, Binary(fd, module, [_DebugFile(other, match.files[-1].build_id) for other in others])


class _DebugFile:
    """As a host has it in its folder of debug files."""

    def __init__(self, fd: int, build_id: str) -> None:
        self._fd, self._ending = fd, f"/.build-id/{build_id[:2]}/{build_id[2:]}.debug"

    def __call__(self, path: str) -> int | None:
        return os.dup(self._fd) if path.endswith(self._ending) else None


def _opened(file: SymbolFile, resources: ExitStack) -> int:
    """A descriptor of a file on this machine, wherever the storage is."""
    if isinstance(default_storage, FileSystemStorage):
        fd = os.open(default_storage.path(file.stored), os.O_RDONLY | os.O_CLOEXEC)
        resources.callback(os.close, fd)
        return fd
    copy = resources.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 - the stack closes it
    with default_storage.open(file.stored) as source:
        shutil.copyfileobj(source, copy)
    copy.flush()
    return copy.fileno()


def forget_names(project_ids: Iterable[int]) -> None:
    """What was read of their files; it would be read again."""
    for project_id in project_ids:
        shutil.rmtree(Path(settings.MEDIA_ROOT) / "names" / str(project_id), ignore_errors=True)
