"""Addresses of sign-in, home, help and a project's settings."""

from __future__ import annotations

from django.contrib.auth.views import LoginView, LogoutView
from django.urls import path

from webapp.teams import views
from webapp.teams.forms import LoginForm

urlpatterns = [
    path("", views.home, name="home"),
    path(
        "login",
        LoginView.as_view(
            template_name="teams/login.html", authentication_form=LoginForm, redirect_authenticated_user=True
        ),
        name="login",
    ),
    path("logout", LogoutView.as_view(), name="logout"),
    path("help/reading", views.help_reading, name="help_reading"),
    path("p/<slug:project>/settings", views.project_settings, name="project_settings"),
]
