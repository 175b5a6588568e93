"""The agents' side of a run: ask, claim, report, send snapshots, finish."""

from __future__ import annotations

from typing import Any, Literal

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from ninja import Field, Query, Router, Schema

from tracer import protocol
from webapp.errors import ApiError
from webapp.hosts.api import Text
from webapp.hosts.auth import agent_auth, host_of
from webapp.middleware import release_upload_slot
from webapp.runs import states, uploads
from webapp.runs.models import Estimate, EstimateState, Run, State

router = Router(auth=agent_auth, tags=["agent"])

ATTEMPT = Field(min_length=8, max_length=32, pattern=r"^[A-Za-z0-9_-]+$", description="Random name of one try")


class NextOut(Schema):
    run: str | None
    estimate: str | None


class ClaimIn(Schema):
    attempt: str = ATTEMPT


class ClaimOut(Schema):
    spec: dict[str, Any]
    lease_s: float


class ProgressIn(Schema):
    attempt: str = ATTEMPT
    phase: Literal["claimed", "recording"]
    elapsed_s: float = Field(0.0, ge=0, le=1e6)
    events: int = Field(0, ge=0, lt=1 << 63)
    lost: dict[Text, int] = Field(default_factory=dict, max_length=20)


class ProgressOut(Schema):
    stop: Literal["", "stop", "cancel"]
    lease_s: float


class FinishIn(Schema):
    attempt: str = ATTEMPT
    outcome: Literal["done", "stopped", "target_exited", "over_budget", "failed", "cancelled"]
    reason: Text = ""
    snapshots: int = Field(0, ge=0, le=protocol.MAX_SNAPSHOTS)


class FinishOut(Schema):
    state: State


class SnapshotQuery(Schema):
    attempt: str = ATTEMPT
    elapsed_s: float = Field(0.0, ge=0, le=1e6)


@router.get("/agent/next", response=NextOut, summary="The oldest run that waits for this host, and the estimate")
def next_work(request: HttpRequest) -> dict[str, Any]:
    host = host_of(request)
    runs = Run.objects.filter(host=host, state=State.QUEUED).order_by("created_at", "id")
    estimates = Estimate.objects.filter(host=host, state=EstimateState.QUEUED)
    return {
        "run": runs.values_list("run_id", flat=True).first(),
        "estimate": estimates.values_list("estimate_id", flat=True).first(),
    }


@router.post("/agent/runs/{run_id}/claim", response=ClaimOut, summary="Take a run; of two that ask one gets it")
def claim(request: HttpRequest, run_id: str, body: ClaimIn) -> dict[str, Any]:
    run = _run_or_404(request, run_id)
    won = states.claim(run, host_of(request), body.attempt)
    if won is None:
        raise ApiError(409, f"{run_id} is taken, or it waits no more.")
    return {"spec": won.spec, "lease_s": won.lease_s}


@router.post("/agent/runs/{run_id}/progress", response=ProgressOut, summary="Renew the lease, report, hear of a stop")
def progress(request: HttpRequest, run_id: str, body: ProgressIn) -> dict[str, Any]:
    run = _run_or_404(request, run_id)
    stop = states.note_progress(
        run,
        body.attempt,
        is_recording=body.phase == "recording",
        elapsed_s=body.elapsed_s,
        events=body.events,
        lost=body.lost,
    )
    if stop is None:
        raise ApiError(409, f"{run_id} is not this attempt's any more; stop tracing.")
    return {"stop": stop, "lease_s": run.lease.total_seconds()}


@router.post("/agent/runs/{run_id}/finish", response=FinishOut, summary="Say how the recording ended")
def finish(request: HttpRequest, run_id: str, body: FinishIn) -> dict[str, Any]:
    run = _run_or_404(request, run_id)
    state = states.finish(run, body.attempt, body.outcome, reason=body.reason, snapshots=body.snapshots)
    if state is None:
        raise ApiError(409, f"{run_id} is another attempt's.")
    return {"state": state}


@router.put(
    "/runs/{run_id}/snapshots/{int:seq}",
    response={201: dict[str, Any], 200: dict[str, Any]},
    summary="Send one snapshot in folded form; 201 means that it is on disk, twice is once",
)
def put_snapshot(request: HttpRequest, run_id: str, seq: int, query: Query[SnapshotQuery]) -> HttpResponse:
    run = _run_or_404(request, run_id)
    if run.attempt != query.attempt:
        raise ApiError(409, f"{run_id} is another attempt's; this snapshot was not stored.")
    if not 1 <= seq <= settings.MAX_SNAPSHOTS:
        raise ApiError(413, f"The snapshot's number is {seq}, the limit is {settings.MAX_SNAPSHOTS}.")
    encoding = uploads.content_encoding(request.headers.get("Content-Encoding"))
    with uploads.received(request) as body:
        kept = uploads.keep_snapshot(run, seq, body, elapsed_s=query.elapsed_s, encoding=encoding)
    release_upload_slot(request)
    answer = {"run": run_id, "seq": seq, "sha256": kept.snapshot.received_sha256}
    return JsonResponse(answer, status=201 if kept.is_new else 200)


def _run_or_404(request: HttpRequest, run_id: str) -> Run:
    run = Run.objects.filter(run_id=run_id, host=host_of(request)).first()
    if run is None:
        raise ApiError(404, f"{run_id} is not a run of this host.")
    return run
