"""Addresses of the run page, of what its graph is drawn of, and of downloads."""

from __future__ import annotations

from django.urls import path

from webapp.flamegraph import views

urlpatterns = [
    path("runs/<str:run_id>", views.run, name="run"),
    path("runs/<str:run_id>/received/<int:seq>", views.received, name="received"),
    path("runs/<str:run_id>/export/<int:seq>/<str:form>", views.export, name="export"),
    # Names of value types may hold a slash.
    path("runs/<str:run_id>/payload/<int:seq>/<path:value_type>/<str:tag>/<str:stage>", views.payload, name="payload"),
    path(
        "runs/<str:run_id>/interval/<int:since>/<int:until>/<path:value_type>/<str:tag>/<str:stage>",
        views.interval_payload,
        name="interval_payload",
    ),
]
