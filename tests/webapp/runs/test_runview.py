"""The RunView: one shape for page, API and socket, in a fixed number of queries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from webapp.runs.models import Payload, Run


def test_it_tells_all_that_the_run_page_shows(ci: Any, recorded_run: Callable[..., Run]) -> None:
    run = recorded_run(service="api", deploy="v42", labels={"region": "eu"})

    view = ci.get(f"/runs/{run.run_id}").json()

    assert view["run"] == run.run_id
    assert view["title"] == view["command"] == "search-api --port 80"
    assert (view["project"], view["service"], view["deploy"]) == ("search-api", "api", "v42")
    assert (view["collector"], view["collector_title"]) == ("malloc", "Allocator calls")
    assert (view["host"], view["pid"], view["created_by"]) == ("web-1", 4711, "alice")
    assert (view["state"], view["elapsed_s"], view["duration_s"], view["events"]) == ("ready", 10.0, 10.0, 300)
    assert (view["labels"], view["is_preview"], view["expected_snapshots"]) == ({"region": "eu"}, False, 1)
    assert view["payload_url"] == f"/runs/{run.run_id}/payload/{{seq}}/{{value_type}}/{{tag}}/{{stage}}"
    assert view["value_types"][0] == {
        "name": "outstanding_bytes", "unit": "bytes", "kind": "level", "is_signed": False, "is_float": False,
        "meaning": "Bytes allocated while tracing and not freed yet",
    }  # fmt: skip


def test_bands_of_age_are_levels_of_bytes_with_their_totals(ci: Any, recorded_run: Callable[..., Run]) -> None:
    names = ["outstanding_bytes", "outstanding_bytes.lt10s", "outstanding_bytes.older"]
    capture = '# capture: {"collector": "malloc", "filters": {"min_size": 5}}'
    body = f"# memflame-folded 1\n# values: {' '.join(names)}\n{capture}\nmain;leak 12 5 7\nmain;load 8 8 0\n"

    view = ci.get(f"/runs/{recorded_run(body.encode()).run_id}").json()

    types, (snapshot,) = view["value_types"], view["snapshots"]
    assert [(row["name"], row["unit"], row["kind"]) for row in types] == [(name, "bytes", "level") for name in names]
    assert [snapshot["totals"][name] for name in names] == [20, 13, 7]
    assert set(snapshot["tags"]) == set(names)
    assert snapshot["capture"]["filters"] == {"min_size": 5}


def test_a_snapshot_carries_totals_and_the_tags_of_its_payloads(ci: Any, recorded_run: Callable[..., Run]) -> None:
    run = recorded_run()

    (snapshot,) = ci.get(f"/runs/{run.run_id}").json()["snapshots"]

    payload = Payload.objects.get(snapshot__run=run, value_type="outstanding_bytes")
    assert (snapshot["seq"], snapshot["revision"], snapshot["nodes"], snapshot["error"]) == (1, 1, 9, "")
    assert snapshot["totals"]["outstanding_bytes"] == 98432
    assert snapshot["tags"]["outstanding_bytes"] == [f"1-{payload.content_hash}", True]
    assert snapshot["capture"]["command"] == "search-api --port 80"


def test_its_queries_do_not_grow_with_the_snapshots(
    ci: Any, recorded_run: Callable[..., Run], snapshot_of: Callable[..., Any], django_assert_num_queries: Any
) -> None:
    run = recorded_run()
    for seq in range(2, 8):
        snapshot_of(run, seq)
    ci.get(f"/runs/{run.run_id}")  # marks the token as used, once a minute

    with django_assert_num_queries(4):  # token, run, snapshots, payloads
        view = ci.get(f"/runs/{run.run_id}").json()

    assert len(view["snapshots"]) == 7


def test_another_projects_token_finds_nothing(other_ci: Any, recorded_run: Callable[..., Run]) -> None:
    run = recorded_run()

    answer = other_ci.get(f"/runs/{run.run_id}")

    assert answer.status_code == 404
    assert answer.json() == {"error": f"There is no run '{run.run_id}' that you may see."}


def test_a_brief_view_of_many_snapshots_has_the_captures_of_two(
    ci: Any, uploaded_run: Callable[..., Run], django_assert_max_num_queries: Any
) -> None:
    run = uploaded_run(reports(60))

    with django_assert_max_num_queries(5):  # two for the token, run, snapshots, payloads
        view = ci.get(f"/runs/{run.run_id}?brief=true").json()

    whole = ci.get(f"/runs/{run.run_id}").json()
    brief = [row["seq"] for row in view["snapshots"] if row.get("is_brief")]
    assert brief == list(range(1, 60))
    assert [row["totals"] for row in view["snapshots"]] == [row["totals"] for row in whole["snapshots"]]
    assert [row["tags"] for row in view["snapshots"]] == [row["tags"] for row in whole["snapshots"]]
    first = ci.get(f"/runs/{run.run_id}/snapshots/1/capture").json()
    assert first == {key: whole["snapshots"][0][key] for key in ("capture", "skipped")}
    assert view["snapshots"][0]["capture"] == {}
    assert view["snapshots"][-1] == whole["snapshots"][-1]


def test_a_brief_view_of_few_snapshots_leaves_nothing_out(ci: Any, recorded_run: Callable[..., Run]) -> None:
    run = recorded_run()

    assert ci.get(f"/runs/{run.run_id}?brief=true").json() == ci.get(f"/runs/{run.run_id}").json()


def test_a_capture_is_only_for_who_may_see_the_run(ci: Any, other_ci: Any, recorded_run: Callable[..., Run]) -> None:
    run = recorded_run()

    assert ci.get(f"/runs/{run.run_id}/snapshots/1/capture").status_code == 200
    assert ci.get(f"/runs/{run.run_id}/snapshots/2/capture").status_code == 404
    assert other_ci.get(f"/runs/{run.run_id}/snapshots/1/capture").status_code == 404


def reports(count: int) -> bytes:
    """What memleak prints, once a second."""
    stack = "\t64 bytes in 1 allocations from stack\n\t\t0x00005638de20bb5c\tload_index+0x1c [search-api]\n"
    heads = (f"[00:{i // 60:02}:{i % 60:02}] Top 10 stacks with outstanding allocations:\n" for i in range(count))
    return ("Attaching to pid 4711, Ctrl+C to quit.\n" + "".join(head + stack for head in heads)).encode()
