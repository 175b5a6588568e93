"""One live process: who it is, what it has mapped, and the names of its code addresses."""

from __future__ import annotations
