"""What is exported, as a profile or as a call tree: a form takes the one that it needs, and it is made once."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from tracer.profile.model import Profile

if TYPE_CHECKING:  # numpy: text forms do without
    from tracer.profile.tree.calltree import CallTree


class Source:
    """Stacks with all their value types, the default one first."""

    def __init__(self, *, profile: Profile | None = None, tree: CallTree | None = None) -> None:
        self._profile, self._tree = profile, tree

    @cached_property
    def profile(self) -> Profile:
        if self._profile is not None:
            return self._profile
        from tracer.profile.export.stacks import profile_of

        return profile_of(self.tree)

    @cached_property
    def tree(self) -> CallTree:
        if self._tree is not None:
            return self._tree
        from tracer.profile.tree import build

        return build(self.profile)
