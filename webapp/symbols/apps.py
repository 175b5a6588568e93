from __future__ import annotations

from django.apps import AppConfig


class SymbolsConfig(AppConfig):
    name = "webapp.symbols"
    default_auto_field = "django.db.models.BigAutoField"
