"""BPF programs: compile, attach, read maps, and leave nothing behind; the only package that imports bcc."""

from __future__ import annotations
