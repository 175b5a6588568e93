"""Labels of pprof samples: which there are, and which samples have those that were asked for.

A label never splits a stack: samples that differ in nothing else add up.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tracer.profile.errors import EmptyProfile, LimitExceeded
from tracer.profile.formats.pprof_tables import Tables
from tracer.profile.formats.wire import fields, signed, stream_fields
from tracer.profile.model import Limits

_SAMPLE, _STRING = 2, 6  # fields of a profile
LABEL = 3  # field of a sample
_KEY, _TEXT, _NUMBER, _UNIT = 1, 2, 3, 4


@dataclass(frozen=True, slots=True)
class Label:
    key: str
    value: str  # of a number with a unit, `4096 bytes`
    samples: int


class LabelSets:
    """The set of labels of each sample, as bytes until all strings are known; each different set is kept once."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._number_by_set: dict[tuple[bytes, ...], int] = {}
        self._numbers = array("q")  # by sample

    def add(self, labels: Sequence[bytes]) -> None:
        """Of the next sample."""
        number = self._number_by_set.setdefault(tuple(labels), len(self._number_by_set))
        self._numbers.append(number)
        if len(self._number_by_set) > self._limits.tree_nodes:
            what = "number of different sets of labels"
            raise LimitExceeded(what, limit=self._limits.tree_nodes, value=len(self._number_by_set))

    def matching(self, tables: Tables, wanted: Mapping[str, Sequence[str]]) -> Iterator[bool]:
        """Whether each sample has all these keys, each with one of its values."""
        fits = [_fits(dict(_labels(labels, tables)), wanted) for labels in self._number_by_set]
        return (fits[number] for number in self._numbers)

    def counts(self, tables: Tables) -> list[Label]:
        """Each label with its samples, by key and value."""
        samples_by_number = Counter(self._numbers)
        counts: Counter[tuple[str, str]] = Counter()
        for labels, number in self._number_by_set.items():
            for label in _labels(labels, tables):
                counts[label] += samples_by_number[number]
        return [Label(key, value, samples) for (key, value), samples in sorted(counts.items())]


def read_labels(steps: Iterator[bytes], limits: Limits) -> list[Label]:
    """EmptyProfile if no sample has any."""
    tables, sets = Tables(limits), LabelSets(limits)
    for number, _, value in stream_fields(steps, limits.line_bytes):
        if number == _STRING and isinstance(value, bytes):
            tables.add_string(value)
        elif number == _SAMPLE and isinstance(value, bytes):
            sets.add([label for field, _, label in fields(value) if field == LABEL and isinstance(label, bytes)])
    found = sets.counts(tables)
    if not found:
        raise EmptyProfile("no sample of the profile has a label")
    return found


def _labels(labels: Sequence[bytes], tables: Tables) -> Iterator[tuple[str, str]]:
    for message in labels:
        numbers = {field: value for field, _, value in fields(message) if isinstance(value, int)}
        text, unit = tables.text(numbers.get(_TEXT, 0)), tables.text(numbers.get(_UNIT, 0))
        value = text or f"{signed(numbers.get(_NUMBER, 0))} {unit}".rstrip()
        yield tables.text(numbers.get(_KEY, 0)), value


def _fits(labels: Mapping[str, str], wanted: Mapping[str, Sequence[str]]) -> bool:
    return all(labels.get(key) in values for key, values in wanted.items())
