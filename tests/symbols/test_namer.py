"""The process that reads foreign files, when it fails."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tracer.symbols.namer import Namer, NamerError


@pytest.fixture
def namer():
    started = Namer([])
    yield started
    started.close()


def ask(namer: Namer, within_s: float = 30) -> object:
    return namer.ask({"do": "demangle", "names": ["_Z4loadv"]}, within_s=within_s)[0]


def test_it_answers(namer):
    assert ask(namer) == {"names": ["load()"]}


def test_a_request_that_it_can_not_serve_is_an_error_and_it_goes_on(namer):
    with pytest.raises(NamerError, match="list index out of range"):
        namer.ask({"do": "load", "offsets": []}, within_s=30)

    assert ask(namer) == {"names": ["load()"]}


def test_one_that_dies_is_an_error(namer):
    ask(namer)
    os.kill(namer.pid, signal.SIGKILL)

    with pytest.raises(NamerError, match="no answer"):
        ask(namer)
    assert not namer.is_alive


def test_one_that_is_silent_for_too_long_is_ended(namer):
    ask(namer)
    os.kill(namer.pid, signal.SIGSTOP)

    with pytest.raises(NamerError, match="no answer"):
        ask(namer, within_s=0.1)
    with pytest.raises(ProcessLookupError):
        os.kill(namer.pid, 0)


def test_it_ends_with_the_one_that_started_it():
    """The socket closes: it waits for nobody."""
    code = "from tracer.symbols.namer import Namer; import os; print(Namer([]).pid, flush=True); os._exit(0)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    pid = int(done.stdout)

    while Path(f"/proc/{pid}/stat").exists() and not is_zombie(pid):
        os.sched_yield()


def is_zombie(pid: int) -> bool:
    """It has ended, and nobody has asked how."""
    try:
        return ") Z " in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
