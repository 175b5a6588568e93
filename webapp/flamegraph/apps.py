from __future__ import annotations

from django.apps import AppConfig


class FlamegraphConfig(AppConfig):
    name = "webapp.flamegraph"
    default_auto_field = "django.db.models.BigAutoField"
