"""Compressed files to their bytes in bounded steps: gzip, zstd, bzip2, xz by their first bytes, two layers at most."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from itertools import chain
from typing import BinaryIO

from tracer.profile.errors import LimitExceeded, MalformedProfile
from tracer.profile.model import Limits

STEP = 256 << 10  # bytes a step; also the size of the head that importers look at
ZSTD_WINDOW = 8 << 20  # RFC 8878 asks every decoder for this much; a larger window is memory that the sender chooses
XZ_MEMORY = 64 << 20  # `xz -6`, its default, needs 9 MiB; -9 needs 65
LAYERS = 2  # a pprof file is packed from the start, and some tools pack whatever they store
ZSTD_STEP = 512  # 4 bytes can stand for a block of 128 KiB: this much input is never more than 16 MiB of output


def unpack(stream: BinaryIO, limits: Limits) -> Iterator[bytes]:
    """The file's bytes, inflated if need be. Raises LimitExceeded as soon as they are too many."""
    head, steps = head_of(_bounded(iter(lambda: stream.read(STEP), b""), limits))
    packings: list[str] = []
    while (name := packed_as(head)) is not None:
        packings.append(name)
        if len(packings) > LAYERS:
            raise MalformedProfile(f"{' inside '.join(reversed(packings))} data: {LAYERS} layers are unpacked at most")
        head, steps = head_of(_bounded(_inflated(name, _Joined(steps)), limits))
    yield from steps


def _bounded(steps: Iterator[bytes], limits: Limits) -> Iterator[bytes]:
    size, limit = 0, limits.inflated_bytes
    for step in steps:
        size += len(step)
        if size > limit:
            raise LimitExceeded("size of the file in bytes, inflated,", limit=limit, value=limit, at_least=True)
        yield step


def packed_as(head: bytes) -> str | None:
    """The name of the compression whose magic these bytes begin with."""
    return next((name for name, (magic, _) in _PACKINGS.items() if head.startswith(magic)), None)


def head_of(steps: Iterator[bytes]) -> tuple[bytes, Iterator[bytes]]:
    """The first bytes, STEP of them if there are as many, and all steps again."""
    taken: list[bytes] = []
    while sum(map(len, taken)) < STEP and (step := next(steps, b"")):
        taken.append(step)
    return b"".join(taken)[:STEP], chain(taken, steps)


class _Joined(io.RawIOBase):
    """Bytes in steps as a file, for those who read it in pieces of their own size."""

    def __init__(self, steps: Iterator[bytes]) -> None:
        self._steps, self._step, self._place = steps, b"", 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        """Less than `size` where a step ends; nothing only at the end."""
        if self._place >= len(self._step):
            self._step, self._place = next(self._steps, b""), 0
        taken = self._step[self._place : self._place + size]
        self._place += len(taken)
        return taken


def _steps(source: io.RawIOBase, size: int = STEP) -> Iterator[bytes]:
    while step := source.read(size):
        yield step


def _inflated(name: str, source: io.RawIOBase) -> Iterator[bytes]:
    import lzma
    import zlib

    try:
        yield from (step for step in _PACKINGS[name][1](source) if step)
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        if getattr(error, "errno", None) is not None:  # the disk's trouble, not the file's
            raise
        raise MalformedProfile(f"the {name} data is damaged: {error}") from None


def _gunzip(source: io.RawIOBase) -> Iterator[bytes]:
    import gzip

    with gzip.GzipFile(fileobj=source) as packed:
        while step := packed.read(STEP):
            yield step


def _bunzip2(source: io.RawIOBase) -> Iterator[bytes]:
    import bz2

    with bz2.BZ2File(source) as packed:
        while step := packed.read(STEP):
            yield step


def _unxz(source: io.RawIOBase) -> Iterator[bytes]:
    """Like lzma.LZMAFile, which has no limit for the memory that the file asks for."""
    import lzma

    unpacker = None
    for packed in _steps(source):
        while packed or (unpacker is not None and not unpacker.needs_input):
            unpacker = unpacker or lzma.LZMADecompressor(memlimit=XZ_MEMORY)
            yield unpacker.decompress(packed, STEP)
            packed = b""
            if unpacker.eof:
                packed, unpacker = unpacker.unused_data.lstrip(b"\0"), None  # zeros may stand between streams
    if unpacker is not None:
        raise EOFError("it ends too early")


def _unzstd(source: io.RawIOBase) -> Iterator[bytes]:
    import zstandard

    unpacker = None
    for packed in _steps(source, ZSTD_STEP):
        while packed:
            unpacker = unpacker or zstandard.ZstdDecompressor(max_window_size=ZSTD_WINDOW).decompressobj()
            try:
                yield unpacker.decompress(packed)
            except zstandard.ZstdError as error:
                _check_window(packed)
                raise EOFError(str(error)) from None
            packed = b""
            if unpacker.eof:
                packed, unpacker = unpacker.unused_data, None
    if unpacker is not None:
        raise EOFError("it ends too early")


def _check_window(frame: bytes) -> None:
    """Say it in numbers when the window is what the decompressor refused."""
    import zstandard

    try:
        window = zstandard.get_frame_parameters(frame).window_size
    except zstandard.ZstdError:  # not the beginning of a frame
        return
    if window > ZSTD_WINDOW:
        raise LimitExceeded("zstd window in bytes", limit=ZSTD_WINDOW, value=window)


_PACKINGS: dict[str, tuple[bytes, Callable[[io.RawIOBase], Iterator[bytes]]]] = {
    "gzip": (b"\x1f\x8b", _gunzip),
    "zstd": (b"\x28\xb5\x2f\xfd", _unzstd),
    "bzip2": (b"BZh", _bunzip2),
    "xz": (b"\xfd7zXZ\x00", _unxz),
}
