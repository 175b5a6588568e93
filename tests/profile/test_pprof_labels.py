"""Labels of pprof samples: a filter that never splits a stack, and a list of those that there are."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence

import pytest

from tracer import protocol
from tracer.profile.errors import EmptyProfile, MalformedProfile
from tracer.profile.formats import read_labels, read_profile
from tracer.profile.formats.pprof_labels import Label
from tracer.profile.model import Profile


def _number(number: int, value: int) -> bytes:
    return bytes([number << 3, value])


def _field(number: int, value: bytes) -> bytes:
    return bytes([number << 3 | 2, len(value)]) + value


STRINGS = ("", "inuse_space", "bytes", "load_index", "tenant", "alice", "bob", "size")
TENANT, SIZE = 4, 7


def _sample(value: int, *labels: bytes) -> bytes:
    return _field(2, _field(1, b"\x01") + _field(2, bytes([value])) + b"".join(_field(3, label) for label in labels))


def _text(key: int, value: int) -> bytes:
    return _number(1, key) + _number(2, value)


PROFILE = b"".join(
    [
        _field(1, _number(1, 1) + _number(2, 2)),
        _sample(1, _text(TENANT, 5), _number(1, SIZE) + _number(3, 64) + _number(4, 2)),
        _sample(2, _text(TENANT, 5)),
        _sample(4, _text(TENANT, 6)),
        _sample(8),
        _field(4, _number(1, 1) + _field(4, _number(1, 1))),
        _field(5, _number(1, 1) + _number(2, 3)),
        *(_field(6, text.encode()) for text in STRINGS),
    ]
)


def read(labels: Mapping[str, Sequence[str]] | None = None) -> Profile:
    return read_profile(io.BytesIO(PROFILE), resolve=protocol.value_type_named, labels=labels)


def test_labels_split_no_stack() -> None:
    assert read().values_by_stack == {("load_index",): [15]}


@pytest.mark.parametrize(
    ("labels", "total"),
    [
        ({"tenant": ["alice"]}, 3),
        ({"tenant": ["alice", "bob"]}, 7),
        ({"tenant": ["alice"], "size": ["64 bytes"]}, 1),
    ],
)
def test_only_samples_with_all_keys_and_one_of_each_keys_values_count(
    labels: Mapping[str, Sequence[str]], total: int
) -> None:
    assert read(labels).total() == total


def test_what_was_picked_is_told() -> None:
    assert read({"tenant": ["alice", "bob"]}).capture["notes"] == ["Only samples with tenant=alice or bob."]


def test_a_label_that_no_sample_has_is_refused() -> None:
    with pytest.raises(EmptyProfile, match="no sample has tenant=carol"):
        read({"tenant": ["carol"]})


def test_each_label_is_listed_once_with_its_samples() -> None:
    assert read_labels(io.BytesIO(PROFILE)) == [
        Label("size", "64 bytes", 1),
        Label("tenant", "alice", 2),
        Label("tenant", "bob", 1),
    ]


def test_other_formats_have_no_labels() -> None:
    folded = b"main;load 3\n"

    with pytest.raises(MalformedProfile, match="only those of pprof have"):
        read_profile(io.BytesIO(folded), resolve=protocol.value_type_named, labels={"a": ["b"]})
    with pytest.raises(MalformedProfile, match="only those of pprof have"):
        read_labels(io.BytesIO(folded))


def test_stacks_as_deep_as_go_cuts_them_are_told() -> None:
    deep = PROFILE + _field(2, _field(1, b"\x01" * 64) + _field(2, b"\x01"))

    profile = read_profile(io.BytesIO(deep), resolve=protocol.value_type_named)

    assert profile.capture["notes"] == [
        "Samples of 64 frames, the most that there are: 1. Go cuts stacks there, so the roots of these may be missing."
    ]
