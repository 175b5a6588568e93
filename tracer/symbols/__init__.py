"""Addresses of a binary to names of functions."""

from __future__ import annotations
