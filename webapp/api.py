"""The machine interface: one NinjaAPI; rooms add their routers in webapp/urls.py."""

from __future__ import annotations

import errno
import logging

from django.core.exceptions import RequestDataTooBig
from django.db import OperationalError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from ninja import NinjaAPI
from ninja.errors import HttpError, ValidationError

from tracer import __version__
from webapp.errors import ApiError, error_response, sentence_of

log = logging.getLogger(__name__)

api = NinjaAPI(
    title="memflame",
    version=__version__,
    description='Errors are always JSON: {"error": "one sentence"}.',
    docs_url=None,
    openapi_url=None,  # served at /api/openapi.json, beside the versions
    urls_namespace="api",
)


def openapi(request: HttpRequest) -> JsonResponse:
    return JsonResponse(api.get_openapi_schema())


@api.exception_handler(ApiError)
def _refused(request: HttpRequest, error: ApiError) -> HttpResponse:
    return error_response(error.status, error.message)


@api.exception_handler(HttpError)
def _http_error(request: HttpRequest, error: HttpError) -> HttpResponse:
    return error_response(error.status_code, str(error))


@api.exception_handler(ValidationError)
def _invalid(request: HttpRequest, error: ValidationError) -> HttpResponse:
    return error_response(422, sentence_of(error.errors))


@api.exception_handler(Http404)
def _not_found(request: HttpRequest, error: Http404) -> HttpResponse:
    return error_response(404, str(error) or f"There is nothing at {request.path}.")


@api.exception_handler(RequestDataTooBig)
def _too_big(request: HttpRequest, error: RequestDataTooBig) -> HttpResponse:
    return error_response(
        413, f"The body has {request.headers.get('Content-Length', '?')} bytes, JSON is limited to 2 MB."
    )


@api.exception_handler(OperationalError)
def _database_away(request: HttpRequest, error: OperationalError) -> HttpResponse:
    log.warning("%s %s: the database did not answer: %s", request.method, request.path, error)
    return error_response(503, "The database does not answer; try again.")


@api.exception_handler(OSError)
def _storage_failed(request: HttpRequest, error: OSError) -> HttpResponse:
    log.error("%s %s: %s", request.method, request.path, error)
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return error_response(507, "The site's disk is full; nothing was stored.")
    return error_response(500, "The site's storage failed; its log tells why.")


@api.exception_handler(Exception)
def _failed(request: HttpRequest, error: Exception) -> HttpResponse:
    log.exception("%s %s failed", request.method, request.path)
    return error_response(500, "The site failed; its log tells why.")
