"""push.v1.PusherService/Push, as Alloy and newer SDKs send it over the Connect protocol."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client

from webapp.pushes.models import IgnoredPushes
from webapp.runs.models import Run, Snapshot

PUSH = "/push.v1.PusherService/Push"


def _field(number: int, content: bytes) -> bytes:
    """A field of bytes; lengths below 128 and below 16,384 are all that these messages need."""
    size = len(content)
    length = bytes([size]) if size < 128 else bytes([size & 127 | 128, size >> 7])
    return bytes([number << 3 | 2]) + length + content


def _message(*profiles: bytes, **labels: str) -> bytes:
    pairs = b"".join(_field(1, _field(1, key.encode()) + _field(2, value.encode())) for key, value in labels.items())
    samples = b"".join(_field(2, _field(1, profile) + _field(2, b"an id")) for profile in profiles)
    return _field(1, pairs + samples)


def _sent(token: str, body: bytes, **headers: str) -> HttpResponse:
    headers = {"Authorization": f"Bearer {token}"} | {name.replace("_", "-"): text for name, text in headers.items()}
    return Client().post(PUSH, body, content_type="application/proto", headers=headers)


def test_a_message_of_alloy_is_a_snapshot(story: Any, heap: Any, the_run: Callable[[], Run]) -> None:
    message = _message(heap(), __name__="memory", service_name="shop", instance="10.0.3.7:6060", __delta__="false")

    answer = _sent(story.token, message, Connect_Protocol_Version="1")

    assert (answer.status_code, answer.content, answer["Content-Type"]) == (200, b"", "application/proto")
    run = the_run()
    assert (run.service, run.host_name, run.labels, run.total) == ("shop", "10.0.3.7:6060", {}, 5000)
    assert run.title == "memory of 10.0.3.7:6060"


def test_flows_of_alloy_are_of_the_time_since_the_push_before(
    story: Any, heap: Any, the_run: Callable[[], Run], time_machine: Callable[[float], None]
) -> None:
    for blocks in (1, 2):
        _sent(story.token, _message(heap(blocks), __name__="memory", service_name="shop", __delta__="false"))
        time_machine(15)

    meanings = [snapshot.value_types[2]["meaning"] for snapshot in the_run().snapshots.all()]
    assert meanings == [
        "Bytes allocated, freed since or not, since the push before",
        "Bytes allocated, freed since or not, in the last 15 s",
    ]


def test_a_packed_message_is_inflated(story: Any, heap: Any, the_run: Callable[[], Run]) -> None:
    message = gzip.compress(_message(heap(), __name__="memory", service_name="shop"))

    answer = _sent(story.token, message, Content_Encoding="gzip")

    assert (answer.status_code, the_run().total) == (200, 5000)


def test_json_is_answered_in_json(alloy: Any, heap: Any, the_run: Callable[[], Run]) -> None:
    answer = alloy.push(heap(), service_name="shop", pod="shop-1")

    assert (answer.status_code, answer.json()) == (200, {})
    assert (the_run().host_name, the_run().total) == ("shop-1", 5000)


def test_each_profile_of_a_message_is_taken_for_itself(story: Any, heap: Any, cpu: bytes) -> None:
    message = _message(heap(1), heap(2), service_name="shop") + _message(
        cpu, __name__="process_cpu", service_name="shop"
    )

    assert _sent(story.token, message).status_code == 200
    assert Snapshot.objects.count() == 2
    assert IgnoredPushes.objects.get().kind == "process_cpu"


def test_a_wrong_token_is_unauthenticated(story: Any) -> None:
    answer = _sent("mfp_x_y", b"")

    assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated")


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ({"series": [{"labels": [], "samples": [{"rawProfile": "!"}]}]}, "can't be read"),
        ({"series": [{"samples": []}]}, "must have series"),
        ([], "must have series"),
        ({"series": [{"labels": [], "samples": [{"rawProfile": ""}]}]}, "it is no pprof"),
    ],
)
def test_a_message_that_cant_be_read_is_an_invalid_argument(alloy: Any, message: Any, words: str) -> None:
    answer = alloy.post(message)

    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_argument")
    assert words in answer.json()["message"]


def test_a_cut_message_is_an_invalid_argument(story: Any) -> None:
    answer = _sent(story.token, b"\x0a\x7f")

    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_argument")


def test_too_many_profiles_in_one_message_are_refused(story: Any) -> None:
    answer = _sent(story.token, _message(*[b""] * 101, service_name="shop"))

    assert answer.json()["message"] == "The message has 101 profiles, the limit is 100."


def test_another_content_type_is_refused_by_name(story: Any) -> None:
    answer = Client().post(
        PUSH, b"x", content_type="application/grpc", headers={"Authorization": f"Bearer {story.token}"}
    )

    assert answer.status_code == 415
    assert answer.json()["message"].startswith("Content-Type is 'application/grpc'")
