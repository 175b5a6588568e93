"""The run page in each state, what it preloads, and downloads of what arrived."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from webapp.runs.models import Run
from webapp.teams.models import User

AsUser = Callable[[User], Client]


def test_it_preloads_the_graph_that_is_drawn_first(
    story: Any, as_user: AsUser, uploaded_run: Callable[..., Run]
) -> None:
    run, client = uploaded_run(), as_user(story.alice)

    response = client.get(f"/runs/{run.run_id}")

    [url] = response.context["preload_urls"]
    assert url.startswith(f"/runs/{run.run_id}/payload/1/outstanding_bytes/1-")
    assert url in response.content.decode()
    assert client.get(url).status_code == 200


def test_it_preloads_the_last_snapshot_that_was_read(
    story: Any, as_user: AsUser, claimed_run: Callable[..., Run], snapshot_of: Callable[..., Any]
) -> None:
    run = claimed_run()
    snapshot_of(run, 1)
    snapshot_of(run, 2, body=b"\x00\x01\x02broken")

    response = as_user(story.alice).get(f"/runs/{run.run_id}")

    assert "/payload/1/" in response.context["preload_urls"][0]


def test_a_queued_run_has_a_page_without_a_graph(story: Any, as_user: AsUser, queued_run: Callable[..., Run]) -> None:
    response = as_user(story.alice).get(f"/runs/{queued_run().run_id}")

    assert response.status_code == 200
    assert response.context["preload_urls"] == []


def test_a_preview_is_marked_and_seen_by_its_uploader_only(
    story: Any, as_user: AsUser, uploaded_run: Callable[..., Run]
) -> None:
    run = uploaded_run(project=None)

    assert as_user(story.alice).get(f"/runs/{run.run_id}").context["is_preview"]
    assert as_user(story.bob).get(f"/runs/{run.run_id}").status_code == 404


def test_a_viewer_sees_the_run_and_may_not_record_or_delete(
    story: Any, as_user: AsUser, uploaded_run: Callable[..., Run]
) -> None:
    run = uploaded_run()

    context = as_user(story.vera).get(f"/runs/{run.run_id}").context

    assert (context["can_record"], context["can_delete"]) == (False, False)
    context = as_user(story.alice).get(f"/runs/{run.run_id}").context
    assert (context["can_record"], context["can_delete"]) == (True, True)


def test_strangers_get_404_and_the_signed_out_the_login_page(
    story: Any, as_user: AsUser, uploaded_run: Callable[..., Run]
) -> None:
    url = f"/runs/{uploaded_run().run_id}"

    assert as_user(story.charlie).get(url).status_code == 404
    assert Client().get(url)["Location"].startswith("/login")
    assert as_user(story.charlie).get(f"{url}/received/1").status_code == 404


def test_what_arrived_is_downloaded_as_it_came(
    story: Any, as_user: AsUser, uploaded_run: Callable[..., Run], leaky_folded: bytes
) -> None:
    packed = gzip.compress(leaky_folded)
    run = uploaded_run(packed)

    response = as_user(story.vera).get(f"/runs/{run.run_id}/received/1")

    assert b"".join(response.streaming_content) == packed
    assert response["Content-Disposition"] == f'attachment; filename="{run.run_id}-1.folded.gz"'
    assert response["Content-Type"] == "application/octet-stream"


def test_a_run_of_many_snapshots_costs_no_more_queries(
    story: Any,
    as_user: AsUser,
    claimed_run: Callable[..., Run],
    snapshot_of: Callable[..., Any],
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    run, client = claimed_run(), as_user(story.alice)
    for seq in range(1, 4):
        snapshot_of(run, seq)

    # session, user, run, 4 of roles, snapshots, capture, payload, symbols, project, 3 of the view
    with django_assert_num_queries(15):
        client.get(f"/runs/{run.run_id}")


@pytest.mark.parametrize(
    ("claim", "words", "meaning"),
    [
        (
            '"mode": "sampled", "sample_bytes": 65536',
            "estimated from samples: one block for each 64.0\u00a0kB on average",
            "Bytes allocated while tracing and not freed yet, estimated from samples every 64\u00a0kB",
        ),
        ('"mode": "exact"', "every block followed", "Bytes allocated while tracing and not freed yet"),
        ('"mode": "<b>"', "", "Bytes allocated while tracing and not freed yet"),
        ('"mode": [1]', "", "Bytes allocated while tracing and not freed yet"),
    ],
)
def test_the_mode_stands_beside_the_other_facts_and_estimates_say_so_in_their_meaning(
    claim: str, words: str, meaning: str, story: Any, as_user: AsUser, uploaded_run: Callable[..., Run]
) -> None:
    head = f'# memflame-folded 1\n# values: outstanding_bytes\n# capture: {{"collector": "malloc", {claim}}}\n'
    run = uploaded_run(f"{head}main;leak 1\n".encode())

    response = as_user(story.alice).get(f"/runs/{run.run_id}")

    assert response.context["mode"] == words
    assert run.snapshots.get().value_types[0]["meaning"] == meaning


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"older_than": "30s"}, ["only blocks older than 30\u00a0s"]),
        ({"min_size": 64, "max_size": 4096}, ["only blocks of 64\u00a0B to 4.0\u00a0kB"]),
        ({"min_size": 64}, ["only blocks of 64\u00a0B and more"]),
        ({"max_size": 0}, ["only blocks of up to 0\u00a0B"]),
        ({"age_bands": "1m", "max_stacks": 64}, []),
        ({"source": "perf"}, ["recorded by perf"]),
    ],
)
def test_blocks_that_were_left_out_are_said_beside_the_other_facts(
    options: dict[str, Any], words: list[str], story: Any, as_user: AsUser, queued_run: Callable[..., Run]
) -> None:
    response = as_user(story.alice).get(f"/runs/{queued_run(options=options).run_id}")

    assert response.context["filters"] == words
    assert all(f"<dd>{text}</dd>" in response.content.decode() for text in words)


@pytest.mark.parametrize(
    ("claim", "words"),
    [
        ('{"older_than": "1m"}', ["only blocks older than 1\u00a0min"]),
        ('{"older_than": "<b>"}', []),
        ('{"min_size": [1]}', []),
        ("7", []),
    ],
)
def test_an_upload_says_what_its_capture_says_of_blocks_left_out(
    claim: str, words: list[str], story: Any, as_user: AsUser, uploaded_run: Callable[..., Run]
) -> None:
    head = (
        f'# memflame-folded 1\n# values: outstanding_bytes\n# capture: {{"collector": "malloc", "filters": {claim}}}\n'
    )
    run = uploaded_run(f"{head}main;leak 1\n".encode())

    response = as_user(story.alice).get(f"/runs/{run.run_id}")

    assert response.context["filters"] == words


def test_it_preloads_all_of_a_graph_that_is_larger_than_an_overview_but_not_large(
    story: Any, as_user: AsUser, uploaded_run: Callable[..., Run]
) -> None:
    run = uploaded_run("".join(f"main;many;f{number} 1\n" for number in range(30_000)).encode())

    response = as_user(story.alice).get(f"/runs/{run.run_id}")

    assert [url.rpartition("/")[2] for url in response.context["preload_urls"]] == ["overview", "full"]
    assert response.content.count(b'rel="preload"') == 2
