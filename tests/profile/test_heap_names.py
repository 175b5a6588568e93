"""Names of jemalloc's dumps: whose they are, and in which order they were written."""

from __future__ import annotations

from tracer.profile.heap_names import Dump, Group, dump_named, grouped


def test_a_dump_tells_its_process_and_number() -> None:
    assert dump_named("jeprof.4711.10.i10.heap") == Dump("jeprof", 4711, 10)
    assert dump_named("my.app.1.0.f.heap.gz") == Dump("my.app", 1, 0)


def test_other_names_tell_nothing() -> None:
    assert [dump_named(name) for name in ("out.folded", "a.heap", "jeprof.1.2.x3.heap", "prof.0001.heap")] == [None] * 4


def test_dumps_stand_in_the_order_of_their_numbers_and_not_of_their_text() -> None:
    names = ["jeprof.7.10.i10.heap", "jeprof.7.2.m0.heap", "jeprof.7.11.f.heap"]

    assert grouped(names) == [Group([1, 0, 2], "jeprof.7.*.heap", 7)]


def test_each_process_has_its_own() -> None:
    names = ["jeprof.8.0.f.heap", "jeprof.7.1.f.heap", "jeprof.7.0.i0.heap"]

    assert [(group.pid, group.places) for group in grouped(names)] == [(7, [2, 1]), (8, [0])]


def test_files_of_which_one_has_another_name_stay_as_they_were_given() -> None:
    assert grouped(["b.folded", "jeprof.7.0.i0.heap"]) == [Group([0, 1], title="")]
