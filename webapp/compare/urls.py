"""Addresses of comparisons and of their payloads."""

from __future__ import annotations

from django.urls import path

from webapp.compare import views

urlpatterns = [
    path("p/<slug:project>/compare", views.compare_pick, name="compare_pick"),
    path("p/<slug:project>/compare/alignment", views.save_alignment, name="save_alignment"),
    path("compare/<str:before>/<str:after>", views.compare, name="compare"),
    path("compare/<str:before>/<str:after>/export/<str:form>", views.export, name="diff_export"),
    path(
        "compare/<str:before>/<str:after>/payload/<path:value_type>/<str:tag>/<str:stage>",
        views.diff_payload,
        name="diff_payload",
    ),
]
