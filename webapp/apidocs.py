"""The API page: the OpenAPI schema as text that needs no script."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from webapp.api import api

Schema = Mapping[str, Any]
TAGS = {
    "runs": "Runs, for people, scripts and CI",
    "compare": "Comparisons",
    "agent": "What agents say; a host's token is needed",
}


@dataclass(frozen=True, slots=True)
class Field:
    name: str
    place: str  # path, query or body
    type: str
    is_required: bool
    about: str


@dataclass(frozen=True, slots=True)
class Answer:
    status: str
    about: str
    fields: list[Field]


@dataclass(frozen=True, slots=True)
class Operation:
    method: str
    path: str
    summary: str
    about: str
    fields: list[Field]
    answers: list[Answer]
    curl: str
    anchor: str


@dataclass(frozen=True, slots=True)
class Group:
    title: str
    operations: list[Operation]


def api_docs(request: HttpRequest) -> HttpResponse:
    schema = api.get_openapi_schema()
    site = f"{request.scheme}://{request.get_host()}"
    return render(request, "api_docs.html", {"groups": groups_of(schema, site), "about": schema["info"]["description"]})


def groups_of(schema: Schema, site: str) -> list[Group]:
    """Operations by tag: the tags that people need come first, unknown ones last."""
    by_tag: dict[str, list[Operation]] = {tag: [] for tag in TAGS}
    for path, methods in schema["paths"].items():
        for method, raw in methods.items():
            tag = raw.get("tags", ["more"])[0]
            by_tag.setdefault(tag, []).append(_operation(schema, site, path, method, raw))
    return [Group(TAGS.get(tag, tag.capitalize()), found) for tag, found in by_tag.items() if found]


def _operation(schema: Schema, site: str, path: str, method: str, raw: Schema) -> Operation:
    fields = [_parameter(schema, parameter) for parameter in raw.get("parameters", [])]
    fields += _fields_of(schema, _json(raw.get("requestBody", {})))
    answers = [
        Answer(status, _resolved(schema, answer).get("description", ""), _fields_of(schema, _json(answer)))
        for status, answer in raw["responses"].items()
    ]
    about, summary = raw.get("description", ""), raw.get("summary", "")
    curl = _curl(site, path, method, has_json="requestBody" in raw)
    anchor = f"{method}-{path.strip('/').replace('/', '-').replace('{', '').replace('}', '')}"
    return Operation(method.upper(), path, summary, about, fields, answers, curl, anchor)


def _parameter(schema: Schema, raw: Schema) -> Field:
    shape = raw.get("schema", {})
    about = raw.get("description") or shape.get("description", "")
    return Field(raw["name"], raw["in"], _type(schema, shape), bool(raw.get("required")), about)


def _fields_of(schema: Schema, shape: Schema) -> list[Field]:
    """Properties of an object, those of nested objects under dotted names."""
    return list(_properties(schema, shape, ""))


def _properties(schema: Schema, shape: Schema, prefix: str) -> Iterator[Field]:
    shape = _resolved(schema, shape)
    required = shape.get("required", [])
    for name, raw in shape.get("properties", {}).items():
        inner = _resolved(schema, raw)
        yield Field(f"{prefix}{name}", "body", _type(schema, raw), name in required, inner.get("description", ""))
        items = _resolved(schema, inner.get("items", {}))
        yield from _properties(schema, inner, f"{prefix}{name}.")
        yield from _properties(schema, items, f"{prefix}{name}[].")


def _type(schema: Schema, raw: Schema) -> str:
    shape = _resolved(schema, raw)
    if "anyOf" in shape:
        return " or ".join(_type(schema, choice) for choice in shape["anyOf"])
    if "enum" in shape:
        return " or ".join(str(value) for value in shape["enum"])
    if shape.get("type") == "array":
        return f"list of {_type(schema, shape.get('items', {}))}"
    return str(shape.get("format") or shape.get("const") or shape.get("type", "anything"))


def _resolved(schema: Schema, raw: Schema) -> Schema:
    """Follow a reference; keywords beside it, such as a description, are kept."""
    if "allOf" in raw and len(raw["allOf"]) == 1:
        raw = {**raw["allOf"][0], **{key: value for key, value in raw.items() if key != "allOf"}}
    if "$ref" not in raw:
        return raw
    found: Schema = schema
    for step in raw["$ref"].removeprefix("#/").split("/"):
        found = found[step]
    return {**found, **{key: value for key, value in raw.items() if key != "$ref"}}


def _json(raw: Schema) -> Schema:
    content: Schema = raw.get("content", {}).get("application/json", {})
    return content.get("schema", {})  # type: ignore[no-any-return]


def _curl(site: str, path: str, method: str, *, has_json: bool) -> str:
    lines = ['curl -H "Authorization: Bearer $MEMFLAME_TOKEN"']
    if has_json:
        lines.append("-H 'Content-Type: application/json' -d @body.json")
    elif method in ("post", "put"):
        lines.append("--data-binary @out.folded")
    if method == "put":
        lines.append("-X PUT")
    return " \\\n  ".join([*lines, f"'{site}{path}'"])
