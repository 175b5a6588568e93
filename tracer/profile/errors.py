"""What can be wrong with a profile, each error naming the place, the limit and the value."""

from __future__ import annotations

from collections.abc import Iterator


class ProfileError(Exception):
    """A profile that can't be read; its text is shown to the person who sent it."""


class UnrecognizedFormat(ProfileError):
    """These bytes are another format: let the next importer try."""


class NotStacks(ProfileError):
    """A table of numbers: tracer.procfs reads it from `steps`, its bytes, none of which has been taken yet."""

    def __init__(self, kind: str, steps: Iterator[bytes]) -> None:
        self.kind, self.steps = kind, steps
        name = kind.partition("_")[0]
        shown = "`memflame convert FILE --list` shows its values, `--to json` all of it"
        super().__init__(f"the file is a table ({name}), not stacks, so there is no graph of it: {shown}")


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
