"""Heap profiles of a made-up service, and what pushes them as agents do."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from tracer.profile.export.pprof import write_pprof
from tracer.profile.formats.pprof import HEAP_VALUE_TYPES
from tracer.profile.model import Profile, ValueType
from webapp.runs.models import Run

FORM = "multipart/form-data; boundary=edge"
PUSH = "/push.v1.PusherService/Push"
HEAP = ("inuse_space", "inuse_objects", "alloc_space", "alloc_objects")
CPU = ValueType("cpu", "nanoseconds", "flow", "Time on a processor")


@pytest.fixture
def heap() -> Callable[..., bytes]:
    """A pprof of what a service holds: so many blocks of 1,000 bytes under one path, twice as many allocated."""

    def made(blocks: int = 5, *, stacks: int = 1) -> bytes:
        profile = Profile(tuple(HEAP_VALUE_TYPES[name] for name in HEAP))
        for number in range(stacks):
            stack = ("main", "serve", *(["leak_cache"] if stacks == 1 else [f"f{number // 40}", f"g{number}"]))
            profile.add(stack, (1000 * blocks, blocks, 2000 * blocks, 2 * blocks))
        return _written(profile)

    return made


@pytest.fixture
def cpu() -> bytes:
    profile = Profile((CPU,))
    profile.add(("main", "serve"), (60_000_000,))
    return _written(profile)


def _written(profile: Profile) -> bytes:
    out = io.BytesIO()
    write_pprof(profile, out)
    return out.getvalue()


@dataclass(frozen=True, slots=True)
class Agent:
    """A machine that pushes with a token."""

    token: str

    def ingest(self, body: bytes, *, content_type: str = "binary/octet-stream", **query: Any) -> HttpResponse:
        return self._client().post(
            "/ingest", body, content_type=content_type, query_params=query, headers={"Authorization": self._bearer}
        )

    def form(self, parts: Mapping[str, bytes], **query: Any) -> HttpResponse:
        return self.ingest(form_of(parts), content_type=FORM, **query)

    def push(self, profile: bytes, *, kind: str = "memory", **labels: str) -> HttpResponse:
        """As a Connect client sends JSON."""
        pairs = [{"name": name, "value": value} for name, value in ({"__name__": kind} | labels).items()]
        series = [{"labels": pairs, "samples": [{"rawProfile": base64.b64encode(profile).decode()}]}]
        return self.post({"series": series})

    def post(self, message: Any, **headers: str) -> HttpResponse:
        headers = {"Authorization": self._bearer} | headers
        return self._client().post(PUSH, message, content_type="application/json", headers=headers)

    @property
    def _bearer(self) -> str:
        return f"Bearer {self.token}"

    def _client(self) -> Client:
        return Client(raise_request_exception=False)


def form_of(parts: Mapping[str, bytes]) -> bytes:
    out = b""
    for name, content in parts.items():
        head = f'--edge\r\nContent-Disposition: form-data; name="{name}"; filename="{name}.pprof"\r\n\r\n'
        out += head.encode() + content + b"\r\n"
    return out + b"--edge--\r\n"


@pytest.fixture
def time_machine(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """The site's clock, set forward by so many seconds at a time, and else standing still."""
    moment = [timezone.now()]
    monkeypatch.setattr(timezone, "now", lambda: moment[0])

    def forward(seconds: float) -> None:
        moment[0] += timedelta(seconds=seconds)

    return forward


@pytest.fixture
def alloy(story: Any) -> Agent:
    return Agent(story.token)


@pytest.fixture
def the_run(ingest: Callable[[Run], None]) -> Callable[[], Run]:
    """The only run there is, with all that arrived read."""

    def found() -> Run:
        run = Run.objects.get()
        ingest(run)
        run.refresh_from_db()
        return run

    return found
