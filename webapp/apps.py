"""Which files of frontend/ are served."""

from __future__ import annotations

from django.contrib.staticfiles.apps import StaticFilesConfig


class FrontendFilesConfig(StaticFilesConfig):
    """All but what makes the vendored files."""

    ignore_patterns = ["CVS", ".*", "*~", "node_modules", "*.mjs", "package.json", "package-lock.json"]
