"""The cache of differences: large ones in files, the unused forgotten, nothing served that is gone."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from webapp.compare import backend
from webapp.compare.models import DiffPayload
from webapp.compare.sides import find_side
from webapp.flamegraph.cached import packed
from webapp.runs import uploads
from webapp.runs.models import Run
from webapp.teams.models import User

NAMES = [hashlib.sha256(str(number).encode()).hexdigest() for number in range(5000)]  # which take more than 60 kB
MANY = "".join(f"main;many;{name} 1\n" for name in NAMES).encode() + b"main;big 10000000\n"


@pytest.fixture
def large_diff(story: Any, uploaded_run: Callable[..., Run]) -> Callable[[], DiffPayload]:
    run = uploaded_run(MANY)
    side = find_side(story.alice, run.run_id)
    return lambda: backend.diff_payload(side, side, "value")


def test_a_large_difference_has_an_overview_and_a_file(large_diff: Callable[[], DiffPayload], storage: Path) -> None:
    row = large_diff()

    assert not row.overview_is_full
    assert len(packed(row, "overview")) < 1000
    assert packed(row, "full") == (storage / row.file).read_bytes()


def test_a_difference_whose_file_is_gone_is_merged_again(large_diff: Callable[[], DiffPayload], storage: Path) -> None:
    first = large_diff()
    (storage / first.file).unlink()

    again = large_diff()

    assert again.tag == first.tag
    assert (storage / again.file).exists()


def test_a_difference_goes_with_its_run_and_its_file_follows(
    large_diff: Callable[[], DiffPayload], storage: Path
) -> None:
    row = large_diff()
    uploads.delete_run(row.before.run)
    an_hour_ago = (timezone.now() - timedelta(hours=2)).timestamp()
    os.utime(storage / row.file, (an_hour_ago, an_hour_ago))

    backend.forget_unused()

    assert not DiffPayload.objects.exists()
    assert not (storage / row.file).exists()


def test_only_those_used_last_are_kept(
    story: Any, uploaded_run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backend, "KEPT", 2)
    sides = [find_side(story.alice, uploaded_run(b"main %d\n" % number).run_id) for number in range(3)]

    for side in sides:
        backend.diff_payload(sides[0], side, "value")

    assert set(DiffPayload.objects.values_list("after", flat=True)) == {side.snapshot.pk for side in sides[1:]}


def test_a_new_revision_is_merged_anew(story: Any, uploaded_run: Callable[..., Run]) -> None:
    side = find_side(story.alice, uploaded_run().run_id)
    first = backend.diff_payload(side, side, "outstanding_bytes")
    side.snapshot.revision = 2

    second = backend.diff_payload(side, side, "outstanding_bytes")

    assert second.pk != first.pk
    assert second.tag.startswith("2-2-")


@pytest.mark.parametrize("wrong", ["tag", "stage"])
def test_an_address_of_nothing_is_404(
    story: Any, as_user: Callable[[User], Client], uploaded_run: Callable[..., Run], wrong: str
) -> None:
    run = uploaded_run()
    side = find_side(story.alice, run.run_id)
    tag = backend.diff_payload(side, side, "outstanding_bytes").tag
    parts = {"tag": ("1-1-0000", "overview"), "stage": (tag, "picture")}[wrong]

    url = f"/compare/{run.run_id}@1/{run.run_id}@1/payload/outstanding_bytes/{'/'.join(parts)}"

    assert as_user(story.alice).get(url).status_code == 404
