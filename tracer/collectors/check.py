"""One line of the doctor: something that a recording needs, how it stands, and the command that mends it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "warning", "failure"]


@dataclass(frozen=True, slots=True)
class Check:
    """`mend` is a command, or one sentence where no command helps; empty if all is well."""

    name: str
    state: State
    text: str
    mend: str = ""


def ok(name: str, text: str) -> Check:
    return Check(name, "ok", text)


def warning(name: str, text: str, mend: str = "") -> Check:
    return Check(name, "warning", text, mend)


def failure(name: str, text: str, mend: str = "") -> Check:
    return Check(name, "failure", text, mend)
