"""Processes that can't be recorded rightly are refused, with the reason."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from tracer.collectors import CollectorError


def refusal(recording_of, workload, **options):
    with pytest.raises(CollectorError) as refused:
        recording_of(workload, "malloc", **options).__enter__()
    return str(refused.value)


@pytest.mark.parametrize("section", [".go.buildinfo", ".gopclntab"])
def test_a_go_program_is_refused_as_its_stacks_move(launch, recording_of, programs, tmp_path, section):
    """No Go compiler is needed for that: the section that its linker writes is put into a program of C."""
    go = tmp_path / "go"
    content = tmp_path / "content"
    content.write_text("Go buildinf:")
    subprocess.run(["objcopy", "--add-section", f"{section}={content}", programs / "leaky", go], check=True)

    reason = refusal(recording_of, launch(go))

    assert "is a Go program: a return probe would break the stacks that Go's runtime moves" in reason
    assert "/debug/pprof/heap" in reason


def test_an_allocator_that_was_deleted_is_refused(launch, recording_of, programs, tmp_path):
    library = tmp_path / "libpool.so"
    shutil.copy(programs / "libpool.so", library)
    workload = launch("leaky", LD_PRELOAD=str(library))
    library.unlink()

    reason = refusal(recording_of, workload)

    assert f"{library}, was deleted or replaced since it was mapped" in reason
    assert "start the process again" in reason


def test_a_deleted_library_without_an_allocator_is_a_note(launch, record, programs, tmp_path):
    for name in ("library_user", "libkeeper.so"):
        shutil.copy(programs / name, tmp_path)
    workload = launch(tmp_path / "library_user")
    (tmp_path / "libkeeper.so").unlink()

    recorded = record(workload, "malloc")

    assert recorded.values("use_library") == (31 * 512, 31, 31 * 512, 31)
    assert recorded.capture["notes"] == [
        f"Deleted or replaced since they were mapped, so not probed: {tmp_path}/libkeeper.so."
    ]


def test_an_allocator_that_nothing_calls_is_named_in_a_note(launch, recording_of):
    """Instead of an empty graph that looks like a program without any memory."""
    with recording_of(launch("leaky"), "malloc") as recording:
        capture = recording.snapshot().capture

    assert capture["notes"] == ["0 events from libc.so.6: it is in the process, but none of its calls counted."]
