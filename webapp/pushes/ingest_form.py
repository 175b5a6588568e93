"""A request to `POST /ingest`, as Pyroscope's SDKs send it, to the profile in it.

    POST /ingest?name=shop.inuse_space{pod=shop-1}&from=1764451800&until=1764451810&units=bytes&spyName=gospy

The body is a pprof, a form with `profile`, `prev_profile` and `sample_type_config`, or folded stacks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace

import orjson

from tracer.profile.formats.pprof import HEAP_VALUE_TYPES
from tracer.profile.model import Kind, ValueType
from webapp.errors import ApiError
from webapp.pushes.bodies import parts_of
from webapp.pushes.labels import NAME, SERVICE, parse_name
from webapp.pushes.profiles import Pushed, moment_of

FOLDED = ("", "folded", "groups")
REFUSED = ("trie", "tree", "lines", "jfr", "speedscope")
_CONTENT_TYPES = {"binary/octet-stream+trie": "trie", "binary/octet-stream+tree": "tree"}


def pushed_of(query: Mapping[str, str], body: bytes, content_type: str) -> Pushed:
    """ApiError for what can't be read. What it measures is not looked at yet."""
    labels = parse_name(query.get("name", ""))
    pushed = Pushed(labels, body, began_at=moment_of(query.get("from", "")), ended_at=moment_of(query.get("until", "")))
    written = query.get("format", "") or _CONTENT_TYPES.get(content_type, "")
    if "multipart/form-data" in content_type and written in ("", "pprof"):
        return _of_form(pushed, parts_of(body, content_type))
    if written == "pprof":
        return pushed
    if written in REFUSED:
        raise ApiError(422, f"format is {written!r}, which is not read here; pprof and folded are.")
    if written not in FOLDED:
        raise ApiError(422, f"format is {written[:40]!r}, which there is not; pprof and folded are read here.")
    return _of_folded(pushed, query)


def _of_form(pushed: Pushed, parts: Mapping[str, bytes]) -> Pushed:
    """Levels need no `prev_profile`; with one, flows count since the process began, and so are they kept."""
    if not parts.get("profile"):
        raise ApiError(422, "The form has no part profile.")
    is_interval = None if "sample_type_config" not in parts else not _is_cumulative(parts["sample_type_config"])
    if "prev_profile" in parts:
        is_interval = False
    return replace(pushed, body=parts["profile"], is_interval=is_interval)


def _is_cumulative(config: bytes) -> bool:
    try:
        rows = orjson.loads(config)
    except orjson.JSONDecodeError as error:
        raise ApiError(422, f"sample_type_config is no JSON: {error}.") from None
    rows = rows.values() if isinstance(rows, dict) else ()
    return any(isinstance(row, dict) and row.get("cumulative") is True for row in rows)


def _of_folded(pushed: Pushed, query: Mapping[str, str]) -> Pushed:
    """What it measures is the last part of its name, or its units."""
    app, _, measure = pushed.labels[NAME].rpartition(".")
    known = HEAP_VALUE_TYPES.get(measure)
    labels = pushed.labels if known is None else {**pushed.labels, NAME: app}
    if known is None and query.get("units") == "bytes":
        known = _bytes_of(query)
    if known is None:
        return replace(pushed, kind=measure if app else query.get("units") or "samples", is_memory=False)
    labels = {SERVICE: labels[NAME], **labels}
    return replace(pushed, labels=labels, is_interval=known.kind == "flow", is_memory=True, value_type=asdict(known))


def _bytes_of(query: Mapping[str, str]) -> ValueType:
    """Averages are of levels, sums of flows."""
    kind: Kind = "level" if query.get("aggregationType") == "average" else "flow"
    return ValueType("bytes", "bytes", kind, "Bytes as counted by the program that pushed them")
