"""Errors to answers: JSON `{"error": sentence}` under /api, the error pages elsewhere."""

from __future__ import annotations

import sys
from typing import Any

from django.db import OperationalError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.views import defaults

RETRY_AFTER_S = 2


class ApiError(Exception):
    """Raised anywhere below an API route; `message` is one sentence for the person who can act."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message


class Refusal(Http404):
    """What is asked for is not there, for a reason that the person shall read; 404 of others tells nothing."""


def error_response(status: int, message: str) -> JsonResponse:
    response = JsonResponse({"error": message}, status=status, json_dumps_params={"ensure_ascii": False})
    if status == 503:
        response["Retry-After"] = str(RETRY_AFTER_S)
    return response


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    if _is_api(request):
        return error_response(400, "The request can't be read.")
    return defaults.bad_request(request, exception)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    if _is_api(request):
        return error_response(403, "This is not allowed.")
    return defaults.permission_denied(request, exception)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    if _is_api(request):
        return error_response(404, f"There is nothing at {request.path}.")
    if isinstance(exception, Refusal):
        return render(request, "refused.html", {"words": str(exception)}, status=404)
    return defaults.page_not_found(request, exception)


def server_error(request: HttpRequest) -> HttpResponse:
    if _is_api(request):
        return error_response(500, "The site failed; its log tells why.")
    if isinstance(sys.exc_info()[1], OperationalError):
        return database_away()
    return defaults.server_error(request)


def database_away() -> HttpResponse:
    """503 for people; without the request, since its user would be asked of the database."""
    return HttpResponse(render_to_string("503.html"), status=503, headers={"Retry-After": str(RETRY_AFTER_S)})


def _is_api(request: HttpRequest) -> bool:
    return is_for_machines(request.path)


def is_for_machines(path: str) -> bool:
    """Addresses whose errors are JSON: the API, and those that agents push to."""
    return path.startswith(("/api/", "/push.v1.")) or path == "/ingest"


def sentence_of(errors: list[dict[str, Any]]) -> str:
    """All that a schema refuses, in one sentence: "elapsed_s: Input should be a valid number; …"."""
    parts = [f"{'.'.join(str(step) for step in error['loc'][1:]) or 'body'}: {error['msg']}" for error in errors]
    return "; ".join(parts)
