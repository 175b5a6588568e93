"""Call stacks of a heaptrack file: strings, instructions and a tree of traces, each named by its number."""

from __future__ import annotations

from array import array

from tracer.profile.errors import MalformedProfile


class TraceTable:
    """Numbers begin at 1 in order of appearance; 0 is none."""

    def __init__(self) -> None:
        self._strings = [""]
        self._frames: list[tuple[str, ...]] = [()]  # of an instruction, innermost first
        self._instructions = array("q", [0])
        self._parents = array("q", [0])

    def add_string(self, text: str) -> None:
        self._strings.append(text)

    def add_instruction(self, address: str, module: int, *functions: int) -> None:
        """Of each function its name, file and line: the one that was compiled into all others first."""
        names = [self._string(number) for number in functions[::3]]
        file = self._string(module).rpartition("/")[2]
        named = tuple(name for name in names if name)
        self._frames.append(named or (f"[{file}]" if file else f"0x{address}",))

    def add_trace(self, instruction: int, parent: int) -> None:
        if not 0 < instruction < len(self._frames) or not 0 <= parent < len(self._parents):
            raise MalformedProfile(f"trace {len(self._parents)} names an instruction or a trace before it was told")
        self._instructions.append(instruction)
        self._parents.append(parent)

    def check(self, trace: int) -> None:
        if not 0 <= trace < len(self._parents):
            raise MalformedProfile(f"an allocation names trace {trace}, there are {len(self._parents) - 1}")

    def stack(self, trace: int) -> list[str]:
        """Root first. A parent was told before its child, so there is no way round in a circle."""
        frames, instructions, parents = self._frames, self._instructions, self._parents
        names: list[str] = []
        while trace:
            names += frames[instructions[trace]]
            trace = parents[trace]
        names.reverse()
        return names

    def _string(self, number: int) -> str:
        if not 0 <= number < len(self._strings):
            raise MalformedProfile(f"an instruction names string {number}, there are {len(self._strings) - 1}")
        return self._strings[number]
