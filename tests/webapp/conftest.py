"""Story users, projects, hosts, and runs that went through the real ingest, for all tests of the site."""

from __future__ import annotations

import gzip
import io
import json
import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client
from pytest_django import Settings

from webapp.hosts.models import Host
from webapp.runs import states, uploads
from webapp.runs.ingest import ingest_snapshot
from webapp.runs.models import Run, Snapshot
from webapp.teams.models import ApiToken, Membership, Project, ProjectMembership, Role, Team, User

LEAKY = b"""# memflame-folded 1
# values: outstanding_bytes outstanding_objects allocated_bytes allocated_objects
# capture: {"collector": "malloc", "pid": 4711, "command": "search-api --port 80", "elapsed_s": 10.0, "events": 300}
main;serve;load_index;malloc 4096 1 8192 2
main;serve;leak_cache;malloc 94208 23 94208 23
main;startup;malloc 128 2 256 4
"""
ATTEMPT = "attempt-0001"
PROCESS = {"pid": 4711, "start_time": 1234, "command": "search-api --port 80", "user": "www", "rss_bytes": 9 << 20}


@pytest.fixture(autouse=True)
def storage(settings: Settings, tmp_path: Path) -> Path:
    """Blobs of this test only, and an empty folder of static files, which the middleware wants to find."""
    (tmp_path / "static").mkdir()
    settings.STATIC_ROOT = str(tmp_path / "static")
    settings.MEDIA_ROOT = str(tmp_path / "blobs")
    return tmp_path / "blobs"


@pytest.fixture(autouse=True)
def broker(tmp_path: Path) -> Iterator[Path]:
    """The file broker in a folder of this test."""
    from webapp.celery import app

    folder, old = tmp_path / "broker", app.conf.broker_url
    _point_broker_at(f"memflame-files://{folder}")
    yield folder
    _point_broker_at(old)


def _point_broker_at(url: str) -> None:
    from webapp.celery import app

    app.conf.broker_url = app.conf.broker_read_url = app.conf.broker_write_url = url
    app._pool = app.amqp._producer_pool = None  # made anew for the new address


@pytest.fixture(autouse=True)
def quick_passwords(settings: Settings) -> None:
    """Argon2 is slow by design, which four users a test would pay for."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture(autouse=True)
def plain_static_files(settings: Settings) -> None:
    """Names without hashes: those of the real storage are made by collectstatic, which no test here needs."""
    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    settings.STORAGES = settings.STORAGES | {"staticfiles": plain}


@dataclass(frozen=True, slots=True)
class Story:
    """Alice owns the team Search with the project search-api, Bob is a member, Vera a viewer of that project.
    Charlie owns another team, Ads, with the project ads-api."""

    alice: User
    bob: User
    vera: User
    charlie: User
    search: Project
    ads: Project
    host: Host
    host_token: str
    other_host: Host
    other_host_token: str
    token: str
    other_token: str


@pytest.fixture
def story(db: None) -> Story:
    alice, bob, vera, charlie = (
        User.objects.create_user(name, password=f"{name}-password") for name in ("alice", "bob", "vera", "charlie")
    )
    search_team, ads_team = (
        Team.objects.create(slug="search", name="Search"),
        Team.objects.create(slug="ads", name="Ads"),
    )
    search = Project.objects.create(team=search_team, slug="search-api", name="Search API")
    ads = Project.objects.create(team=ads_team, slug="ads-api", name="Ads API")
    Membership.objects.create(team=search_team, user=alice, role=Role.OWNER)
    Membership.objects.create(team=search_team, user=bob, role=Role.MEMBER)
    ProjectMembership.objects.create(project=search, user=vera, role=Role.VIEWER)
    Membership.objects.create(team=ads_team, user=charlie, role=Role.OWNER)
    host, host_token = Host.enrol(search_team, "web-1")
    other_host, other_host_token = Host.enrol(ads_team, "ads-1")
    return Story(
        alice, bob, vera, charlie, search, ads, host, host_token, other_host, other_host_token,
        token=ApiToken.create(search, "ci", alice)[1], other_token=ApiToken.create(ads, "ci", charlie)[1],
    )  # fmt: skip


@pytest.fixture
def as_user() -> Callable[[User], Client]:
    """A browser in which that user is signed in."""

    def signed_in(user: User) -> Client:
        client = Client()
        client.force_login(user)
        return client

    return signed_in


@dataclass(frozen=True, slots=True)
class ApiClient:
    """A machine with a token."""

    token: str

    def get(self, path: str) -> HttpResponse:
        return self._client().get(f"/api/v1{path}")

    def post(self, path: str, body: Mapping[str, Any] | None = None) -> HttpResponse:
        return self._client().post(f"/api/v1{path}", json.dumps(body or {}), content_type="application/json")

    def send(self, path: str, body: bytes, *, method: str = "POST", **headers: str) -> HttpResponse:
        """A body as curl --data-binary sends it."""
        return self._client().generic(
            method, f"/api/v1{path}", body, content_type="application/octet-stream", headers=headers
        )

    def _client(self) -> Client:
        return Client(headers={"Authorization": f"Bearer {self.token}"})


@pytest.fixture
def agent(story: Story) -> ApiClient:
    return ApiClient(story.host_token)


@pytest.fixture
def other_agent(story: Story) -> ApiClient:
    return ApiClient(story.other_host_token)


@pytest.fixture
def ci(story: Story) -> ApiClient:
    return ApiClient(story.token)


@pytest.fixture
def other_ci(story: Story) -> ApiClient:
    return ApiClient(story.other_token)


@pytest.fixture
def queued_run(story: Story) -> Callable[..., Run]:
    """Ask for a recording on web-1."""

    def ask(**options: Any) -> Run:
        facts: dict[str, Any] = {"collector": "malloc", "duration_s": 10.0} | options
        return states.request_run(story.search, story.alice, host=story.host, process=PROCESS, **facts)

    return ask


@pytest.fixture
def claimed_run(story: Story, queued_run: Callable[..., Run]) -> Callable[..., Run]:
    """A recording that web-1 has taken."""

    def claim(**options: Any) -> Run:
        run = queued_run(**options)
        assert states.claim(run, story.host, ATTEMPT) is not None
        run.refresh_from_db()
        return run

    return claim


@pytest.fixture
def uploaded_run(story: Story) -> Callable[..., Run]:
    """A file of Alice's, stored and read by the real ingest; without a project her private preview."""

    def upload(body: bytes = LEAKY, *, project: Project | None = story.search, **facts: Any) -> Run:
        described = {"title": "out.folded"} | facts
        with uploads.received(io.BytesIO(body)) as received:
            run = uploads.keep_upload(uploads.Upload(project, story.alice, **described), received, encoding="")
        ingest_waiting(run)
        run.refresh_from_db()
        return run

    return upload


@pytest.fixture
def snapshot_of() -> Callable[..., Snapshot]:
    """Store one snapshot of a run, and read it."""

    def store(run: Run, seq: int = 1, body: bytes = LEAKY, *, elapsed_s: float = 10.0) -> Snapshot:
        with uploads.received(io.BytesIO(body)) as received:
            kept = uploads.keep_snapshot(run, seq, received, elapsed_s=elapsed_s, encoding="")
        ingest_waiting(run)
        kept.snapshot.refresh_from_db()
        return kept.snapshot

    return store


@pytest.fixture
def recorded_run(claimed_run: Callable[..., Run], snapshot_of: Callable[..., Snapshot]) -> Callable[..., Run]:
    """A recording that went all its way: claimed, one snapshot, finished, read."""

    def record(body: bytes = LEAKY, **options: Any) -> Run:
        run = claimed_run(**options)
        states.note_progress(run, ATTEMPT, is_recording=True, elapsed_s=10.0, events=300, lost={})
        snapshot_of(run, body=body)
        states.finish(run, ATTEMPT, "done", snapshots=1)
        run.refresh_from_db()
        return run

    return record


def ingest_waiting(run: Run) -> None:
    """What the ingest worker does when its messages arrive."""
    for pk in run.snapshots.waiting().values_list("pk", flat=True):
        ingest_snapshot(pk)


@pytest.fixture
def ingest() -> Callable[[Run], None]:
    return ingest_waiting


@pytest.fixture
def leaky_folded() -> bytes:
    return LEAKY


@pytest.fixture
def eager_worker() -> Iterator[None]:
    """Messages to the ingest queue are worked on at once, in this process."""
    from webapp.celery import app

    app.conf.task_always_eager = True
    yield
    app.conf.task_always_eager = False


@pytest.fixture
def payload_header() -> Callable[[bytes], dict[str, Any]]:
    """The header of a graph as it is stored."""

    def header(packed: bytes) -> dict[str, Any]:
        data = gzip.decompress(packed)
        size = struct.unpack("<I", data[4:8])[0]
        parsed: dict[str, Any] = json.loads(data[8 : 8 + size])
        return parsed

    return header
