"""Messages between a recording and its namer over a socket: JSON behind its length, with open files beside it."""

from __future__ import annotations

import json
import os
import socket
import struct
from collections.abc import Sequence
from typing import Any

READS_LINES = "--lines"  # argument of the worker: load what reads DWARF, for later it can't

_LENGTH = struct.Struct("=I")
_MAX_BYTES = 256 << 20  # of one message: a million frames
_MAX_FILES = 4


class Disconnected(Exception):
    """The other side has ended, does not answer in time, or speaks another language."""


def send(connection: socket.socket, message: Any, files: Sequence[int] = ()) -> None:
    content = json.dumps(message, separators=(",", ":")).encode()
    try:
        socket.send_fds(connection, [_LENGTH.pack(len(content))], files)
        connection.sendall(content)
    except OSError as error:
        raise Disconnected(str(error)) from error


def receive(connection: socket.socket) -> tuple[Any, list[int]]:
    """The files are the caller's to close."""
    files: list[int] = []
    try:
        head, files, _, _ = socket.recv_fds(connection, _LENGTH.size, _MAX_FILES)
        (size,) = _LENGTH.unpack(head)
        if size > _MAX_BYTES:
            raise ValueError(f"a message of {size:,} bytes")
        return json.loads(_received(connection, size)), files
    except (OSError, ValueError, RecursionError, struct.error) as error:
        for file in files:
            os.close(file)
        raise Disconnected(str(error) or "no answer in time") from error


def _received(connection: socket.socket, size: int) -> bytes:
    content = bytearray()
    while len(content) < size:
        piece = connection.recv(min(size - len(content), 1 << 20))
        if not piece:
            raise ValueError("a message that is cut short")
        content += piece
    return bytes(content)
