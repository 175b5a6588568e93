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
    started = Namer(reads_lines=False)
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


def test_one_that_is_silent_for_too_long_is_ended_and_waiting_for_it_holds_nobody_up(namer):
    ask(namer)
    os.kill(namer.pid, signal.SIGSTOP)

    done_meanwhile = []
    with pytest.raises(NamerError, match="no answer"):
        namer.ask({"do": "jit"}, within_s=0.2, meanwhile=lambda: done_meanwhile.append("events"))
    assert len(done_meanwhile) > 1
    with pytest.raises(ProcessLookupError):
        os.kill(namer.pid, 0)


def test_it_ends_with_the_one_that_started_it():
    """The socket closes: it waits for nobody."""
    started = "from tracer.symbols.namer import Namer; print(Namer(reads_lines=False).pid, flush=True)"
    code = f"{started}; import os; os._exit(0)"
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
