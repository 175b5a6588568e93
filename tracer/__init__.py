"""The command line, the agent and the collectors of memflame."""

from __future__ import annotations

__version__ = "0.1.0"
