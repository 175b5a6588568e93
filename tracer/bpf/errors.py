"""What can go wrong between a program and the kernel; the text is for the person who wanted to record."""

from __future__ import annotations


class BpfError(Exception):
    """The kernel, or bcc, refused."""
