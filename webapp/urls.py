"""All addresses: each room has its own urls.py, machines talk to /api."""

from __future__ import annotations

from django.urls import include, path

from webapp import health
from webapp.api import api, openapi
from webapp.apidocs import api_docs
from webapp.compare.api import router as compare_router
from webapp.flamegraph.api import router as exports_router
from webapp.hosts.api import router as hosts_router
from webapp.runs.api_agent import router as agent_router
from webapp.runs.api_estimates import router as estimates_router
from webapp.runs.api_runs import router as runs_router
from webapp.runs.api_symbols import router as symbols_router

for router in (
    hosts_router, agent_router, estimates_router, runs_router, symbols_router, exports_router, compare_router,
):  # fmt: skip
    api.add_router("", router)

urlpatterns = [
    path("livez", health.livez, name="livez"),
    path("readyz", health.readyz, name="readyz"),
    path("api/openapi.json", openapi, name="openapi"),
    path("api/docs", api_docs, name="api_docs"),
    path("api/v1/", api.urls),
    path("", include("webapp.teams.urls")),
    path("", include("webapp.hosts.urls")),
    path("", include("webapp.runs.urls")),
    path("", include("webapp.pushes.urls")),
    path("", include("webapp.flamegraph.urls")),
    path("", include("webapp.compare.urls")),
]

handler400 = "webapp.errors.bad_request"
handler403 = "webapp.errors.permission_denied"
handler404 = "webapp.errors.not_found"
handler500 = "webapp.errors.server_error"
