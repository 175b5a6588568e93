"""Profiles that running services push, as Pyroscope takes them: each a snapshot of a rolling run."""
