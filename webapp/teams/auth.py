"""Who calls the API: a browser's session, or a token in `Authorization: Bearer mfp_…`; and what it may see."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponseForbidden
from django.middleware.csrf import CsrfViewMiddleware
from ninja.security import HttpBearer

from webapp.errors import ApiError
from webapp.teams.models import ApiToken, Project, Role, User


class SessionOrToken(HttpBearer):
    """`request.auth` is the User of the session, or the ApiToken; a session's POST needs the CSRF token too."""

    def __call__(self, request: HttpRequest) -> User | ApiToken:
        header = request.headers.get("Authorization")
        return self.authenticate(request, bearer_token(header)) if header else _session_user(request)

    def authenticate(self, request: HttpRequest, token: str) -> ApiToken:
        row = ApiToken.find(token)
        if row is None:
            raise ApiError(
                401, "The token is not known, or it was revoked. Project settings list the tokens that hold."
            )
        return row


class SessionOnly(SessionOrToken):
    """For what belongs to a person, not to a project."""

    def authenticate(self, request: HttpRequest, token: str) -> ApiToken:
        raise ApiError(401, "A token belongs to a project; this address takes a signed-in person only.")


session_or_token = SessionOrToken()
session_only = SessionOnly()


def bearer_token(header: str) -> str:
    scheme, _, token = header.strip().partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise ApiError(401, "The Authorization header must be: Bearer TOKEN.")
    return token.strip()


def viewer_of(request: HttpRequest) -> User | ApiToken:
    """Who the route's `auth` found."""
    viewer: User | ApiToken = request.auth  # type: ignore[attr-defined]
    return viewer


def project_or_404(request: HttpRequest, slug: str, at_least: Role = Role.VIEWER) -> Project:
    """The project if the caller may see it; 403 if it sees it and may not do this."""
    viewer = viewer_of(request)
    project = Project.objects.visible_to(viewer).filter(slug=slug).first()
    if project is None:
        raise ApiError(404, f"There is no project {slug!r} that you may see.")
    if not project.allows(viewer, at_least):
        raise ApiError(403, f"In {slug} this needs the role {at_least.value}.")
    return project


def _session_user(request: HttpRequest) -> User:
    if not request.user.is_authenticated:
        raise ApiError(401, "Sign in, or send a project's token: Authorization: Bearer mfp_….")
    _CsrfCheck(_no_response).check(request)
    return request.user


class _CsrfCheck(CsrfViewMiddleware):
    """API routes are exempt, since tokens need no cookie; a session gets the check here."""

    def check(self, request: HttpRequest) -> None:
        request.csrf_processing_done = False  # type: ignore[attr-defined]
        self.process_request(request)
        self.process_view(request, _no_response, (), {})

    def _reject(self, request: HttpRequest, reason: str) -> HttpResponseForbidden:
        raise ApiError(403, f"This needs the site's CSRF token; reload the page and try again. ({reason})")


def _no_response(request: HttpRequest) -> HttpResponseForbidden:
    return HttpResponseForbidden()
