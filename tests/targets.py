"""Programs that tests start, trace by pid, and end."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

ROOT = Path(__file__).resolve().parent.parent


@cache
def built_leaky_service() -> Path:
    binary = Path(mkdtemp(prefix="memflame-test-")) / "leaky_service"
    source = ROOT / "webapp" / "runs" / "demo" / "leaky_service.c"
    subprocess.run(["gcc", "-O1", "-g", "-fno-omit-frame-pointer", "-o", binary, source], check=True)
    return binary


@contextmanager
def leaky_service(version: int) -> Iterator[int]:
    """The demo service, which leaks while it runs; version 2 forgets more sessions and audits. Gives its pid."""
    service = subprocess.Popen([built_leaky_service(), str(version)], stdout=subprocess.PIPE, text=True)
    assert service.stdout is not None
    service.stdout.readline()
    try:
        yield service.pid
    finally:
        service.kill()
        service.wait()
        service.stdout.close()
