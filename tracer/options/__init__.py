"""Options of a run, as a person or a run spec gives them, to checked values; read by site, agent and command line."""

from __future__ import annotations
