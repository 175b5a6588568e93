"""File offsets of binaries to functions, files and lines: from the cache, or read by a process without rights."""

from __future__ import annotations

import os
import time
import zlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from tracer.symbols.build_id import build_id_of, is_elf
from tracer.symbols.debug_files import Open, debug_file_by_build_id, debug_file_by_link
from tracer.symbols.demangle import cut
from tracer.symbols.elf import DebugLink
from tracer.symbols.entry import has_lines
from tracer.symbols.lines import Location
from tracer.symbols.namer import Meanwhile, Namer, NamerError
from tracer.symbols.store import MAX_BYTES, NameStore, default_store

# An agent that is asked to stop gives its recording 10 s for the last snapshot, names included.
_SESSION_S = 8.0
_MAKING_S = 5.0  # for the debug information of one file; with its symbols only it is fast
_HEADER_BYTES = 64  # Elf64_Ehdr
_DEMANGLED_AT_ONCE, _DEMANGLING_S = 512, 2.0  # takes a hundredth of that
_KNOWN_PLACES = 200_000  # of all binaries; then they are forgotten: about 50 MB


@dataclass(frozen=True, slots=True)
class Binary:
    """`fd` stays the caller's; `path` is as its process sees it, and `roots` are where its debug files may be."""

    fd: int
    path: str
    roots: Sequence[Open] = ()


class Symbolizer:
    """For the length of a recording. `troubles` are files whose names are missing or poor, by path.

    `meanwhile` is called while it waits for names: the recording has to go on.
    """

    def __init__(
        self, store: NameStore | None = None, *, meanwhile: Meanwhile = lambda: None,
        session_s: float = _SESSION_S, making_s: float = _MAKING_S,
    ) -> None:  # fmt: skip
        self.meanwhile, self.session_s, self.making_s = meanwhile, session_s, making_s
        self.store = store if store is not None else default_store()
        self.troubles: dict[str, str] = {}
        self.unread_lines: set[str] = set()  # keys of binaries whose debug information took too long
        self._text_by_name: dict[str, str] = {}
        self._known: dict[str, dict[int, list[Location]]] = defaultdict(dict)  # by key of the binary, by offset

    def session(self, binaries: Iterable[Binary] = ()) -> Session:
        return Session(self, binaries)

    def known(self, name: str) -> str | None:
        return self._text_by_name.get(name)

    def places(self, key: str) -> dict[int, list[Location]]:
        """What was found at the offsets of a binary: profiles of one program ask for the same ones again."""
        if sum(map(len, self._known.values())) > _KNOWN_PLACES:
            self._known.clear()
        return self._known[key]

    def learn(self, names: Sequence[str], texts: Sequence[str]) -> None:
        self._text_by_name.update(zip(names, texts, strict=True))


class _Plan:
    """Of one binary: what to hand to a namer.

    An entry is shared only by files of one owner, size and file header: a build id is easily copied, and who can write
    to a file must not name frames of other users' programs; and a stripped file keeps the build id, but not the names.
    """

    def __init__(self, binary: Binary, store: NameStore, resources: ExitStack) -> None:
        self.binary, self._resources = binary, resources
        self.is_elf = is_elf(binary.fd)  # fonts and memory of JIT compilers are mapped executable as well
        self.build_id = build_id_of(binary.fd)
        self.debug = debug_file_by_build_id(self.build_id, binary.roots) if self.build_id else None
        self._keep_open(self.debug)
        files = [_told_apart(fd) for fd in (binary.fd, self.debug) if fd is not None]
        self.key = "-".join([self.build_id, *files]) if self.build_id else None
        self.entry = store.open(self.key) if self.key else None
        self._keep_open(self.entry)

    @property
    def needs_lines(self) -> bool:
        return self.is_elf and (self.entry is None or has_lines(self.entry))

    def find(self, link: DebugLink) -> bool:
        """Look for the file that the binary names; True if it is there."""
        self.debug = debug_file_by_link(self.binary.path, link, self.build_id, self.binary.roots)
        self._keep_open(self.debug)
        return self.debug is not None

    def _keep_open(self, fd: int | None) -> None:
        if fd is not None:
            self._resources.callback(os.close, fd)


def _told_apart(fd: int) -> str:
    """Of files with one build id; the header says whether there are sections, and where."""
    status = os.fstat(fd)
    return f"{status.st_uid}.{status.st_size:x}.{zlib.crc32(os.pread(fd, _HEADER_BYTES, 0)):x}"


class Session:
    """One process that reads, for the names of one snapshot. What it can't read in time stays without names."""

    def __init__(self, symbolizer: Symbolizer, binaries: Iterable[Binary]) -> None:
        self._symbolizer = symbolizer
        self._resources = ExitStack()
        self._plans = {binary.fd: _Plan(binary, symbolizer.store, self._resources) for binary in binaries}
        self._namer: Namer | None = None  # until something is asked that is not known
        self._deadline = time.monotonic() + symbolizer.session_s

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        if self._namer is not None:
            self._namer.close()
        self._resources.close()

    def locations(self, binary: Binary, offsets: Sequence[int], *, in_image: bool = False) -> list[list[Location]]:
        """For each offset the functions there, outermost first and mangled; none where nothing is known.

        `in_image`: they are no offsets in the file, but distances from where it was loaded.
        """
        plan = self._plans[binary.fd]
        if not plan.is_elf:
            return [[] for _ in offsets]
        known = self._symbolizer.places(plan.key + " in its image" * in_image) if plan.key else {}
        new = [offset for offset in offsets if offset not in known]
        try:
            if new:
                wanted = {"offsets": new, "in_image": in_image}
                known.update(zip(new, self._found(plan, wanted), strict=True))
        except (NamerError, ValueError, TypeError, KeyError) as error:
            self._symbolizer.troubles[binary.path] = str(error)
        return [known.get(offset, []) for offset in offsets]

    def jit_names(self, fd: int, addresses: Sequence[int]) -> dict[int, str]:
        try:
            answer, _ = self._ask({"do": "jit", "addresses": list(addresses)}, [fd])
            return {int(address): _text(name) for address, name in answer["names"].items()}
        except (NamerError, ValueError, KeyError, AttributeError):
            return {}

    def demangled(self, names: Iterable[str]) -> dict[str, str]:
        """Those that a process could not demangle in time, or died of, stay as they are."""
        known, wanted = self._symbolizer, set(names)
        left = sorted(name for name in wanted if name.startswith("_") and known.known(name) is None)
        for start in range(0, len(left), _DEMANGLED_AT_ONCE):
            some = left[start : start + _DEMANGLED_AT_ONCE]
            try:
                answer, _ = self._ask({"do": "demangle", "names": some}, within_s=_DEMANGLING_S)
                known.learn(some, [_text(text) for text in answer["names"]])
            except (NamerError, ValueError, TypeError, KeyError):
                known.learn(some, some)
        return {name: known.known(name) or name for name in wanted}

    def _found(self, plan: _Plan, wanted: dict[str, Any]) -> list[list[Location]]:
        found = self._loaded(plan, wanted) if plan.entry is not None else None
        found = self._made(plan, wanted) if found is None else found
        return [[Location(_text(name), _text(file), int(line)) for name, file, line in places] for places in found]

    def _loaded(self, plan: _Plan, wanted: dict[str, Any]) -> list[Any] | None:
        """None if the entry is to be made again: it is damaged, or a debug file that was missing has come."""
        assert plan.entry is not None
        try:
            answer, _ = self._ask({"do": "load", **wanted}, [plan.entry], needs_lines=plan.needs_lines)
        except NamerError:
            return None
        if answer["missing"] and plan.find(DebugLink(*answer["missing"])):
            return None
        return list(answer["locations"])

    def _made(self, plan: _Plan, wanted: dict[str, Any]) -> list[Any]:
        key = plan.key or plan.binary.path
        if key in self._symbolizer.unread_lines:
            return self._made_once(plan, wanted, with_lines=False)
        try:
            return self._made_once(plan, wanted, with_lines=True)
        except NamerError as error:
            self._symbolizer.unread_lines.add(key)
            self._symbolizer.troubles[plan.binary.path] = f"lines and inlined functions: {error}"
            return self._made_once(plan, wanted, with_lines=False)

    def _made_once(self, plan: _Plan, wanted: dict[str, Any], *, with_lines: bool) -> list[Any]:
        request = {"do": "make", **wanted, "lines": with_lines, "is_searched": plan.debug is not None}
        answer, made = self._ask(request, self._files(plan), needs_lines=True, within_s=self._symbolizer.making_s)
        if "missing" in answer:
            request["is_searched"] = True
            plan.find(DebugLink(*answer["missing"]))
            answer, made = self._ask(request, self._files(plan), needs_lines=True, within_s=self._symbolizer.making_s)
        for fd in made:
            with open(fd, "rb") as entry:  # noqa: PTH123 - a descriptor
                if with_lines and plan.key:
                    self._symbolizer.store.keep(plan.key, os.pread(entry.fileno(), MAX_BYTES, 0))
        return list(answer["locations"])

    def _files(self, plan: _Plan) -> list[int]:
        return [plan.binary.fd, plan.debug] if plan.debug is not None else [plan.binary.fd]

    def _ask(
        self, request: dict[str, Any], files: Sequence[int] = (), *, needs_lines: bool = False,
        within_s: float | None = None,
    ) -> tuple[Any, list[int]]:  # fmt: skip
        left_s = self._deadline - time.monotonic()
        if left_s <= 0:
            raise NamerError("no time was left for it")
        namer = self._started(needs_lines=needs_lines)
        return namer.ask(request, files, within_s=min(within_s or left_s, left_s), meanwhile=self._symbolizer.meanwhile)

    def _started(self, *, needs_lines: bool) -> Namer:
        if self._namer is None:
            self._namer = Namer(reads_lines=needs_lines or any(plan.needs_lines for plan in self._plans.values()))
        elif not self._namer.is_alive or needs_lines > self._namer.reads_lines:
            self._namer.close()
            self._namer = Namer(reads_lines=needs_lines or self._namer.reads_lines)
        return self._namer


def _text(answered: object) -> str:
    """What can be written to a profile, whoever took over the process that answers."""
    return cut(str(answered)).encode("utf-8", "replace").decode().replace("\0", "\N{REPLACEMENT CHARACTER}")
