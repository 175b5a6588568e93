"""Writes the graphs of this folder: stacks, the payload made of them, and what any reader of it must find.

Run it after the payload's form has changed on purpose: `.venv/bin/python tests/view/make_fixtures.py`. What is to be
found is counted here from the stacks, in the slowest and most obvious way, not taken from the tree.
"""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

from tracer import protocol
from tracer.profile import tree
from tracer.profile.folded import read_folded
from tracer.profile.tree import payload

HERE = Path(__file__).parent
OURS = "# memflame-folded 1\n# values: {name}\n"

GRAPHS: dict[str, dict[str, Any]] = {
    "recursion": {
        "about": "frames that call themselves count once in totals and searches",
        "folded": "a;a;a 16\na;b;a 32\nb;b 48\nb 64\n",
        "searches": ["^a$", "^b$", "a|b", "nowhere"],
    },
    "service": {
        "about": "several value types' worth of stacks under our header, with escaped frames",
        "folded": OURS.format(name="outstanding_bytes")
        + "main;serve;load_index;malloc 4096\nmain;serve;leak_cache;malloc 94208\n"
        + "main;serve;std::map<int\\; long>::insert;operator new(unsigned long);malloc 640\nmain;startup;malloc 128\n",
        "searches": ["leak", "malloc", "^main$", "operator new\\(", "serve|malloc"],
    },
    "signed": {
        "about": "values of both signs: widths are amounts, labels are nets",
        "folded": OURS.format(name="heap_bytes") + "main;grow;brk 135168\nmain;trim;brk -135168\nmain;idle 4096\n",
        "searches": ["brk", "trim"],
    },
    "fractions": {
        "about": "un-sampled values with fractions are float64",
        "folded": "main;f 0.5\nmain;g 1.25\nmain 2\n",
        "searches": ["f|g"],
    },
    "large": {
        "about": "beyond 2^32, and a total just under 2^53",
        "folded": "main;f 4503599627370497\nmain;g 4294967297\n",
        "searches": ["g"],
    },
    "hostile": {
        "about": "names that are markup, control characters, right-to-left marks, emoji or very long",
        "folded": "main;</script><img src=x onerror=alert(1)> 5\nmain;\u202eevil\u202c 4\nmain;\x1b[31mred\x07 3\n"
        "main;\U0001f525\U0001f525;配列 2\nmain;'\"`$&;=cmd 1\nmain;" + "x" * 5000 + " 6\n",
        "searches": ["<", "\U0001f525", "^x+$"],
    },
    "difference": {
        "about": "before and after merged: kept, grown, new and gone",
        "folded": "main;serve;leak 100\nmain;serve;gone 30\nmain;same 50\n",
        "after": "main;serve;leak 500\nmain;serve;new 40\nmain;same 50\n",
        "searches": ["leak", "gone|new"],
    },
}

Rows = dict[tuple[str, ...], list[float]]


def rows_of(graph: dict[str, Any]) -> Rows:
    """Values by stack: one, or before and after."""
    sides = [read(graph[side]).values_by_stack for side in ("folded", "after") if side in graph]
    stacks = {stack for side in sides for stack in side}
    return {stack: [side.get(stack, [0])[0] for side in sides] for stack in sorted(stacks)}


def read(text: str) -> Any:
    return read_folded(io.BytesIO(text.encode()), resolve=protocol.value_type_named)


def added(values: list[list[float]], columns: int) -> list[float]:
    return [sum(row[column] for row in values) for column in range(columns)]


def expected(rows: Rows, searches: list[str], columns: int) -> dict[str, Any]:
    """Totals of each path and function, and matched totals, counted from the stacks."""
    paths = sorted({stack[:depth] for stack in rows for depth in range(1, len(stack) + 1)})
    names = sorted({name for stack in rows for name in stack})

    def total(picks: Any) -> list[float]:
        return added([values for stack, values in rows.items() if picks(stack)], columns)

    return {
        "total": total(lambda stack: True),
        "paths": [[list(path), total(lambda stack, path=path: stack[: len(path)] == path)] for path in paths],
        "functions": {
            name: {
                "self": total(lambda stack, name=name: stack[-1] == name),
                "total": total(lambda stack, name=name: name in stack),
            }
            for name in names
        },
        "searches": {
            text: total(lambda stack, text=text: any(re.search(text, name) for name in stack)) for text in searches
        },
    }


def encoded(graph: dict[str, Any]) -> bytes:
    before = tree.build(read(graph["folded"]))
    if "after" not in graph:
        return payload.encode(before, 0, overview=False).data
    after = tree.build(read(graph["after"]))
    return payload.encode_diff(tree.merge(before, after, before.value_types[0].name), overview=False).data


def main() -> None:
    for name, graph in GRAPHS.items():
        rows = rows_of(graph)
        columns = 2 if "after" in graph else 1
        found = {key: graph[key] for key in ("about", "folded", "after") if key in graph}
        found["expected"] = expected(rows, graph["searches"], columns)
        (HERE / f"{name}.json").write_text(json.dumps(found, indent=1, ensure_ascii=True) + "\n")
        (HERE / f"{name}.fgb2").write_bytes(encoded(graph))


if __name__ == "__main__":
    main()
