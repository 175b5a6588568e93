"""A mean distance in bytes to the tables of sampling.h: random distances, and what a chosen allocation stands for."""

from __future__ import annotations

import math
import random
import struct

from tracer.bpf.maps import processor_sums, processors_possible
from tracer.bpf.program import Program

_DISTANCES, _ESTIMATES = 4096, 4096
_ALWAYS = 16  # times the mean distance: larger allocations stand for themselves
_FRACTION_BITS = 8


def distances(mean: int) -> list[int]:
    """As many quantiles of the exponential distribution, in random access; their mean is right to a byte."""
    quantiles = [-math.log((number + 0.5) / _DISTANCES) for number in range(_DISTANCES)]
    scale = mean * _DISTANCES / sum(quantiles)
    return [round(quantile * scale) for quantile in quantiles]


def estimates(mean: int) -> list[int]:
    """Bytes, times 256, that a chosen allocation stands for, by its size in 1/256 of the mean distance."""
    return [
        round(estimate(number * _ALWAYS * mean / _ESTIMATES, mean) * 2**_FRACTION_BITS)
        for number in range(_ESTIMATES + 1)
    ]


def estimate(size: float, mean: int) -> float:
    """Size by the probability to be chosen; at 0 the limit of that."""
    return size / -math.expm1(-size / mean) if size else float(mean)


def begin_sampling(program: Program, mean: int, seed: int | None = None) -> None:
    """Fill the tables, and begin on each processor somewhere inside of a distance."""
    for name, numbers in (("distances", distances(mean)), ("estimates", estimates(mean))):
        for position, number in enumerate(numbers):
            program.map(name).update(struct.pack("=I", position), struct.pack("=Q", number))
    made = random.Random(seed)
    first = [round(made.expovariate(1 / mean)) for _ in processors_possible()]
    program.map("samplers").update(struct.pack("=I", 0), b"".join(struct.pack("=qQQ", left, 0, 0) for left in first))


def counted(program: Program) -> dict[str, int]:
    """What all allocations add up to, chosen or not."""
    _, allocated_bytes, allocated = processor_sums(program.map("samplers"), struct.pack("=I", 0))
    return {"allocated_bytes": allocated_bytes, "allocated_objects": allocated}
