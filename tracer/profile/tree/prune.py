"""A call tree to a smaller one with the same totals: what is pruned counts as its parent's own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from tracer.profile.model import Number
from tracer.profile.tree.calltree import CallTree, Values, with_frequent_names_first

OVERVIEW_SHARE = 2000  # nodes narrower than a 2000th of the total are under a pixel on most screens


def prune(tree: CallTree, is_kept: npt.NDArray[np.bool_]) -> CallTree:
    """Keep these nodes; a kept node's parent must be kept. Totals of kept nodes stay exact."""
    cut = np.flatnonzero(~is_kept & is_kept[tree.parent])  # the tops of what goes
    selfs = []
    for column, values in enumerate(tree.selfs):
        kept = values.copy()
        np.add.at(kept, tree.parent[cut], tree.totals(column)[cut])
        selfs.append(kept[is_kept])
    names, name = with_frequent_names_first(tree.names, tree.name[is_kept])
    return replace(tree, names=names, name=name, depth=tree.depth[is_kept], selfs=tuple(selfs))


def overview(widths: Values) -> tuple[npt.NDArray[np.bool_], Number]:
    """Which nodes are at least a 2000th as wide as the root, and how wide that is."""
    least = widths[0].item() / OVERVIEW_SHARE if widths.dtype.kind == "f" else -(-widths[0].item() // OVERVIEW_SHARE)
    return widths >= least, least
