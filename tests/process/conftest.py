"""Programs that the tests compile, start, and ask for names of their addresses."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tracer.process.address_space import AddressSpace
from tracer.process.names import FrameNames
from tracer.process.target import Target
from tracer.symbols.store import NameStore
from tracer.symbols.symbolizer import Symbolizer

# Prints the address of a function and waits: who reads it knows an address that must have that name.
SOURCE = """
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
__attribute__((always_inline)) static inline int inner(int n) { __asm__ volatile("nop"); return n * 7; }
__attribute__((noinline)) int outer(int n) {
  return inner(n) + 2;
}
int main(int count, char **arguments) {
  if (count > 1 && chroot(arguments[1]))
    return 1;
  printf("%p\\n", (void *)outer);
  fflush(stdout);
  char byte;
  return outer((int)read(0, &byte, 1)) & 1;
}
"""


class Program:
    """A running program; `outer` is an address inside of its function of that name."""

    def __init__(self, command: list[str | Path]) -> None:
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.pid = self._process.pid
        assert self._process.stdout is not None
        self.outer = int(self._process.stdout.readline(), 16)
        self.resources = ExitStack()
        target = Target(self.pid)
        self.resources.callback(target.close)
        self.space = AddressSpace(target)
        self.resources.callback(self.space.close)

    def end(self) -> None:
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        self.end()
        self.resources.close()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()


@pytest.fixture
def build(tmp_path: Path) -> Callable[..., Path]:
    """Compile the program with further flags."""

    def built(*flags: str, name: str = "program", source: str = SOURCE) -> Path:
        path = tmp_path / name
        subprocess.run(["gcc", "-O1", "-x", "c", "-o", path, *flags, "-"], input=source, text=True, check=True)
        return path

    return built


@pytest.fixture
def run() -> Iterator[Callable[..., Program]]:
    started: list[Program] = []

    def running(*command: str | Path) -> Program:
        started.append(Program(list(command)))
        return started[-1]

    yield running
    for program in started:
        program.close()


@pytest.fixture
def store(tmp_path: Path) -> NameStore:
    return NameStore(tmp_path / "names")


@pytest.fixture
def names_of(store: NameStore) -> Iterator[Callable[..., FrameNames]]:
    """Names of a program's addresses, with an empty cache of names."""
    with ExitStack() as resources:

        def names(space: AddressSpace, *, with_lines: bool = False) -> FrameNames:
            made = FrameNames(space, Symbolizer(store), with_lines=with_lines)
            resources.callback(made.close)
            return made

        yield names
