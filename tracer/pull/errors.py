"""Why a profile was not pulled."""

from __future__ import annotations


class PullError(Exception):
    """The text is for the person who asked for it, and holds nothing of what was read."""
