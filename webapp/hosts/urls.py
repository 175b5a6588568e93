"""Addresses of the pages of hosts."""

from __future__ import annotations

from django.urls import path

from webapp.hosts import views

urlpatterns = [
    path("p/<slug:project>/hosts", views.hosts, name="hosts"),
    path("p/<slug:project>/hosts/<str:host_id>/processes", views.host_processes, name="host_processes"),
]
