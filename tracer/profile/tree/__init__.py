"""Call trees: built of profiles, merged, pruned, stored, encoded for the viewer. Needs numpy."""

from __future__ import annotations

from tracer.profile.tree.aligned import aligned
from tracer.profile.tree.allocators import fold_allocators, keeps_allocators
from tracer.profile.tree.build import build
from tracer.profile.tree.calltree import CallTree
from tracer.profile.tree.functions import FunctionValues, function_values
from tracer.profile.tree.interval import NotAFlow, interval, together
from tracer.profile.tree.merge import DiffTree, merge
from tracer.profile.tree.pack import pack, unpack
from tracer.profile.tree.prune import overview, prune

__all__ = [
    "CallTree",
    "DiffTree",
    "NotAFlow",
    "FunctionValues",
    "aligned",
    "build",
    "fold_allocators",
    "function_values",
    "interval",
    "keeps_allocators",
    "merge",
    "overview",
    "pack",
    "prune",
    "together",
    "unpack",
]
