"""`manage.py demo`: fills the demo project while the site and the local agent run."""

from __future__ import annotations

import signal
import socket
import sys
from types import FrameType
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from webapp.runs import firststart
from webapp.runs.demo.fill import fill


class Command(BaseCommand):
    help = "Fill the demo project with runs of the bundled service; `manage.py up` does it by itself"

    def handle(self, *args: Any, **options: Any) -> None:
        signal.signal(signal.SIGTERM, _leave)
        binary = settings.DATA_DIR / "demo" / "leaky_service"
        self.stdout.write(fill(firststart.ensure_demo_project(), socket.gethostname(), binary))


def _leave(number: int, frame: FrameType | None) -> None:
    """Leave by an exception, so that the demo service is stopped on the way out."""
    sys.exit(0)
