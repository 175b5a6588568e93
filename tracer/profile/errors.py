"""What can be wrong with a profile, each error naming the place, the limit and the value."""

from __future__ import annotations


class ProfileError(Exception):
    """A profile that can't be read; its text is shown to the person who sent it."""


class UnrecognizedFormat(ProfileError):
    """These bytes are another format: let the next importer try."""


class MalformedProfile(ProfileError):
    """The structure is broken; the message names the place."""


class EmptyProfile(MalformedProfile):
    """Nothing could be read: no stack at all."""


class LimitExceeded(ProfileError):
    """One of the limits of `Limits` was passed.

    `limit` and `value` are in the unit that `what` names; `line` is 1-based where there is one.
    """

    def __init__(self, what: str, *, limit: int, value: int, line: int | None = None, at_least: bool = False) -> None:
        self.what, self.limit, self.value, self.line = what, limit, value, line
        where = f"line {line}: " if line is not None else ""
        amount = f"more than {value:,}" if at_least else f"{value:,}"
        super().__init__(f"{where}{what} is {amount}, the limit is {limit:,}")
