"""Who pushes: a project's token, as Bearer or as the password of Basic with any user name."""

from __future__ import annotations

import base64
import binascii

from django.http import HttpRequest

from webapp.errors import ApiError
from webapp.teams.models import ApiToken

NEEDED = "A push needs a project's token: Authorization: Bearer mfp_…, or Basic with the token as password."


def pusher(request: HttpRequest) -> ApiToken:
    """The token's row; tenant headers such as X-Scope-OrgID are not looked at, the token says the project."""
    row = ApiToken.find(_token(request.headers.get("Authorization", "")))
    if row is None:
        raise ApiError(401, "The token is not known, or it was revoked. Project settings list the tokens that hold.")
    return row


def _token(header: str) -> str:
    scheme, _, value = header.strip().partition(" ")
    if scheme.lower() == "bearer" and value.strip():
        return value.strip()
    if scheme.lower() == "basic":
        return _password(value)
    raise ApiError(401, NEEDED)


def _password(value: str) -> str:
    try:
        text = base64.b64decode(value.strip(), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        raise ApiError(401, NEEDED) from None
    return text.partition(":")[2]
