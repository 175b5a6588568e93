"""The process that reads foreign files for a recording: binaries, debug information, maps of JIT code, mangled names.

It gets open files over the socket that is its standard input, and answers with names; it can reach nothing else.

    {"do": "load", "offsets": [4416]}  + entry           {"locations": [[["main", "a.c", 7]]], "missing": null}
    {"do": "make", "offsets": [4416], "lines": true, "is_searched": false}  + binary, perhaps its debug file
                                                         {"locations": […]}  + entry
    {"do": "jit", "addresses": [4919]}  + map            {"names": {"4919": "loadIndex"}}
    {"do": "demangle", "names": ["_Z4loadv"]}            {"names": ["load()"]}
    {"do": "inspect"}  + binary or debug file            {"build_id": "93ac…", "kind": "binary", "has_lines": true}

With "in_image": true, offsets are distances from where the binary is loaded.
`missing` is name and checksum of a debug file that the binary asks for: `make` answers it alone unless one was given,
or is_searched says that there is none. An answer {"error": "…"} says why not.
"""

from __future__ import annotations

import mmap
import os
import socket
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from tracer.symbols.confinement import confine
from tracer.symbols.demangle import demangled
from tracer.symbols.demangle import load as load_demanglers
from tracer.symbols.entry import Entry, unpacked_entry
from tracer.symbols.inspection import inspected
from tracer.symbols.jit import names_in_map
from tracer.symbols.lines import Location
from tracer.symbols.lines import load as load_lines
from tracer.symbols.making import made_entry, missing_debug_file
from tracer.symbols.messages import READS_LINES, Disconnected, receive, send

Answer = tuple[dict[str, Any], list[int]]  # the files are closed once they are sent


def main(arguments: Sequence[str]) -> int:
    connection = socket.socket(fileno=0)
    load_demanglers()
    if READS_LINES in arguments:
        load_lines()
    try:
        confine()
        answer_to = _answer
    except PermissionError as error:
        answer_to = partial(_refusal, str(error))
    with suppress(Disconnected):
        while True:
            request, files = receive(connection)
            answer, made = answer_to(request, files)
            send(connection, answer, made)
            for fd in [*files, *made]:
                os.close(fd)
    return 0


def _refusal(why: str, request: dict[str, Any], files: list[int]) -> Answer:
    """With root's rights nothing foreign is read."""
    return {"error": why}, []


def _answer(request: dict[str, Any], files: list[int]) -> Answer:
    try:
        return _ANSWERS[request["do"]](request, files)
    except Exception as error:  # what a foreign file can make a parser raise has no end
        return {"error": str(error) or type(error).__name__}, []


def _load_entry(request: dict[str, Any], files: list[int]) -> Answer:
    entry = _opened(files[0])
    missing = [entry.missing.name, entry.missing.crc] if entry.missing is not None else None
    return {"locations": _locations(entry, request), "missing": missing}, []


def _make_entry(request: dict[str, Any], files: list[int]) -> Answer:
    binary, debug = files[0], files[1] if len(files) > 1 else None
    missing = None if debug is not None else missing_debug_file(binary)
    if missing is not None and not request["is_searched"]:
        return {"missing": [missing.name, missing.crc]}, []
    content = made_entry(binary, debug, missing=missing, with_lines=request["lines"])
    entry = os.memfd_create("entry")
    with open(entry, "wb", closefd=False) as file:
        file.write(content)
    return {"locations": _locations(_opened(entry), request)}, [entry]


def _opened(fd: int) -> Entry:
    return unpacked_entry(memoryview(mmap.mmap(fd, 0, prot=mmap.PROT_READ)))


def _locations(entry: Entry, request: dict[str, Any]) -> list[list[Location]]:
    find = entry.locations_in_image if request.get("in_image") else entry.locations
    return [find(offset) for offset in request["offsets"]]


def _jit_names(request: dict[str, Any], files: list[int]) -> Answer:
    return {"names": {str(place): name for place, name in names_in_map(files[0], request["addresses"]).items()}}, []


def _demangled_names(request: dict[str, Any], files: list[int]) -> Answer:
    return {"names": [demangled(name) for name in request["names"]]}, []


def _inspected(request: dict[str, Any], files: list[int]) -> Answer:
    return inspected(files[0]), []


_ANSWERS: dict[str, Callable[[dict[str, Any], list[int]], Answer]] = {
    "load": _load_entry,
    "make": _make_entry,
    "jit": _jit_names,
    "demangle": _demangled_names,
    "inspect": _inspected,
}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
