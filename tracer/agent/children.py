"""Processes that the agent starts: each gets one JSON object on standard input, answers in lines, and ends with it."""

from __future__ import annotations

import ctypes
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from typing import IO, Any

from tracer.client import TOKEN_ENV

BROKER_ENV = "MEMFLAME_BROKER"  # may hold a password
PR_SET_PDEATHSIG = 1  # linux/prctl.h


def start_child(module: str, task: Mapping[str, Any]) -> subprocess.Popen[bytes]:
    """Run a module of ours. The starting thread must live as long as the child: the kernel watches the thread."""
    environment = {name: text for name, text in os.environ.items() if name not in (TOKEN_ENV, BROKER_ENV)}
    child = subprocess.Popen(
        [sys.executable, "-P", "-m", module],  # -P: import nothing from the folder we happen to stand in
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
        start_new_session=True,  # Ctrl-C reaches the agent only, which then stops its children in order
    )
    with input_of(child) as stdin:
        stdin.write(json.dumps({**task, "parent": os.getpid()}).encode())
    return child


def read_task() -> dict[str, Any]:
    """In the child: what it was started for. From here on it gets SIGTERM when the agent dies."""
    task: dict[str, Any] = json.load(sys.stdin)
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != task["parent"]:  # it died before we asked
        os.kill(os.getpid(), signal.SIGTERM)
    return task


def input_of(child: subprocess.Popen[bytes]) -> IO[bytes]:
    assert child.stdin is not None
    return child.stdin


def output_of(child: subprocess.Popen[bytes]) -> IO[bytes]:
    assert child.stdout is not None
    return child.stdout
