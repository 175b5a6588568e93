"""Ids of runs and estimates: short enough to be read out, drawn at random."""

from __future__ import annotations

import secrets

_ALPHABET = "23456789abcdefghjkmnpqrstvwxyz"  # no letters that are read as others


def new_run_id() -> str:
    return f"r-{_new_id()}"


def new_estimate_id() -> str:
    return f"e-{_new_id()}"


def _new_id() -> str:
    return "".join(secrets.choice(_ALPHABET) for _ in range(10))
