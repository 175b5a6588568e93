"""A call tree to a profile of its stacks, and a difference to one whose value types are change, before and after."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from tracer.profile.model import Profile
from tracer.profile.tree.calltree import CallTree, Values
from tracer.profile.tree.merge import DiffTree

Part = Literal["change", "before", "after", "grew", "shrank"]
_PART_WORDS: dict[Part, str] = {
    "change": "after minus before",
    "before": "before",
    "after": "after",
    "grew": "by how much stacks grew",
    "shrank": "by how much stacks shrank",
}


def profile_of(tree: CallTree) -> Profile:
    """The stacks that the tree was built of; those of value 0 only where no other stack goes on from them."""
    profile = Profile(tree.value_types, capture=tree.capture)
    _add_rows(profile, tree, tree.selfs)
    return profile


def difference_profile(diff: DiffTree, parts: Sequence[Part], *, note: str = "") -> Profile:
    """A value type for each part, named `NAME_change` and so on; `note` says what is not as it was recorded."""
    name, meaning = diff.value_type.name, diff.value_type.meaning
    types = [
        replace(
            diff.value_type,
            name=f"{name}_{part}",
            meaning=f"{meaning}, {_PART_WORDS[part]}{f' ({note})' if note else ''}",
            is_signed=diff.value_type.is_signed or part == "change",
        )
        for part in parts
    ]
    profile = Profile(tuple(types))
    _add_rows(profile, diff.tree, [_column(diff, part) for part in parts])
    return profile


def _column(diff: DiffTree, part: Part) -> Values:
    change = diff.after - diff.before
    if part in ("before", "after"):
        return diff.before if part == "before" else diff.after
    return change if part == "change" else np.maximum(change if part == "grew" else -change, 0)


def _add_rows(profile: Profile, tree: CallTree, selfs: Sequence[Values]) -> None:
    """Stacks of a tree are distinct, so each is a row of its own."""
    is_stack = np.append(tree.depth[1:] <= tree.depth[:-1], True)  # an end
    for column in selfs:
        is_stack |= column != 0
    is_stack[0] = False
    rows = np.flatnonzero(is_stack)
    profile.row_by_key = dict(zip(_keys(profile, tree, is_stack), range(len(rows)), strict=True))
    for stored, values in zip(profile.columns, selfs, strict=True):
        stored.frombytes(values[rows].tobytes())


def _keys(profile: Profile, tree: CallTree, is_stack: npt.NDArray[np.bool_]) -> Iterator[bytes]:
    """The bytes of the frames' ids of each stack."""
    ids = np.array([*map(profile.id_of, tree.names), 0], np.intc)
    path = array("i", bytes(array("i").itemsize * int(tree.depth.max())))
    nodes = zip(tree.depth.tolist(), ids[tree.name].tolist(), is_stack.tolist(), strict=True)
    next(nodes)  # the root has no frame
    for depth, frame, is_one in nodes:
        path[depth - 1] = frame
        if is_one:
            yield path[:depth].tobytes()
