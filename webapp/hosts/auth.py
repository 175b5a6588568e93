"""Which host calls: an agent's token in `Authorization: Bearer mfa_…`."""

from __future__ import annotations

from django.http import HttpRequest
from ninja.security import HttpBearer

from webapp.errors import ApiError
from webapp.hosts.models import Host
from webapp.teams.auth import bearer_token


class AgentAuth(HttpBearer):
    """`request.auth` is the Host."""

    def __call__(self, request: HttpRequest) -> Host:
        header = request.headers.get("Authorization")
        if not header:
            raise ApiError(401, "An agent sends its token: Authorization: Bearer mfa_….")
        return self.authenticate(request, bearer_token(header))

    def authenticate(self, request: HttpRequest, token: str) -> Host:
        host = Host.find(token)
        if host is None:
            raise ApiError(401, "The agent's token is not known, or the host was given a new one.")
        return host


agent_auth = AgentAuth()


def host_of(request: HttpRequest) -> Host:
    host: Host = request.auth  # type: ignore[attr-defined]
    return host
