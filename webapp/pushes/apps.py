from __future__ import annotations

from django.apps import AppConfig


class PushesConfig(AppConfig):
    name = "webapp.pushes"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Closing and thinning out are what time alone decides, so the sweep does both."""
        from webapp.pushes import rolling, thinning
        from webapp.runs import sweep

        sweep.add_chore("rolling_closed", rolling.close_silent)
        sweep.add_chore("snapshots_thinned", thinning.thin_out)
