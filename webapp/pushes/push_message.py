"""A message to `push.v1.PusherService/Push`, as Alloy and newer SDKs send it, to the profiles in it.

PushRequest { repeated RawProfileSeries series = 1 }
RawProfileSeries { repeated LabelPair labels = 1; repeated RawSample samples = 2 }
LabelPair { string name = 1; string value = 2 }  RawSample { bytes raw_profile = 1 }
https://connectrpc.com/docs/protocol tells how it travels: one message a POST, in protocol buffers or in JSON.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from typing import Any

import orjson

from tracer.profile.errors import ProfileError
from tracer.profile.formats.wire import fields
from webapp.errors import ApiError
from webapp.pushes.labels import NAME
from webapp.pushes.profiles import Pushed

MAX_PROFILES = 100  # of one message; Alloy and the SDKs send one


def pushed_of(message: bytes, content_type: str) -> list[Pushed]:
    """ApiError for a message that can't be read; the profiles in it are not looked at yet."""
    subtype = content_type.partition(";")[0].strip().lower()
    if subtype not in _READERS:
        raise ApiError(415, f"Content-Type is {subtype[:60]!r}, application/proto or application/json is needed.")
    try:
        found = list(_READERS[subtype](message))
    except ProfileError as error:
        raise ApiError(422, f"The message can't be read: {error}.") from None
    if len(found) > MAX_PROFILES:
        raise ApiError(422, f"The message has {len(found):,} profiles, the limit is {MAX_PROFILES}.")
    return found


def _of_proto(message: bytes) -> Iterator[Pushed]:
    for series in _messages(message, 1):
        labels = dict(_label(pair) for pair in _messages(series, 1))
        for sample in _messages(series, 2):
            yield _pushed(dict(labels), next(_messages(sample, 1), b""))


def _messages(message: bytes, wanted: int) -> Iterator[bytes]:
    return (value for number, _, value in fields(message) if number == wanted and isinstance(value, bytes))


def _label(pair: bytes) -> tuple[str, str]:
    texts = {number: value.decode("utf-8", "replace") for number, _, value in fields(pair) if isinstance(value, bytes)}
    return texts.get(1, ""), texts.get(2, "")


def _of_json(message: bytes) -> Iterator[Pushed]:
    try:
        for series in orjson.loads(message)["series"]:
            labels = {str(pair["name"]): str(pair["value"]) for pair in series["labels"]}
            for sample in series["samples"]:
                yield _pushed(dict(labels), _raw(sample))
    except (orjson.JSONDecodeError, binascii.Error) as error:
        raise ApiError(422, f"The message can't be read: {error}.") from None
    except (KeyError, TypeError, AttributeError):
        raise ApiError(422, "The message must have series, each with labels (name, value) and samples.") from None


def _raw(sample: dict[str, Any]) -> bytes:
    """JSON of protocol buffers has bytes in base64, under either spelling of a field's name."""
    return base64.b64decode(sample["rawProfile"] if "rawProfile" in sample else sample["raw_profile"], validate=True)


def _pushed(labels: dict[str, str], profile: bytes) -> Pushed:
    """`__name__` is the kind of profile here, not the service."""
    kind = labels.pop(NAME, "")
    return Pushed(labels, profile, kind=kind)


_READERS = {"application/proto": _of_proto, "application/json": _of_json}
