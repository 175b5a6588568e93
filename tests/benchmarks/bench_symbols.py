"""Ratios of naming 10,000 addresses of a library of 110 MB against bcc's symbolizer and addr2line, in the same run."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from tracer.process.maps import Mapping, executable_mappings
from tracer.symbols.elf import ElfFile
from tracer.symbols.store import NameStore
from tracer.symbols.symbolizer import Binary, Symbolizer

ADDRESSES = 10_000
ROUNDS = 5  # the best counts: others share the machine


def loaded_library() -> Mapping:
    """The code of libLLVM, which bcc loads into this process."""
    import bcc  # noqa: F401

    mappings = executable_mappings(Path("/proc/self/maps").read_text())
    return max((known for known in mappings if "libLLVM" in known.path), key=lambda known: known.end - known.start)


def timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def ours(path: str, offsets: Sequence[int], store: NameStore) -> list[str]:
    """As a recording does it: a process is started, reads or makes the entry, names, demangles, ends."""
    with Path(path).open("rb") as file:
        binary = Binary(file.fileno(), path)
        with Symbolizer(store).session([binary]) as session:
            found = session.locations(binary, offsets)
            texts = session.demangled({place.name for places in found for place in places})
    return [texts[places[-1].name] if places else "" for places in found]


def bcc_names(addresses: Sequence[int]) -> list[str]:
    from bcc import BPF

    pid = os.getpid()
    return [BPF.sym(address, pid).decode("utf-8", "replace") for address in addresses]


def addr2line_names(path: str, addresses: Sequence[int]) -> list[str]:
    asked = "\n".join(f"{address:#x}" for address in addresses)
    done = subprocess.run(["addr2line", "-fCe", path], input=asked, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[::2]


def report(what: str, ours_s: float, peer_s: float, peer: str) -> None:
    print(f"{what:34} {ours_s:8.3f} s   {peer:10} {peer_s:8.3f} s   ratio {peer_s / ours_s:6.1f}")


def address_shift(path: str, offset: int) -> int:
    """What an address of the file has more than the offset of the same byte."""
    with Path(path).open("rb") as file, ElfFile(file.fileno()) as elf:
        parts = (part for part in elf.segments if part.offset <= offset < part.offset + part.file_bytes)
        return next(part.address - part.offset for part in parts)


def main() -> None:
    library = loaded_library()
    made = random.Random(1)
    offsets = [library.offset + made.randrange(library.end - library.start) for _ in range(ADDRESSES)]
    print(f"{ADDRESSES:,} addresses of {Path(library.path).name}, {Path(library.path).stat().st_size / 1e6:.0f} MB")
    print("ratio above 1: ours is faster")
    bcc_s = timed(lambda: bcc_names([library.start + offset - library.offset for offset in offsets]))
    with tempfile.TemporaryDirectory() as folder:
        stores = [NameStore(Path(folder) / str(number)) for number in range(ROUNDS)]
        cold_s = min(timed(partial(ours, library.path, offsets, store)) for store in stores)
        warm_s = min(timed(partial(ours, library.path, offsets, stores[0])) for _ in range(ROUNDS))
        names = ours(library.path, offsets, stores[0])
    report("names were kept", warm_s, bcc_s, "BPF.sym")
    report("names are read", cold_s, bcc_s, "BPF.sym")
    if shutil.which("addr2line"):
        shift = address_shift(library.path, offsets[0])
        addr2line_s = timed(lambda: addr2line_names(library.path, [offset + shift for offset in offsets]))
        report("names were kept", warm_s, addr2line_s, "addr2line")
    print(f"{sum(map(bool, names)):,} of them lie in a function that the library names")


if __name__ == "__main__":
    main()
