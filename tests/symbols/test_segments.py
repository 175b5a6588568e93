"""Where code is in a binary, told by the binary itself and by the debug file that was split off it."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tracer.symbols.elf import ElfFile
from tracer.symbols.headers import ProgramHeader
from tracer.symbols.namer import Namer, NamerError
from tracer.symbols.segments import Segment, segments_of
from tracer.symbols.store import NameStore
from tracer.symbols.symbolizer import Binary, Symbolizer

LAYOUTS = {
    "position independent": [],
    "fixed address": ["-no-pie"],
    "one segment of code and data": ["-Wl,-z,noseparate-code"],
    "static": ["-static"],
    "library": ["-shared", "-fPIC"],
    "gold": ["-fuse-ld=gold"],
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_debug_file_tells_where_the_code_of_its_binary_is(
    layout: str, built: Callable[..., int], tmp_path: Path
) -> None:
    whole = built("-g", *LAYOUTS[layout])
    debug = _split(whole, tmp_path)
    try:
        assert _code(debug) == _code(whole)
    finally:
        os.close(debug)


def test_a_linker_that_puts_code_right_behind_other_bytes_is_followed() -> None:
    """lld's layout: address and offset differ by a page."""
    loaded = [_header(4, 0, 0x73C), _header(5, 0x1740, 0x5A1), _header(6, 0x2CE8, 0x1A0)]

    assert segments_of(loaded, has_code=False) == [
        Segment(0, 0, 0x73C),
        Segment(0x740, 0x1740, 0x5A1),
        Segment(0xCE8, 0x2CE8, 0x1A0),
    ]


def test_what_a_file_is_is_told_by_the_process_that_reads_it(built: Callable[..., int], tmp_path: Path) -> None:
    whole, namer = built("-g", "-Wl,--build-id"), Namer(reads_lines=False)
    debug = _split(whole, tmp_path)
    try:
        told = [_told(namer, fd) for fd in (whole, debug)]
        with pytest.raises(NamerError, match="stripped"):
            _told(namer, built("-s"))
        with pytest.raises(NamerError, match="not an ELF file"):
            _told(namer, os.memfd_create("empty"))
    finally:
        namer.close()
        os.close(debug)

    assert [fact["kind"] for fact in told] == ["binary", "debug"]
    assert told[0]["build_id"] == told[1]["build_id"] != ""
    assert told[0]["has_lines"] and told[1]["has_lines"]


def _told(namer: Namer, fd: int) -> dict[str, Any]:
    return dict(namer.ask({"do": "inspect"}, [fd], within_s=30)[0])


def _header(flags: int, address: int, size: int) -> ProgramHeader:
    return ProgramHeader(1, flags, 0, address, 0, size, 0x1000)


def _split(whole: int, folder: Path) -> int:
    binary, debug = folder / "whole", folder / "whole.debug"
    shutil.copyfile(f"/proc/self/fd/{whole}", binary)
    subprocess.run(["objcopy", "--only-keep-debug", binary, debug], check=True)
    return os.open(debug, os.O_RDONLY)


def _code(fd: int) -> list[tuple[int, int]]:
    """Address and offset of each function."""
    with ElfFile(fd) as elf:
        return sorted({(known.address, elf.file_offset(known.address)) for known in elf.functions()})


def test_a_place_is_found_by_its_offset_and_by_its_distance_from_where_the_file_was_loaded(
    built: Callable[..., int], tmp_path: Path
) -> None:
    fd = built("-no-pie", "-Wl,-Ttext=0x480000")
    with ElfFile(fd) as elf:
        address = next(known.address for known in elf.functions() if known.name == "outer")
        offset, distance = elf.file_offset(address), address - min(part.address for part in elf.segments)
    binary = Binary(fd, "program")

    with Symbolizer(NameStore(tmp_path / "names")).session([binary]) as session:
        by_offset = session.locations(binary, [offset])
        by_distance = session.locations(binary, [distance], in_image=True)

    assert offset != distance
    assert [[place.name for place in found] for found in (*by_offset, *by_distance)] == [["outer"], ["outer"]]
