"""Names and labels, as agents write them, to a series."""

from __future__ import annotations

import pytest

from webapp.errors import ApiError
from webapp.pushes.labels import parse_name, series_of


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("shop", {"__name__": "shop"}),
        ("shop.cpu{}", {"__name__": "shop.cpu"}),
        ("shop{pod=shop-1,region=eu west}", {"__name__": "shop", "pod": "shop-1", "region": "eu west"}),
        ('shop{pod="a,b", zone = c }', {"__name__": "shop", "pod": "a,b", "zone": "c"}),
        (r'shop{say="a \"b\""}', {"__name__": "shop", "say": 'a "b"'}),
        ("{service_name=shop}", {"__name__": "", "service_name": "shop"}),
    ],
)
def test_a_name_has_its_labels(text: str, labels: dict[str, str]) -> None:
    assert parse_name(text) == labels


@pytest.mark.parametrize("text", ["", "shop{pod}", "shop{pod=a", 'shop{pod="a}', "shop{=a}"])
def test_a_name_that_cant_be_read_is_refused_with_its_text(text: str) -> None:
    with pytest.raises(ApiError, match="name is '"):
        parse_name(text)


def test_the_instance_is_the_first_label_that_names_one() -> None:
    labels = {"service_name": "shop", "pod": "shop-1", "host": "node-7", "version": "v412", "__delta__": "false"}

    series = series_of(labels, kind="memory", sender="10.0.3.7")

    assert (series.service, series.instance, series.deploy) == ("shop", "shop-1", "v412")
    assert series.labels == {"pod": "shop-1", "host": "node-7", "version": "v412"}


def test_a_program_that_names_no_instance_is_known_by_its_address() -> None:
    assert series_of({"__name__": "shop"}, kind="memory", sender="10.0.3.7").instance == "10.0.3.7"


def test_labels_of_one_request_make_no_series_of_their_own() -> None:
    keys = {series_of({"__name__": "shop", "span_id": span}, kind="memory", sender="a").key for span in "123"}

    assert len(keys) == 1


def test_other_labels_do() -> None:
    keys = {series_of({"__name__": "shop", "controller": name}, kind="memory", sender="a").key for name in "123"}

    assert len(keys) == 3


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        ({"pod": "a"}, "names no service"),
        ({"__name__": "shop", "k": "v" * 201}, "Label 'k' is too long"),
        ({"__name__": "shop", "k": "a\nb"}, "control character"),
        ({"__name__": "shop"} | {f"k{i}": "v" for i in range(40)}, "41 labels, the limit is 40"),
    ],
)
def test_labels_that_no_run_can_have_are_refused(labels: dict[str, str], words: str) -> None:
    with pytest.raises(ApiError, match=words):
        series_of(labels, kind="memory", sender="a")
