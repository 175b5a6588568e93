"""A log of strace to memory mapped, unmapped and still there, by stack (-k) or else by kind of call: the importer.

https://man7.org/linux/man-pages/man1/strace.1.html

4711 mmap(NULL, 303104, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x7f6e447d4000
 > /usr/lib/x86_64-linux-gnu/libc.so.6(mmap64+0x13) [0x1019b3]
 > /usr/bin/search-api(load_index+0x23) [0x1189]
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tracer.profile.errors import EmptyProfile
from tracer.profile.formats import strace_lines
from tracer.profile.formats.reading import Reading
from tracer.profile.formats.strace_lines import FRAME_MARK, Call
from tracer.profile.formats.strace_memory import CALLS, Memory
from tracer.profile.formats.strace_tasks import CLONES, Tasks
from tracer.profile.formats.text import head_text, read_by_line
from tracer.profile.model import Limits, Profile

NAME = "strace"
TITLE = "strace log"

_WANTED = frozenset([*CALLS, *CLONES, "execve"])
_ATTACHED = "attached"  # ends what strace writes into a line when it follows another task
_LONGEST_KNOWN, _MOST_KNOWN = 1000, 50_000  # lines of frames that are kept: 50 MB at most
_LOOKED_AT = 200  # lines: messages of the program can stand between those of strace
_CHATTER = re.compile(r"\+\+\+ .*|--- .*|strace: .*|\S+: (?:Process|Detaching).*|[a-z]\w* *(?:\[|\().*")
_SUMMARY = "the file is the summary of strace -c: it holds counts, no calls; write them with strace -f -k -o FILE"


def matches(head: bytes) -> bool:
    lines = head_text(head).splitlines()[:_LOOKED_AT]
    if lines and strace_lines.SUMMARY.match(lines[0]):
        return True
    return any(map(_is_of_strace, lines))


def _is_of_strace(line: str) -> bool:
    return _is_call(strace_lines.parted(line)[1])


def _is_call(text: str) -> bool:
    return strace_lines.call_of(text) is not None or strace_lines.unfinished_of(text) is not None


def read(steps: Iterator[bytes], reading: Reading) -> Profile:
    return read_by_line(_Log(reading.limits), steps, reading.limits)


class _Log:
    """A call is taken when its stack has been read, which stands below it."""

    def __init__(self, limits: Limits) -> None:
        self._memory = Memory(limits)
        self._tasks = Tasks(self._memory.settle)
        self._unfinished: dict[int, tuple[str, str]] = {}  # name and arguments, by task
        self._open: tuple[int | None, Call] | None = None
        self._frames: list[str] = []  # leaf first
        self._names: dict[tuple[str, bool], str] = {}  # by line, and whether it is the first below its call
        self._injected = 0
        self._torn = ""  # the start of a line into which strace wrote that a task is there

    def take(self, number: int, line: str) -> None:
        if line.startswith(FRAME_MARK):
            self._take_frame(number, line)
            return
        self._close()
        task, text = self._mended(line)
        name = strace_lines.call_name(text)
        if (name and name not in _WANTED and not text.endswith(_ATTACHED)) or not text.strip():
            return
        if number == 1 and strace_lines.SUMMARY.match(text):
            raise EmptyProfile(_SUMMARY)
        if not (self._take_whole(task, text) or self._take_piece(task, text) or self._take_sign(task, text)):
            self._memory.profile.skip(number, line, "it is no call")

    def finish(self) -> Profile:
        self._close()
        self._tasks.end_all()
        profile = self._memory.finish()
        notes = self._memory.notes()
        if self._tasks.forks:
            notes.append(f"What children had from their parent is not counted again. Forks: {self._tasks.forks:,}.")
        if self._injected:
            notes.append(f"Calls whose result strace made up (--inject), not counted: {self._injected:,}.")
        profile.capture = {"notes": notes} if notes else {}
        return profile

    def _mended(self, line: str) -> tuple[int | None, str]:
        """Task and text of a line, behind what was torn from it."""
        if self._torn:
            task, text = strace_lines.parted(self._torn + line)
            self._torn = ""
            if _is_call(text):
                return task, text
        return strace_lines.parted(line)

    def _take_frame(self, number: int, line: str) -> None:
        """A stack comes again and again, and so do its lines."""
        if self._open is None:
            return
        is_leaf = not self._frames
        name = self._names.get((line, is_leaf)) or strace_lines.frame_name(line, is_leaf=is_leaf)
        if name is None:
            self._memory.profile.skip(number, line, "it is no frame")
            return
        self._frames.append(name)
        if len(line) < _LONGEST_KNOWN and len(self._names) < _MOST_KNOWN:
            self._names[line, is_leaf] = name

    def _take_whole(self, task: int | None, text: str) -> bool:
        call = strace_lines.call_of(text)
        if call is not None:
            self._take_call(task, call)
        return call is not None

    def _take_piece(self, task: int | None, text: str) -> bool:
        """A call that another task's line interrupted: its two lines are one call."""
        key = self._tasks.key(task)
        if (begun := strace_lines.unfinished_of(text)) is not None:
            self._unfinished[key] = begun
            self._tasks.begin_clone(task, *begun)
            return True
        resumed = strace_lines.resumed_of(text)
        if resumed is None:
            return False
        name, arguments = self._unfinished.pop(self._tasks.key(task), ("", ""))
        call = strace_lines.call_of(f"{name}({arguments}{resumed[1]}") if name == resumed[0] else None
        if call is not None:
            self._take_call(task, call)
        return True

    def _take_sign(self, task: int | None, text: str) -> bool:
        if (attached := strace_lines.attached_task(text)) is not None:
            self._tasks.announce(attached[1])
            if attached[0]:
                self._tear(task, attached[0])
        elif strace_lines.is_end(text):
            self._tasks.end(task)
            self._unfinished.pop(self._tasks.key(task), None)
        else:
            return _CHATTER.fullmatch(text) is not None
        return True

    def _tear(self, task: int | None, text: str) -> None:
        self._torn = text if task is None else f"{task} {text}"

    def _take_call(self, task: int | None, call: Call) -> None:
        if call.is_injected:
            self._injected += 1
        elif call.name in CALLS:
            self._open = task, call
        elif call.name in CLONES:
            self._tasks.end_clone(task, call.name, call.text, call.result)
        elif call.name == "execve" and call.result == 0:
            self._tasks.execute(task, call.text)

    def _close(self) -> None:
        if self._open is None:
            return
        task, call = self._open
        self._memory.take(self._tasks.of(task), call, [*reversed(self._frames)])
        self._open, self._frames = None, []
