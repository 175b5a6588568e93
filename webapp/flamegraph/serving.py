"""Payloads as they are stored to HTTP answers: compressed once, cached for ever, checked for who may see them."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from urllib.parse import quote

from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseForbidden
from django.utils.cache import get_conditional_response, patch_vary_headers

from webapp.teams.models import User

# The address carries revision and content hash, so its bytes never change; private, since not everyone may see them.
FOR_EVER = "private, max-age=31536000, immutable"
_AS_JAVASCRIPT = "!'()*"  # encodeURIComponent leaves these, and a preload must be the very address that is fetched


def quoted(value_type: str) -> str:
    return quote(value_type, safe=_AS_JAVASCRIPT)


def packed_response(request: HttpRequest, tag: str, packed: Callable[[], bytes]) -> HttpResponseBase:
    """Answer with a gzip payload, inflated for the rare client without gzip; 304 when the client has it."""
    is_gzip = accepts_gzip(request)
    etag = f'"{tag}"' if is_gzip else f'"{tag}-identity"'
    response: HttpResponseBase | None = get_conditional_response(request, etag=etag)
    if response is None:
        response = HttpResponse(packed() if is_gzip else gzip.decompress(packed()))
        response["Content-Type"] = "application/octet-stream"
        if is_gzip:
            response["Content-Encoding"] = "gzip"
    response["ETag"] = etag
    response["Cache-Control"] = FOR_EVER
    response["X-Content-Type-Options"] = "nosniff"
    patch_vary_headers(response, ["Accept-Encoding"])
    return response


def accepts_gzip(request: HttpRequest) -> bool:
    accepted = {}
    for part in request.headers.get("Accept-Encoding", "").lower().split(","):
        name, _, quality = part.strip().partition(";")
        accepted[name.strip()] = quality.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return accepted.get("gzip", accepted.get("*", False))


def signed_in(request: HttpRequest) -> User | HttpResponse:
    """The person, or 403: what fetch() gets must not be the login page."""
    if isinstance(request.user, User):
        return request.user
    return HttpResponseForbidden("Sign in to see this.", content_type="text/plain")
