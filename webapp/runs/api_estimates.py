"""The agents' side of an estimate: claim it, say what it came to."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from ninja import Router, Schema

from tracer import prices
from webapp.errors import ApiError
from webapp.hosts.api import Text
from webapp.hosts.auth import agent_auth, host_of
from webapp.runs import estimates
from webapp.runs.api_agent import ATTEMPT, ClaimIn
from webapp.runs.models import Estimate, EstimateState

router = Router(auth=agent_auth, tags=["agent"])

SECONDS = 3.0  # of counting


class EstimateClaimOut(Schema):
    pid: int
    start_time: int
    seconds: float


class EstimateFinishIn(Schema):
    attempt: str = ATTEMPT
    result: dict[str, Any] | None = None
    reason: Text = ""


class EstimateFinishOut(Schema):
    state: EstimateState


@router.post(
    "/agent/estimates/{estimate_id}/claim", response=EstimateClaimOut, summary="Take an estimate; one agent gets it"
)
def claim_estimate(request: HttpRequest, estimate_id: str, body: ClaimIn) -> dict[str, Any]:
    estimate = _estimate_or_404(request, estimate_id)
    if not estimates.claim(estimate, body.attempt):
        raise ApiError(409, f"{estimate_id} is taken, or it waits no more.")
    return {"pid": estimate.pid, "start_time": estimate.start_time, "seconds": SECONDS}


@router.post(
    "/agent/estimates/{estimate_id}/finish", response=EstimateFinishOut, summary="Say what recording would cost"
)
def finish_estimate(request: HttpRequest, estimate_id: str, body: EstimateFinishIn) -> dict[str, Any]:
    estimate = _estimate_or_404(request, estimate_id)
    if not estimates.finish(estimate, body.attempt, _read(body.result), body.reason):
        raise ApiError(409, f"{estimate_id} is another attempt's, or it is finished.")
    estimate.refresh_from_db(fields=["state"])
    return {"state": estimate.state}


def _read(result: dict[str, Any] | None) -> prices.Estimate | None:
    try:
        return None if result is None else prices.Estimate.from_dict(result)
    except ValueError as error:
        raise ApiError(422, f"{error}.") from None


def _estimate_or_404(request: HttpRequest, estimate_id: str) -> Estimate:
    estimate = Estimate.objects.filter(estimate_id=estimate_id, host=host_of(request)).first()
    if estimate is None:
        raise ApiError(404, f"{estimate_id} is not an estimate of this host.")
    return estimate
