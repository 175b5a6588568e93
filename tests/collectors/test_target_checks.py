"""What the doctor says of processes that the tests start."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tracer.collectors.target_checks import inner_pid, target_checks

# Writes "ready", then waits for the end of its input.
WAITING = "import sys; print('ready', flush=True); sys.stdin.read()"
GENERATED = "from mmap import *; code = mmap(-1, 4096, MAP_PRIVATE | MAP_ANONYMOUS, PROT_READ | PROT_EXEC); "


@pytest.fixture
def started() -> Iterator[list[subprocess.Popen[str]]]:
    processes: list[subprocess.Popen[str]] = []
    yield processes
    for process in processes:
        process.communicate()


@pytest.fixture
def run(started):
    def waiting(*command: str) -> int:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        started.append(process)
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        return process.pid

    return waiting


def states(pid: int) -> dict[str, tuple[str, str]]:
    return {check.name: (check.state, check.text) for check in target_checks(pid)}


def test_a_usual_process_has_an_allocator_and_is_seen_as_we_see_it(run):
    found = states(run(sys.executable, "-c", WAITING))

    assert found["container view"] == ("ok", "the same files and process numbers as here")
    assert found["allocator"][1].startswith("malloc in libc.so.6; ")
    assert (found["mapped files"][0], found["places of probes"][0]) == ("ok", "ok")
    assert found["generated code"] == ("ok", "none")
    assert found["frame pointers"][1].startswith("Not kept by python3")


def test_a_process_that_is_gone_fails_whole():
    assert states(2**22 - 1) == {"process": ("failure", f"There is no process {2**22 - 1}.")}


def test_code_made_at_run_time_needs_a_map_of_names(run):
    pid = run(sys.executable, "-c", GENERATED + WAITING)
    place = Path(f"/tmp/perf-{pid}.map")

    nameless = f"There is code made at run time, and no {place} that names it."
    assert states(pid)["generated code"] == ("warning", nameless)

    place.write_text("7f0000000000 10 made\n")
    try:
        assert states(pid)["generated code"] == ("ok", f"named by {place}")
    finally:
        place.unlink()


def test_a_library_that_was_replaced_is_named(run, tmp_path):
    library = tmp_path / "libz.so.1"
    shutil.copy("/lib/x86_64-linux-gnu/libz.so.1", library)
    pid = run(sys.executable, "-c", f"import ctypes; ctypes.CDLL({str(library)!r}); {WAITING}")
    library.unlink()

    state, text = states(pid)["mapped files"]

    assert state == "warning"
    assert str(library) in text


@pytest.mark.skipif(os.geteuid() != 0, reason="a mount namespace needs root")
def test_a_process_with_files_of_its_own_says_so(run):
    view = states(run("unshare", "--mount", sys.executable, "-c", WAITING))["container view"]

    assert view[0] == "ok"
    assert view[1].startswith("mnt namespace of its own; files are reached through /proc/")


def test_the_number_that_a_process_has_for_itself_is_the_last():
    assert inner_pid("Name:\tworker\nNSpid:\t4711\t12\n") == 12
    assert inner_pid("Name:\tworker\nNSpid:\t4711\n") == 4711
