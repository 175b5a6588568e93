"""Part of a payload's address: another revision or other bytes have another address."""

from __future__ import annotations


def payload_tag(revision: int, content_hash: str) -> str:
    return f"{revision}-{content_hash}"
