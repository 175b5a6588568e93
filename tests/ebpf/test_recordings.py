"""What a recording leaves, says and refuses; the four collectors alike."""

from __future__ import annotations

import gc
import json
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tracer.bpf import syscalls
from tracer.collectors import CollectorError, start
from tracer.collectors.session import Outcome, run_session
from tracer.process.target import read_status
from tracer.profile.folded import read_folded
from tracer.protocol import CAPTURE_KEYS, COLLECTORS, TRACED, RunSpec, value_type_named

MEMFLAME = [Path(sys.executable).with_name("memflame")]


@pytest.mark.parametrize("collector", TRACED)
def test_no_program_link_or_descriptor_is_left_after_close(launch, recording_of, collector):
    workload = launch("leaky")
    descriptors = _open_descriptors()
    recording = recording_of(workload, collector)

    with recording:
        ours = recording.kernel_ids()

    assert ours.programs
    assert not ours.programs & set(syscalls.loaded_program_ids())
    assert not ours.links & set(syscalls.link_ids())
    assert _open_descriptors() == descriptors


def _open_descriptors():
    gc.collect()  # what an earlier test left must not be closed between two counts
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.mark.parametrize("collector", TRACED)
def test_the_capture_says_what_was_recorded_and_how_completely(launch, recording_of, collector):
    workload = launch("leaky")

    with recording_of(workload, collector) as recording:
        workload.work()
        capture = recording.snapshot().capture

    assert set(capture) <= set(CAPTURE_KEYS)
    assert (capture["collector"], capture["pid"], capture["command"]) == (collector, workload.pid, "leaky")
    assert capture["lost"] == {}
    json.dumps(capture)


def test_another_start_time_is_refused(launch):
    workload = launch("leaky")
    start_time = read_status(workload.pid).start_time

    with pytest.raises(CollectorError, match="is not the one that was chosen"):
        start(RunSpec("r-test", "brk", workload.pid, start_time=start_time + 1)).__enter__()


def test_an_unknown_option_is_refused(launch, recording_of):
    with pytest.raises(CollectorError, match="there is no option 'max_stack'"):
        recording_of(launch("leaky"), "malloc", max_stack=5)


class Notes:
    """A listener that writes down what it hears, and acts when attached."""

    def __init__(self, on_attached=lambda: None):
        self.on_attached = on_attached
        self.snapshots = []
        self.progress = []

    def on_progress(self, elapsed_s, progress):
        self.progress.append(progress)

    def on_snapshot(self, seq, elapsed_s, profile, is_last):
        self.snapshots.append((seq, is_last, profile.total()))


def test_a_session_takes_snapshots_at_its_times_and_one_at_the_end(launch):
    workload = launch("leaky")
    notes = Notes(on_attached=workload.work)

    outcome = run_session(
        RunSpec("r-test", "malloc", workload.pid, duration_s=2.5, snapshot_every_s=1.0), notes, lambda: False
    )

    assert outcome == Outcome("done", 3)
    assert notes.snapshots == [(1, False, 94_208), (2, False, 94_208), (3, True, 94_208)]
    assert notes.progress[-1].events == 2041


def test_a_session_that_is_stopped_keeps_what_there_is(launch):
    workload = launch("leaky")
    stop = threading.Event()

    def work_and_stop():
        workload.work()
        stop.set()

    notes = Notes(on_attached=work_and_stop)
    outcome = run_session(RunSpec("r-test", "malloc", workload.pid, duration_s=60), notes, stop.is_set)

    assert outcome == Outcome("stopped", 1)
    assert notes.snapshots == [(1, True, 94_208)]


def test_a_session_ends_with_its_target_and_still_has_its_names(launch):
    workload = launch("leaky")

    def work_and_exit():
        workload.work()
        workload.exit()

    notes = Notes(on_attached=work_and_exit)
    outcome = run_session(RunSpec("r-test", "malloc", workload.pid, duration_s=60), notes, lambda: False)

    assert outcome == Outcome("target_exited", 1)
    assert notes.snapshots == [(1, True, 94_208)]


def test_the_command_writes_folded_stacks_and_a_summary(launch, tmp_path):
    workload = launch("leaky")
    out = tmp_path / "out.folded"
    command = [*MEMFLAME, "record", "--pid", str(workload.pid), "--duration", "1.5", "--snapshot-every", "1", "-o", out]

    with subprocess.Popen([*command, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as recorder:
        assert recorder.stderr.readline().startswith("attached")
        workload.work()
        summary = json.loads(recorder.communicate()[0])

    assert recorder.returncode == 0
    assert summary["totals"]["outstanding_bytes"] == 94_208
    assert summary["output"] == [f"{out}.0001", f"{out}.0002", str(out)]
    with out.open("rb") as stream:
        profile = read_folded(stream, resolve=value_type_named)
    assert sum(values[0] for stack, values in profile.rows() if "leak_cache" in stack) == 94_208


def test_an_interrupted_command_keeps_what_there_is(launch, tmp_path):
    workload = launch("leaky")
    command = [*MEMFLAME, "record", "--pid", str(workload.pid), "--duration", "60"]

    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as recorder:
        assert recorder.stderr.readline().startswith(b"attached")
        workload.work()
        recorder.send_signal(signal.SIGINT)
        printed = recorder.communicate(timeout=20)[0]

    assert recorder.returncode == 0
    profile = read_folded(printed.splitlines(keepends=True), resolve=value_type_named)
    assert profile.total() == 94_208


def test_the_command_says_that_a_process_is_gone(tmp_path):
    gone = subprocess.Popen(["true"])
    gone.wait()

    done = subprocess.run([*MEMFLAME, "record", "--pid", str(gone.pid)], capture_output=True, text=True)

    assert done.returncode == 1
    assert done.stderr == f"memflame record: there is no process {gone.pid}\n"
    assert done.stdout == ""


def test_the_doctor_finds_every_collector_ready():
    done = subprocess.run([*MEMFLAME, "doctor", "--json"], capture_output=True, text=True)

    assert done.returncode == 0
    assert json.loads(done.stdout)["collectors"] == dict.fromkeys(COLLECTORS, "")
