"""Two call trees merged to text: stack, value before, value after, as difffolded.pl writes it.

https://github.com/brendangregg/FlameGraph/blob/master/difffolded.pl
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TextIO

import numpy as np

from tracer.profile.export.folded import add_up, plain_stack
from tracer.profile.folded import number_text
from tracer.profile.model import Number
from tracer.profile.tree import DiffTree


def write_difference(diff: DiffTree, out: TextIO, *, scale: Fraction = Fraction(1)) -> None:
    """One line a stack of the union, sorted; values before are multiplied by `scale`."""
    rows = ((plain_stack(stack), (values[0], values[1])) for stack, values in diff.tree.rows())
    for text, (before, after) in add_up(rows):
        out.write(f"{text} {number_text(scaled(before, scale))} {number_text(after)}\n")


def scale_to_after(diff: DiffTree) -> Fraction:
    """What values before must be multiplied by for both totals to be equal. ValueError when nothing does."""
    before, after = diff.tree.total(0), diff.tree.total(1)
    if before == 0 or (before < 0) != (after < 0):
        raise ValueError(f"totals are {before:,} before and {after:,} after: no factor makes them equal")
    return Fraction(after) / Fraction(before)


def scaled(value: Number, scale: Fraction) -> Number:
    """Exact: a whole number where the product is one, so that nothing small is cut to 0."""
    product = Fraction(value) * scale
    if isinstance(value, int) and product.denominator == 1:
        return product.numerator
    return float(product)


def scaled_difference(diff: DiffTree, scale: Fraction) -> DiffTree:
    """Values before multiplied; both columns then have fractions, if one of them does."""
    before = [scaled(value, scale) for value in diff.before.tolist()]
    is_float = any(isinstance(value, float) for value in before)
    dtype = np.float64 if is_float else np.int64
    known = replace(diff.value_type, is_float=is_float)
    selfs = np.array(before, dtype), diff.after.astype(dtype)
    return DiffTree(known, replace(diff.tree, value_types=(known, known), selfs=selfs))


def scale_words(scale: Fraction) -> str:
    return "" if scale == 1 else f"values before times {float(scale):.6g}"
