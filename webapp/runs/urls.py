"""Addresses of the dashboard, of new runs and uploads, and of what can be done to a run."""

from __future__ import annotations

from django.urls import path

from webapp.runs import estimate_page, recording, symbols_page, upload_page, views

urlpatterns = [
    path("upload", upload_page.upload, name="upload"),
    path("p/<slug:project>/", views.project, name="project"),
    path("p/<slug:project>/record", recording.new_run, name="new_run"),
    path("p/<slug:project>/estimates", estimate_page.ask_estimate, name="ask_estimate"),
    path("p/<slug:project>/estimates/<str:estimate_id>", estimate_page.estimate, name="estimate"),
    path("p/<slug:project>/upload", upload_page.upload, name="project_upload"),
    path("p/<slug:project>/symbols/<str:sha256>/delete", symbols_page.symbols_delete, name="symbols_delete"),
    path("runs/<str:run_id>/stop", views.run_stop, name="run_stop"),
    path("runs/<str:run_id>/save", views.run_save, name="run_save"),
    path("runs/<str:run_id>/delete", views.run_delete, name="run_delete"),
]
