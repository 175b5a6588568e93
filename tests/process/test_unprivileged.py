"""A process that reads what others wrote has no rights, and ends within its memory and time."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

import pytest

from tracer.process.unprivileged import Allowance, Unprivileged, UnprivilegedError

READERS = """
import errno, json, os, socket

def load():
    pass

def main(argument, source, out):
    globals()[argument["act"]](argument, source, out)

def answer(argument, source, out):
    out.write(source.read()[::-1])

def refuse(argument, source, out):
    raise ValueError("line 3 is bad")

def grow(argument, source, out):
    held = [bytearray(1 << 20) for _ in range(4096)]

def spin(argument, source, out):
    while True:
        pass

def tell(argument, source, out):
    told = {
        "users": [*os.getresuid(), *os.getresgid(), *os.getgroups()],
        "read": why_not(lambda: open("/etc/shadow")),
        "write": why_not(lambda: open("/tmp/memflame-test", "w")),
        "fork": why_not(os.fork),
        "connect": why_not(lambda: socket.create_connection(("127.0.0.1", 9))),
        "variables": sorted(os.environ),
    }
    out.write(json.dumps(told).encode())

def why_not(act):
    try:
        act()
    except OSError as error:
        return errno.errorcode[error.errno]
    return "done"
"""


@pytest.fixture
def readers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "readers.py").write_text(READERS)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setenv("MEMFLAME_TOKEN", "secret")
    return "readers"


def run(module: str, act: str, content: bytes = b"", allowance: Allowance | None = None) -> bytes:
    with tempfile.TemporaryFile() as source:
        source.write(content)
        source.seek(0)
        reader = Unprivileged(module, {"act": act}, source, allowance=allowance)
        answer = reader.output.read()
    reader.finish()
    return answer


def test_it_reads_and_answers(readers: str) -> None:
    assert run(readers, "answer", b"abc" * 100_000) == b"cba" * 100_000


def test_what_it_raises_is_told(readers: str) -> None:
    with pytest.raises(UnprivilegedError, match="^ValueError: line 3 is bad$"):
        run(readers, "refuse")


def test_it_takes_no_more_memory_than_allowed(readers: str) -> None:
    with pytest.raises(UnprivilegedError, match="it needs more than 268,435,456 bytes of memory"):
        run(readers, "grow", allowance=Allowance(memory_bytes=256 << 20))


def test_it_takes_no_more_time_than_allowed(readers: str) -> None:
    with pytest.raises(UnprivilegedError, match="it may take 1 s"):
        run(readers, "spin", allowance=Allowance(cpu_s=1))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has rights to give up")
def test_it_has_no_rights_left(readers: str) -> None:
    told = json.loads(run(readers, "tell"))

    assert 0 not in told["users"]
    assert (told["read"], told["write"], told["fork"], told["connect"]) == ("EMFILE", "EMFILE", "EAGAIN", "EMFILE")
    assert "MEMFLAME_TOKEN" not in told["variables"]
