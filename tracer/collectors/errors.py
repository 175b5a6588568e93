"""Why nothing could be recorded, in one sentence for the person who asked."""

from __future__ import annotations


class CollectorError(Exception):
    """The recording can't start, or can't go on."""
