"""What is wrong with an option of a run."""

from __future__ import annotations


class BadOption(ValueError):
    """An option of a run that can't be; `reason` begins with its value."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"option {name} is {reason}")
        self.name, self.reason = name, reason
