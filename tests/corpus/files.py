"""The corpus beside the checkout: real files of other tools, with counts made apart and what the tools made of them.

Its licences keep it out of the repository. `MEMFLAME_CORPUS` says where it lies, else `../shared/corpus`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import pytest

from tracer import protocol
from tracer.procfs import read_table
from tracer.procfs.table import Table
from tracer.profile.errors import NotStacks
from tracer.profile.formats import read_profile
from tracer.profile.model import Profile

ROOT = Path(__file__).parents[2]
CORPUS = Path(os.environ.get("MEMFLAME_CORPUS") or ROOT.parent / "shared" / "corpus")
COUNTS = (".totals.json", ".expected.json")  # counted apart from any tool


def name_of(path: Path) -> str:
    return str(path.relative_to(CORPUS))


def sources() -> Iterator[Path]:
    """What a tool wrote."""
    return (path for path in _files() if not _is_made_of_another(path))


def counts() -> Iterator[Path]:
    """Counts of one source each, as JSON."""
    return (path for path in _files() if path.name.endswith(COUNTS))


def peers() -> Iterator[Path]:
    """What other tools made of a source."""
    return (path for path in _files() if ".expected" in path.name and not path.name.endswith(COUNTS))


def source_of(path: Path) -> Path:
    """The file of which this one tells; its name is the beginning of the other's, packed or not."""
    stem = path.name.removesuffix(".gz").removesuffix(".json").removesuffix(".totals").removesuffix(".expected")
    while stem:
        for ending in ("", ".gz"):
            if (found := path.with_name(stem + ending)).is_file() and not _is_made_of_another(found):
                return found
        stem = stem.rpartition(".")[0]
    raise FileNotFoundError(path)


@lru_cache(maxsize=1)  # what was made of one source comes one after the other
def read(path: Path) -> Profile:
    with path.open("rb") as stream:
        return read_profile(stream, resolve=protocol.value_type_named)


def read_numbers(path: Path) -> Table:
    """Of a file that is a table, not stacks."""
    with pytest.raises(NotStacks) as found:
        read(path)
    return read_table(found.value)


def totals_of(profile: Profile) -> dict[str, int | float]:
    return {known.name: profile.total(column) for column, known in enumerate(profile.value_types)}


def _files() -> Iterator[Path]:
    """Nothing where there is no corpus."""
    return (path for path in sorted(CORPUS.glob("*/*")) if path.is_file())


def _is_made_of_another(path: Path) -> bool:
    return ".expected" in path.name or path.name.endswith(".totals.json")
