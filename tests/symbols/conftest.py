"""Binaries that the compiler made, as open descriptors."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

SOURCE = """
static __attribute__((noinline)) int inner(int n) { __asm__ volatile(""); return n + 1; }
int outer(int n) { return inner(n) + 2; }
"""


@pytest.fixture
def built(tmp_path: Path) -> Iterator[Callable[..., int]]:
    """Compile the source; gives an open descriptor."""
    fds: list[int] = []

    def compiled(*flags: str, source: str = SOURCE) -> int:
        path = tmp_path / f"built{len(fds)}"
        main = "" if "-shared" in flags else "\nint main(void) { return outer(1); }"
        command = ["gcc", "-O1", "-g0", "-x", "c", "-o", path, *flags, "-"]
        subprocess.run(command, input=source + main, text=True, check=True)
        fds.append(os.open(path, os.O_RDONLY))
        return fds[-1]

    yield compiled
    for fd in fds:
        os.close(fd)
