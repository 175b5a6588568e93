"""Addresses of sign-in, home, help and a project's settings."""

from __future__ import annotations

from django.contrib.auth.views import LogoutView
from django.urls import path

from webapp.teams import views

urlpatterns = [
    path("", views.home, name="home"),
    path("login", views.SignIn.as_view(), name="login"),
    path("logout", LogoutView.as_view(), name="logout"),
    path("help/reading", views.help_reading, name="help_reading"),
    path("p/<slug:project>/settings", views.project_settings, name="project_settings"),
]
