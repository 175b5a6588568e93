"""Labels of a push, as agents write them, to a series: service, instance, deploy and the rest.

shop.inuse_space{pod=shop-1,version=v412}
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from webapp.errors import ApiError

INSTANCE_LABELS = ("instance", "pod", "host", "hostname", "node")  # the first that is there
DEPLOY_LABELS = ("deploy", "version", "service_version", "service_git_ref")
NAME, SERVICE, DELTA = "__name__", "service_name", "__delta__"
MAX_LABELS = 40
KEY_CHARACTERS, VALUE_CHARACTERS = 60, 200
# Of one request or one trace: a series of its own for each would be a run of its own for each.
_OF_ONE_REQUEST = ("profile_id", "span_id", "span_name", "trace_id")
_NAMED = re.compile(r"(?P<name>[^{}]*)(?:\{(?P<labels>.*)\})?", re.DOTALL)
_LABEL = re.compile(r'\s*(?P<key>[^=,{}"]+?)\s*=\s*(?:"(?P<quoted>(?:[^"\\]|\\.)*)"|(?P<plain>[^,"]*))\s*(?:,|$)')


@dataclass(frozen=True, slots=True)
class Series:
    """What a rolling run is of. `labels` are the rest, as the run shows them."""

    service: str
    instance: str
    deploy: str
    kind: str
    labels: Mapping[str, str]

    @property
    def key(self) -> str:
        words = [self.service, self.instance, self.deploy, self.kind, sorted(self.labels.items())]
        return hashlib.sha256(json.dumps(words).encode()).hexdigest()


def parse_name(text: str) -> dict[str, str]:
    """Labels of `app.name{key=value,…}`, with the name as `__name__`; 422 if it can't be read."""
    match = _NAMED.fullmatch(text.strip())
    if match is None or not (match["name"] or match["labels"]):
        raise ApiError(422, f"name is {text[:80]!r}, it must be app.name or app.name{{key=value,…}}.")
    return {NAME: match["name"].strip(), **_pairs(match["labels"] or "", text)}


def _pairs(text: str, whole: str) -> dict[str, str]:
    pairs, place = {}, 0
    while place < len(text.rstrip()):
        match = _LABEL.match(text, place)
        if match is None:
            raise ApiError(422, f"name is {whole[:80]!r}, its labels must be key=value, separated by commas.")
        quoted = match["quoted"]
        pairs[match["key"]] = match["plain"].strip() if quoted is None else re.sub(r"\\(.)", r"\1", quoted)
        place = match.end()
    return pairs


def series_of(labels: Mapping[str, str], *, kind: str, sender: str) -> Series:
    """`sender` is the address that pushed: the instance of a program that names none."""
    _check(labels)
    service = labels.get(SERVICE) or labels.get(NAME, "")
    if not service:
        raise ApiError(422, "The push names no service: it needs the label service_name, or a name.")
    used = {NAME, SERVICE, *INSTANCE_LABELS[:1]}
    rest = {key: value for key, value in labels.items() if key not in used and not _is_left_out(key)}
    instance = _first(labels, INSTANCE_LABELS) or sender
    return Series(service[:100], instance[:100], _first(labels, DEPLOY_LABELS)[:100], kind, rest)


def _check(labels: Mapping[str, str]) -> None:
    if len(labels) > MAX_LABELS:
        raise ApiError(422, f"The push has {len(labels)} labels, the limit is {MAX_LABELS}.")
    for key, value in labels.items():
        if len(key) > KEY_CHARACTERS or len(value) > VALUE_CHARACTERS:
            limit = f"{KEY_CHARACTERS} characters and {VALUE_CHARACTERS} of value are the limit"
            raise ApiError(422, f"Label {key[:KEY_CHARACTERS]!r} is too long: {limit}.")
        if any(ord(character) < 32 for character in key + value):
            raise ApiError(422, f"Label {key!r} holds a control character.")


def _is_left_out(key: str) -> bool:
    return key.startswith("__") or key in _OF_ONE_REQUEST


def _first(labels: Mapping[str, str], keys: tuple[str, ...]) -> str:
    return next((labels[key] for key in keys if labels.get(key)), "")
