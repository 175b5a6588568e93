"""POST /ingest, as Pyroscope's SDKs send it."""

from __future__ import annotations

import base64
import gzip
from collections.abc import Callable
from typing import Any

import orjson
import pytest
from django.test import Client
from django.utils import timezone

from webapp.pushes.models import IgnoredPushes
from webapp.runs.models import Run, Snapshot

INTERVAL = "Bytes allocated, freed since or not, in the last 10 s"


def _interval(seconds: int = 10) -> dict[str, int]:
    now = int(timezone.now().timestamp())
    return {"from": now - seconds, "until": now}


def _types(run: Run) -> dict[str, tuple[str, Any]]:
    return {row["name"]: (row["kind"], row["total"]) for row in run.snapshots.get().value_types}


def test_a_heap_of_go_is_a_run_of_its_service_and_instance(alloy: Any, heap: Any, the_run: Callable[[], Run]) -> None:
    answer = alloy.form({"profile": heap()}, name="shop{pod=shop-1,version=v412}", spyName="gospy", **_interval())

    assert (answer.status_code, answer.content) == (200, b"")
    run = the_run()
    assert (run.service, run.host_name, run.deploy, run.state, run.collector) == (
        "shop", "shop-1", "v412", "ready", "pprof",
    )  # fmt: skip
    assert run.labels == {"pod": "shop-1", "version": "v412"}
    assert (run.value_type, run.total, run.is_open, run.elapsed_s) == ("inuse_space", 5000, True, 10)


def test_what_is_in_use_is_a_level_and_what_was_allocated_a_flow(alloy: Any, heap: Any, the_run: Any) -> None:
    alloy.ingest(heap(), name="shop", format="pprof")

    assert _types(the_run()) == {
        "inuse_space": ("level", 5000), "inuse_objects": ("level", 5),
        "alloc_space": ("flow", 10_000), "alloc_objects": ("flow", 10),
    }  # fmt: skip


def test_flows_that_the_sender_says_are_of_the_interval_say_so(alloy: Any, heap: Any, the_run: Any) -> None:
    config = orjson.dumps({"alloc_space": {"units": "bytes"}, "inuse_space": {"units": "bytes"}})

    alloy.form({"profile": heap(), "sample_type_config": config}, name="shop", **_interval())

    meanings = {row["name"]: row["meaning"] for row in the_run().snapshots.get().value_types}
    assert meanings["alloc_space"] == INTERVAL
    assert "10 s" not in meanings["inuse_space"]


@pytest.mark.parametrize(
    "parts",
    [{"sample_type_config": b'{"alloc_space": {"units": "bytes", "cumulative": true}}'}, {"prev_profile": b"any"}, {}],
)
def test_flows_since_the_process_began_are_kept_so(alloy: Any, heap: Any, the_run: Any, parts: Any) -> None:
    alloy.form({"profile": heap()} | parts, name="shop", **_interval())

    meanings = {row["name"]: row["meaning"] for row in the_run().snapshots.get().value_types}
    assert meanings["alloc_space"] == "Bytes allocated, freed since or not"


def test_folded_stacks_are_named_by_the_end_of_their_name(alloy: Any, the_run: Any) -> None:
    answer = alloy.ingest(rb"main;App\Cache 4096" + b"\nmain;b 8192\n", name="shop.inuse_space{host=web-1}")

    assert answer.status_code == 200
    run = the_run()
    assert (run.service, run.host_name, run.collector) == ("shop", "web-1", "folded")
    assert _types(run) == {"inuse_space": ("level", 12_288)}


@pytest.mark.parametrize(("aggregation", "kind"), [("average", "level"), ("sum", "flow"), ("", "flow")])
def test_other_bytes_are_levels_if_they_are_averaged(alloy: Any, the_run: Any, aggregation: str, kind: str) -> None:
    alloy.ingest(b"main;a 7\n", name="shop.heap", units="bytes", aggregationType=aggregation)

    assert _types(the_run()) == {"bytes": (kind, 7)}


def test_a_gzip_body_is_inflated(alloy: Any, heap: Any, story: Any, the_run: Any) -> None:
    answer = Client().post(
        "/ingest?name=shop&format=pprof", gzip.compress(heap()), content_type="binary/octet-stream",
        headers={"Authorization": f"Bearer {story.token}", "Content-Encoding": "gzip"},
    )  # fmt: skip

    assert (answer.status_code, the_run().total) == (200, 5000)


def test_a_profile_that_is_not_about_memory_is_taken_and_counted(alloy: Any, cpu: bytes, story: Any) -> None:
    answers = [
        alloy.form({"profile": cpu}, name="shop"),
        alloy.ingest(cpu, name="shop", format="pprof"),
        alloy.ingest(b"main;a 7\n", name="shop.cpu", units="samples"),
    ]

    assert [answer.status_code for answer in answers] == [200, 200, 200]
    assert not Run.objects.exists()
    assert list(IgnoredPushes.objects.order_by("-count").values_list("project__slug", "kind", "count")) == [
        ("search-api", "cpu", 3)
    ]


def test_a_heap_without_a_sample_is_taken_and_counted(alloy: Any, heap: Any) -> None:
    answer = alloy.ingest(heap(stacks=0), name="shop", format="pprof")

    assert answer.status_code == 200
    assert not Run.objects.exists()
    assert IgnoredPushes.objects.get().kind == "memory, empty"


@pytest.mark.parametrize("written", ["trie", "tree", "lines", "jfr", "speedscope"])
def test_a_format_that_is_not_read_is_refused_by_name(alloy: Any, written: str) -> None:
    answer = alloy.ingest(b"?", name="shop", format=written)

    assert answer.status_code == 422
    assert answer.json() == {"error": f"format is '{written}', which is not read here; pprof and folded are."}


@pytest.mark.parametrize(
    ("body", "query", "words"),
    [
        (b"no profile", {"name": "shop", "format": "pprof"}, "it is no pprof, it begins with b'no profile'"),
        (b"", {"name": "shop", "format": "pprof"}, "it is no pprof"),
        (
            b"\x0a\x04\x08\x01\x10\x02" * 3 + b"\x12",
            {"name": "shop", "format": "pprof"},
            "the file ends inside of the field",
        ),
        (b"main;a 1\n", {}, "name is ''"),
    ],
)
def test_what_cant_be_read_is_refused_and_nothing_is_stored(
    alloy: Any, storage: Any, body: bytes, query: Any, words: str
) -> None:
    answer = alloy.ingest(body, **query)

    assert answer.status_code == 422
    assert words in answer.json()["error"]
    assert not Snapshot.objects.exists()
    assert [path for path in storage.rglob("*") if path.is_file()] == []


def test_a_broken_form_is_refused(alloy: Any) -> None:
    answer = alloy.ingest(b"--edge\r\nbroken", content_type="multipart/form-data", name="shop")

    assert answer.status_code == 422
    assert "The form can't be read" in answer.json()["error"]


def test_a_body_that_grows_beyond_the_limit_is_refused(alloy: Any, story: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("webapp.pushes.bodies.MOST_INFLATED_BYTES", 1000)
    headers = {"Authorization": f"Bearer {story.token}", "Content-Encoding": "gzip"}

    answer = Client().post("/ingest?name=shop", gzip.compress(b"a" * 1001), content_type="a/b", headers=headers)

    assert answer.status_code == 413
    assert "the limit is 1,000 bytes" in answer.json()["error"]


def _basic(user: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def test_the_token_may_be_the_password_of_any_user(heap: Any, story: Any) -> None:
    headers = {"Authorization": _basic("12345", story.token), "X-Scope-OrgID": "ads"}

    answer = Client().post("/ingest?name=shop&format=pprof", heap(), content_type="a/b", headers=headers)

    assert answer.status_code == 200
    assert Run.objects.get().project == story.search


@pytest.mark.parametrize("header", ["", "Bearer ", "Bearer mfp_x_y", "Basic !", _basic("mfp_x", "wrong"), "Digest a"])
def test_a_wrong_token_is_refused(heap: Any, story: Any, header: str) -> None:
    answer = Client().post("/ingest?name=shop", heap(), content_type="a/b", headers={"Authorization": header})

    assert answer.status_code == 401
    assert not Run.objects.exists()
