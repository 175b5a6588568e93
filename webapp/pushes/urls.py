"""Addresses of pushes: Pyroscope's own two, at the site's root since agents add them to its address, and the page."""

from __future__ import annotations

from django.urls import path

from webapp.pushes import views

urlpatterns = [
    path("ingest", views.ingest, name="ingest"),
    path("push.v1.PusherService/Push", views.push, name="push"),
    path("p/<slug:project>/pushes", views.pushes, name="pushes"),
]
