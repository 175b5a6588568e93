"""Symbols that are uploaded name frames of runs that are there, and of those to come."""

from __future__ import annotations

import pytest

NAMED = {"main;store::load(int);store::take(int);malloc": 4096, "other;malloc": 96}

pytestmark = pytest.mark.usefixtures("eager_worker")


def send(ci, program_file, name=None, project="search-api"):
    return ci.send(f"/projects/{project}/symbols?name={name or program_file.name}", program_file.read_bytes())


@pytest.mark.django_db(transaction=True)
def test_a_debug_file_names_a_run_that_was_there(ci, program, folded_of, uploaded_run, stacks_of):
    run = uploaded_run(folded_of(program, build_id=program.build_id))
    before = run.snapshots.get(seq=1)
    assert stacks_of(run) == {
        f"shop+{program.main:#x};shop+{program.load:#x};malloc": 4096, "other;malloc": 96
    }  # fmt: skip

    answer = send(ci, program.debug)

    assert (answer.status_code, answer.json()["runs"]) == (201, 1)
    assert stacks_of(run) == NAMED
    after = run.snapshots.get(seq=1)
    assert (after.revision, after.total_of("outstanding_bytes")) == (2, before.total_of("outstanding_bytes"))
    assert after.capture["shares"]["unresolved"] == 0
