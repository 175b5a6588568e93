"""A file to what goes over the wire: packed if that saves something, with a bar that tells how far it is."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

from tracer.client import Upload

# What is packed already is sent as it is: the site knows gzip, zstd, bzip2 and xz by their first bytes.
PACKED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"BZh", b"\xfd7zXZ\x00")
PACK_FROM_BYTES = 64 << 10  # a smaller file is sent as fast without


@contextmanager
def packed(wanted: Upload) -> Iterator[Upload]:
    """A large plain file is packed into a temporary one: folded stacks shrink to a tenth or less."""
    with wanted.path.open("rb") as file:
        first = file.read(8)
        file.seek(0)
        if first.startswith(PACKED) or wanted.path.stat().st_size < PACK_FROM_BYTES:
            yield wanted
            return
        with tempfile.NamedTemporaryFile(prefix="memflame-", suffix=".zst") as smaller:
            _pack(file, smaller)
            smaller.flush()
            yield replace(wanted, path=Path(smaller.name), encoding="zstd")


def _pack(source: BinaryIO, target: Any) -> None:
    import zstandard

    zstandard.ZstdCompressor(level=3).copy_stream(source, target)


@contextmanager
def progress(total_bytes: int, name: str, say: Callable[[str], None]) -> Iterator[Callable[[int], None]]:
    """A bar on a terminal, one line otherwise."""
    if not sys.stderr.isatty():
        say(f"sending {name}, {total_bytes:,} bytes")
        yield lambda sent: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("sending", total=total_bytes)
        yield lambda sent: bar.update(task, completed=sent)
