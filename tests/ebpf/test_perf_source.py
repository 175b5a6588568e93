"""Recordings by perf: known work counted exactly, losses told, and nothing left behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import pytest

from tracer.bpf.program import Program
from tracer.collectors import CollectorError, PerfRecording, start
from tracer.perf.uprobes import Uprobes
from tracer.protocol import RunSpec

UPROBE_EVENTS = Path("/sys/kernel/tracing/uprobe_events")
PAGE = 4096
# `import bcc` fails, as on a host without it.
WITHOUT_BCC = """
import sys
sys.modules["bcc"] = None
from tracer.commands import main
main()
"""


def by_perf(workload: Any, collector: str, **options: int | str) -> PerfRecording:
    found = start(RunSpec("r-test", collector, workload.pid, options={"source": "perf", **options}))
    assert isinstance(found, PerfRecording)
    return found


def left_of(pid: int) -> list[str]:
    """Events and files of a tracer."""
    events = [line for line in UPROBE_EVENTS.read_text().splitlines() if f"memflame_{pid}_" in line]
    return events + [path.name for path in Path(gettempdir()).glob(f"memflame-perf-{pid}-*")]


@pytest.fixture(scope="module")
def recorded_by_perf(launch: Callable[..., Any], by_function: Callable[..., Any]) -> Callable[..., Any]:
    def record(program: str, collector: str, **options: int | str) -> Any:
        workload = launch(program)
        with by_perf(workload, collector, **options) as running:
            workload.work()
            return by_function(running.last_snapshot())

    return record


@pytest.fixture(scope="module")
def leaky(recorded_by_perf: Callable[..., Any]) -> Any:
    return recorded_by_perf("leaky", "malloc")


def test_calls_of_malloc_and_the_bytes_they_ask_for_are_exact(leaky: Any) -> None:
    assert leaky.values("leak_cache") == (23 * PAGE, 23)
    assert leaky.values("serve_requests") == (1009 * 32, 1009)
    assert [known.name for known in leaky.profile.value_types] == ["requested_bytes", "calls"]


def test_the_caller_that_frame_pointers_miss_is_read_by_the_probe(leaky: Any) -> None:
    assert leaky.callers("malloc") == {"leak_cache", "serve_requests"}


def test_the_capture_says_that_perf_recorded_and_what_it_can_not_see(leaky: Any) -> None:
    capture = leaky.capture

    assert (capture["source"], capture["events"], capture["lost"], capture["unwind"]) == ("perf", 1032, {}, "fp")
    assert "not what is given back" in capture["notes"][0]
    assert {"module": "libc.so.6", "symbol": "malloc", "offset": 0, "kind": "emulated"} in capture["probes"]


def test_every_function_has_its_caller_by_frame_pointers(recorded_by_perf: Callable[..., Any]) -> None:
    allocations = recorded_by_perf("allocations", "malloc")

    assert allocations.values("keep_calloc") == (53 * 1000, 53)
    assert allocations.values("keep_reallocarray") == (11 * 333, 11)
    assert allocations.values("keep_new") == (17 * 8, 17)
    assert allocations.values("keep_new_array") == (11 * 200, 11)
    assert allocations.values("keep_new_nothrow") == (7 * 24, 7)
    assert allocations.values("keep_new_aligned") == (5 * 128, 5)
    assert allocations.callers("operator new") == {"keep_new", "keep_new_aligned", "delete_all"}


def test_copies_of_strings_belong_to_who_asked_for_them(recorded_by_perf: Callable[..., Any]) -> None:
    copies = recorded_by_perf("copies", "malloc")

    assert copies.values("keep_strdup") == (1010, 101)
    assert {"keep_strdup", "free_strdup"} <= copies.callers("strdup")


def test_faults_are_exact(recorded_by_perf: Callable[..., Any]) -> None:
    touched = recorded_by_perf("touch", "page_faults")

    assert touched.values("touch_each") == (1009, 0)
    assert touched.values("read_each") == (307, 0)
    assert touched.capture["lost"] == {}


def test_mapped_bytes_have_their_callers_and_failures_count_nothing(recorded_by_perf: Callable[..., Any]) -> None:
    mapped = recorded_by_perf("mappings", "mmap")

    assert mapped.values("keep") == (5 * 64 * PAGE, 5)
    assert mapped.values("map_over") == (56 * PAGE, 2)
    assert mapped.values("move") == ((8 + 53) * PAGE, 2)
    assert mapped.values("map_a_file") == (PAGE, 1)
    assert mapped.values("fail") == (0, 0)
    assert mapped.capture["unwind"] == "dwarf"


def test_the_heap_moves_by_what_brk_returned(recorded_by_perf: Callable[..., Any]) -> None:
    moved = recorded_by_perf("heap", "brk")

    assert moved.values("grow") == (11 * 3 * PAGE, 12, 0)
    assert moved.values("grow_oddly") == (PAGE, 2, 0)
    assert moved.values("shrink") == (-5 * PAGE, 1, 0)
    assert moved.values("ask") == (0, 7, 0)
    assert moved.values("ask_too_much") == (0, 3, 3)


def test_code_without_frame_pointers_has_its_callers_by_dwarf(recorded_by_perf: Callable[..., Any]) -> None:
    allocations = recorded_by_perf("allocations-frameless", "malloc", unwind="dwarf", perf_pages=8192)

    assert allocations.capture["lost"] == {}
    assert allocations.values("keep_malloc") == (101 * 1000, 101)
    assert allocations.values("keep_calloc") == (53 * 1000, 53)
    assert {"operator new(unsigned long)", "keep_malloc"} <= allocations.callers("malloc")


def test_what_perf_loses_in_a_small_buffer_is_counted(recorded_by_perf: Callable[..., Any]) -> None:
    capture = recorded_by_perf("leaky", "malloc", unwind="dwarf", perf_pages=4).capture

    assert capture["lost"]["perf_lost"] > 0
    assert capture["events"] + capture["lost"]["perf_lost"] == 1032


def test_snapshots_are_cumulative(launch: Callable[..., Any], by_function: Callable[..., Any]) -> None:
    workload = launch("leaky")
    with by_perf(workload, "malloc") as running:
        before = running.snapshot()
        workload.work()
        after, last = running.snapshot(), running.last_snapshot()

    assert before.stack_count == 0
    assert after.total() == last.total() == 23 * PAGE + 1009 * 32
    assert running.progress().events == 1032


def test_a_large_file_is_read_while_perf_writes_the_next(
    launch: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tracer.collectors.perf_recording.PART_BYTES", 10_000)
    workload = launch("leaky")
    with by_perf(workload, "malloc", perf_pages=8) as running:  # small, so that perf must write at once
        workload.work()
        for _ in range(100):
            if running.progress().events:
                break
            assert running.wait(0.2)
        assert running.progress().events > 0
        last = running.last_snapshot()
        progress = running.progress()

    assert last.total(1) == progress.events
    assert progress.events + progress.lost.get("perf_lost", 0) == 1032


def test_nothing_is_left_after_the_end_or_a_cancel(launch: Callable[..., Any]) -> None:
    workload = launch("leaky")
    with by_perf(workload, "malloc"):
        assert left_of(os.getpid())
    with pytest.raises(KeyboardInterrupt), by_perf(workload, "malloc"):
        raise KeyboardInterrupt

    assert left_of(os.getpid()) == []


def test_what_a_killed_tracer_left_goes_with_the_next_recording(launch: Callable[..., Any]) -> None:
    workload = launch("leaky")
    command = ["-m", "tracer", "record", "--pid", str(workload.pid), "--source", "perf", "--duration", "60"]
    tracer = subprocess.Popen([sys.executable, *command], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    assert tracer.stderr is not None
    with tracer, tracer.stderr:
        assert "attached" in tracer.stderr.readline()
        tracer.send_signal(signal.SIGKILL)
        tracer.wait()
    assert left_of(tracer.pid)

    with by_perf(workload, "malloc"):
        assert left_of(tracer.pid) == []
    workload.work()


def test_the_command_line_records_by_perf_where_there_is_no_bcc(launch: Callable[..., Any], tmp_path: Path) -> None:
    workload, out = launch("leaky"), tmp_path / "leaky.folded"
    arguments = ["record", "--pid", str(workload.pid), "--source", "perf", "--duration", "60", "--json", "-o", str(out)]
    recorder = subprocess.Popen(
        [sys.executable, "-c", WITHOUT_BCC, *arguments],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert recorder.stderr is not None
    assert "attached" in recorder.stderr.readline()
    workload.work()
    recorder.send_signal(signal.SIGINT)
    printed, said = recorder.communicate(timeout=60)

    assert recorder.returncode == 0, said
    summary = json.loads(printed)
    assert summary["totals"] == {"requested_bytes": 23 * PAGE + 1009 * 32, "calls": 1032}
    assert "leak_cache;malloc 94208 23" in out.read_text()


def test_a_host_without_bcc_is_told_of_perf(launch: Callable[..., Any]) -> None:
    def said(*arguments: str) -> str:
        done = subprocess.run([sys.executable, "-c", WITHOUT_BCC, *arguments], capture_output=True, text=True)
        assert done.returncode == 1
        return done.stdout + done.stderr

    assert "malloc       by perf only (--source perf): bcc is missing" in said("doctor")
    assert "perf can record here: --source perf" in said("record", "--pid", str(launch("leaky").pid))


def test_a_target_that_exits_is_recorded_to_its_end(
    launch: Callable[..., Any], by_function: Callable[..., Any]
) -> None:
    workload = launch("leaky")
    with by_perf(workload, "malloc") as running:
        workload.work()
        workload.exit()
        assert not running.wait(30)
        assert by_function(running.last_snapshot()).values("leak_cache") == (23 * PAGE, 23)


def test_what_can_not_be_recorded_is_told(launch: Callable[..., Any]) -> None:
    workload = launch("leaky")

    with pytest.raises(CollectorError, match="option older_than is '30s', but perf follows no blocks"):
        by_perf(workload, "malloc", older_than="30s")
    with pytest.raises(CollectorError, match="there is no process 4194304"):
        start(RunSpec("r-test", "malloc", 4_194_304, options={"source": "perf"})).__enter__()


def test_a_program_of_another_tracer_that_keeps_events_from_perf_is_told(
    launch: Callable[..., Any], tmp_path: Path
) -> None:
    selfish = tmp_path / "selfish.c"
    selfish.write_text("TRACEPOINT_PROBE(syscalls, sys_enter_brk) { return 0; }")
    program = Program([selfish], defines={})
    try:
        with pytest.raises(CollectorError, match="syscalls:sys_enter_brk does not reach perf: a BPF program of"):
            by_perf(launch("heap"), "brk").__enter__()
    finally:
        program.close()


def test_a_recording_of_ours_keeps_nothing_from_perf(
    launch: Callable[..., Any], by_function: Callable[..., Any]
) -> None:
    workload = launch("heap")
    with start(RunSpec("r-test", "brk", workload.pid)) as ours, by_perf(workload, "brk") as perf:
        workload.work()

        for snapshot in (ours.snapshot(), perf.last_snapshot()):
            assert by_function(snapshot).values("grow") == (11 * 3 * PAGE, 12, 0)


def test_events_of_a_living_tracer_stay(launch: Callable[..., Any]) -> None:
    with by_perf(launch("leaky"), "malloc"):
        mine = left_of(os.getpid())
        Uprobes().close()

        assert left_of(os.getpid()) == mine
