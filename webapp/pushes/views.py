"""The two addresses that agents push to, answered as each expects, and the page of what a project pushes."""

from __future__ import annotations

import errno
import logging
from collections.abc import Callable, Iterable
from datetime import timedelta

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.db import OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_GET, require_POST

from webapp.errors import ApiError, error_response
from webapp.middleware import release_upload_slot
from webapp.pushes import budget, ingest_form, push_message, rolling
from webapp.pushes.auth import pusher
from webapp.pushes.bodies import body_of
from webapp.pushes.budget import OverBudget
from webapp.pushes.models import IgnoredPushes, RollingRun
from webapp.pushes.profiles import Pushed
from webapp.teams.access import project_or_404

log = logging.getLogger(__name__)

SERIES_SHOWN = 200
DAYS_SHOWN = 7
# https://connectrpc.com/docs/protocol#error-codes; a client tries again on the last three only.
_CONNECT_CODES = {
    401: "unauthenticated", 403: "permission_denied", 429: "resource_exhausted", 500: "internal", 503: "unavailable",
}  # fmt: skip

Answer = Callable[[int, str], HttpResponse]


@csrf_exempt
@require_POST
def ingest(request: HttpRequest) -> HttpResponse:
    """Pyroscope's address for SDKs: 200 with an empty body once the profile is on disk, or ignored."""

    def profiles() -> Iterable[Pushed]:
        yield ingest_form.pushed_of(request.GET.dict(), body_of(request), request.headers.get("Content-Type", ""))

    return _taken(request, profiles, HttpResponse(), error_response)


@csrf_exempt
@require_POST
def push(request: HttpRequest) -> HttpResponse:
    """PusherService.Push of Pyroscope over the Connect protocol: an empty message, in the form that was sent."""
    subtype = request.headers.get("Content-Type", "").partition(";")[0].strip()
    is_json = subtype == "application/json"
    done = HttpResponse(b"{}" if is_json else b"", content_type="application/json" if is_json else "application/proto")
    return _taken(request, lambda: push_message.pushed_of(body_of(request), subtype), done, _connect_error)


def _taken(
    request: HttpRequest, profiles: Callable[[], Iterable[Pushed]], done: HttpResponse, refused: Answer
) -> HttpResponse:
    """Each profile is kept by itself: after an error the sender repeats all, and what was kept is found again."""
    try:
        token = pusher(request)
        found = list(profiles())
        release_upload_slot(request)
        for pushed in found:
            rolling.take(token, pushed, sender=_sender(request), agent=request.headers.get("User-Agent", ""))
    except OverBudget as error:
        answer = refused(error.status, error.message)
        answer["Retry-After"] = str(error.retry_after_s)
        return answer
    except ApiError as error:
        return refused(error.status, error.message)
    except OperationalError as error:
        log.warning("%s: the database did not answer: %s", request.path, error)
        return refused(503, "The database does not answer; try again.")
    except OSError as error:
        return refused(*_storage_words(request, error))
    return done


def _sender(request: HttpRequest) -> str:
    return str(request.META.get("REMOTE_ADDR") or "unknown")


def _storage_words(request: HttpRequest, error: OSError) -> tuple[int, str]:
    log.error("%s: %s", request.path, error)
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return 507, "The site's disk is full; nothing was stored."
    return 500, "The site's storage failed; its log tells why."


def _connect_error(status: int, message: str) -> HttpResponse:
    code = _CONNECT_CODES.get(status, "internal" if status >= 500 else "invalid_argument")
    return JsonResponse({"code": code, "message": message}, status=status, json_dumps_params={"ensure_ascii": False})


@login_required
@require_GET
def pushes(request: HttpRequest, project: str) -> HttpResponse:
    """What pushes to a project, newest first, and what of its budget is used."""
    found, now = project_or_404(request, project), timezone.now()
    rows = RollingRun.objects.filter(project=found).select_related("run").order_by("-last_push_at")[:SERIES_SHOWN]
    ignored = IgnoredPushes.objects.filter(project=found, day__gt=now.date() - timedelta(days=DAYS_SHOWN))
    context = {
        "project": found,
        "rows": rows,
        "used": budget.used(found, now),
        "limits": {
            "instances": settings.PUSH_INSTANCES,
            "snapshots": settings.PUSH_SNAPSHOTS_AN_HOUR,
            "nodes": settings.PUSH_NODES,
        },
        "ignored": ignored.order_by("-day", "kind"),
        "site": f"{request.scheme}://{request.get_host()}",
    }
    return render(request, "pushes/pushes.html", context)
