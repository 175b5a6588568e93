"""What a process can still do once it has given up its rights."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys

import pytest

TRIES = """
import json, os, resource, signal, socket, sys
from tracer.symbols.confinement import confine

parent = os.getppid()
attempts = {
    "open a file": lambda: open("/etc/passwd"),
    "list the root": lambda: os.listdir("/proc"),
    "make a file": lambda: open("/made", "w"),
    "start a process": os.fork,
    "signal its parent": lambda: os.kill(parent, 0),
    "become root": lambda: os.setuid(0),
    "reach the network": lambda: socket.socket().connect(("127.0.0.1", int(sys.argv[1]))),
    "take all memory": lambda: bytearray(8 << 30),
}
confine()
outcome = {}
for name, attempt in attempts.items():
    try:
        attempt()
        outcome[name] = "done"
    except (OSError, MemoryError) as error:
        outcome[name] = type(error).__name__
print(json.dumps({"outcome": outcome, "user": os.geteuid(), "groups": os.getgroups()}))
"""


@pytest.fixture(scope="module")
def tried():
    with socket.create_server(("127.0.0.1", 0)) as server:
        command = [sys.executable, "-c", TRIES, str(server.getsockname()[1])]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has rights to give up")
@pytest.mark.parametrize(
    "attempt",
    [
        "open a file", "list the root", "make a file", "start a process", "signal its parent", "become root",
        "reach the network", "take all memory",
    ],
)  # fmt: skip
def test_a_confined_process_can_not(tried, attempt):
    assert tried["outcome"][attempt] != "done"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has rights to give up")
def test_it_is_a_user_of_its_own(tried):
    assert tried["user"] not in (0, 65_534)
    assert tried["groups"] == []


def test_without_root_it_still_can_not_take_all_memory(tried):
    assert tried["outcome"]["take all memory"] == "MemoryError"


REFUSED = """
import ctypes, os
from tracer.symbols.namer import Namer, NamerError

ctypes.CDLL(None).prctl(24, 7, 0, 0, 0)  # PR_CAPBSET_DROP, CAP_SETUID: as in a hardened container
try:
    print(Namer(reads_lines=False).ask({"do": "demangle", "names": ["_Z1fv"]}, within_s=30))
except NamerError as error:
    print(error)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has rights to give up")
def test_where_root_can_not_become_another_user_nothing_is_read_and_that_is_told():
    done = subprocess.run([sys.executable, "-c", REFUSED], capture_output=True, text=True, check=True)

    assert done.stdout == "it is read without root's rights only, and they can't be given up here (CAP_SETUID)\n"
