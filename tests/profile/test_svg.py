"""The flame graph as one SVG file: what a picture says without its script."""

from __future__ import annotations

import io
import json
import os
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from tracer import protocol
from tracer.profile import tree
from tracer.profile.export.picture import Picture
from tracer.profile.export.svg import write_diff_svg, write_svg
from tracer.profile.export.svg.colours import change_class, name_class
from tracer.profile.export.svg.frames import frames_of
from tracer.profile.formats import read_profile

GOLDEN = Path(__file__).parents[1] / "data" / "svg"
SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = (
    b"main;std::vector<int, std::allocator<int> >::push_back 70\nmain;</title><script>alert(1)</script>&\x1b]]> 30\n"
)


def tree_of(raw: bytes) -> tree.CallTree:
    return tree.build(read_profile(io.BytesIO(raw), resolve=protocol.value_type_named))


def svg_of(raw: bytes, picture: Picture = Picture()) -> str:  # noqa: B008 - frozen
    out = io.StringIO()
    write_svg(tree_of(raw), 0, out, picture)
    return out.getvalue()


def diff_svg_of(before: bytes, after: bytes, picture: Picture = Picture(), note: str = "") -> str:  # noqa: B008 - frozen
    sides = tree_of(before), tree_of(after)
    out = io.StringIO()
    write_diff_svg(tree.merge(*sides, sides[0].value_types[0].name), out, picture, note=note)
    return out.getvalue()


def frames(text: str) -> list[ElementTree.Element]:
    return list(ElementTree.fromstring(text).iterfind(f".//{SVG}g[@class='f']"))


def titles(text: str) -> list[str]:
    return [frame.findtext(f"{SVG}title", "") for frame in frames(text)]


def words(text: str, kind: str) -> str:
    found = ElementTree.fromstring(text).find(f".//{SVG}text[@class='{kind}']")
    assert found is not None
    return "".join(found.itertext())


SERVICE = (
    b"# memflame-folded 1\n# values: outstanding_bytes\nmain;serve;load 4096\nmain;serve;leak 94208\nmain;start 128\n"
)
LATER = (
    b"# memflame-folded 1\n# values: outstanding_bytes\nmain;serve;load 1024\nmain;serve;leak 188416\nmain;new 512\n"
)
PICTURES = {
    "service": lambda: svg_of(SERVICE, Picture(title="search-api")),
    "service-warm-icicle": lambda: svg_of(SERVICE, Picture(palette="warm", is_icicle=True, width=800, font="Inter")),
    "difference": lambda: diff_svg_of(SERVICE, LATER, Picture(title="v1 and v2")),
}


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_the_same_every_time(name: str) -> None:
    text = re.sub(r"<script><!\[CDATA\[.*]]></script>|<style>.*?</style>", "", PICTURES[name](), flags=re.DOTALL)
    if os.environ.get("MEMFLAME_GOLDEN"):
        (GOLDEN / f"{name}.svg").write_text(text)

    assert text == (GOLDEN / f"{name}.svg").read_text()


def test_it_says_title_count_and_total_in_words() -> None:
    text = svg_of(SERVICE, Picture(title="search-api"))

    assert words(text, "title") == "search-api"
    assert words(text, "quiet summary") == "Bytes allocated while tracing and not freed yet: 96.1\u00a0kB"
    assert "leak\ntotal 92.0\u00a0kB, 95.7\u00a0% of all; self 92.0\u00a0kB" in titles(text)


def test_a_count_name_is_the_unit_of_numbers_without_one() -> None:
    assert words(svg_of(b"main 2048\n", Picture(count_name="bytes")), "quiet summary").endswith(": 2.0\u00a0kB")


def test_T11_it_says_how_many_frames_are_hidden_and_their_sum() -> None:
    raw = b"".join(b"root;child_%d 1\n" % number for number in range(20_000))

    text = svg_of(raw, Picture(count_name="bytes"))

    assert len(titles(text)) == 2
    assert words(text, "quiet hidden-frames").startswith(
        "20,000\u00a0frames narrower than 0.5 px: 19.5\u00a0kB together, not drawn"
    )


def test_T14_names_are_escaped_and_stay_whole() -> None:
    text = svg_of(HOSTILE)

    shown = [title.splitlines()[0] for title in titles(text)]
    assert "std::vector<int, std::allocator<int> >::push_back" in shown
    assert "</title><script>alert(1)</script>&\ufffd]]>" in shown
    assert [len(part) for part in (re.findall("<script", text), re.findall("alert", text))] == [2, 3]


def test_the_script_gets_every_frame_with_exact_numbers() -> None:
    root = ElementTree.fromstring(svg_of(b"main;a 9007199254740993\nmain;b 3\n"))

    data = json.loads(root.findtext(f"{SVG}script[@type='application/json']", ""))

    assert [data["names"][number] for number in data["name"][1:]] == ["main", "a", "b"]
    assert (data["children"], data["self"]) == ([1, 2, 0, 0], [0, 0, 9007199254740993, 3])


def test_of_too_many_frames_the_file_leaves_out_the_narrow_ones_and_counts_them() -> None:
    small = tree_of(b"".join(b"main;frame_%d %d\n" % (number, number) for number in range(1, 101)))

    found = frames_of(small, small.selfs[0], [small.selfs[0]], most=12)

    assert len(found) == 12
    assert (found.absent.frames, found.absent.amount, found.absent.widest) == (90, sum(range(1, 91)), 90)
    assert found.totals[0][0] == 5050


def test_siblings_stand_side_by_side_the_widest_first() -> None:
    small = tree_of(b"a;x 1\na;y 5\nb;x 3\na 2\n")

    found = frames_of(small, small.selfs[0], [small.selfs[0]])

    edges = list(zip([found.names[name] for name in found.name[1:]], found.start[1:], found.width[1:], strict=True))
    assert edges == [("a", 0, 8), ("b", 8, 3), ("y", 0, 5), ("x", 5, 1), ("x", 8, 3)]


def test_amounts_below_0_are_as_wide_as_they_are_and_hatched() -> None:
    text = svg_of(b"main;grow 5\nmain;shrink -3\n")

    assert "shrink\nnet \u22123, 37.5\u00a0% of all movement; self \u22123" in titles(text)
    assert text.count("url(#new)") == 1


def test_a_difference_has_both_values_and_the_change_of_each_frame() -> None:
    text = diff_svg_of(SERVICE, LATER)

    assert "leak\nbefore 92.0\u00a0kB, after 184.0\u00a0kB; change +92.0\u00a0kB, +100\u00a0%" in titles(text)
    assert any(title.startswith("start\n") and title.endswith("gone") for title in titles(text))
    assert "as wide as the larger side" in text


def test_by_after_what_is_gone_has_no_width_and_the_legend_does_not_name_it() -> None:
    text = diff_svg_of(SERVICE, LATER, Picture(width_mode="after"))

    assert not any(title.startswith("start\n") for title in titles(text))
    assert "path is gone" not in text


def test_a_scaled_difference_says_so() -> None:
    text = diff_svg_of(SERVICE, LATER, note="values before times 1.5")

    assert "after minus before (values before times 1.5)" in words(text, "quiet summary")


def test_names_and_changes_have_the_colours_of_the_site() -> None:
    assert [name_class(name) for name in ("main", "malloc", "naïve 🦀")] == ["m8", "m3", "m2"]
    assert [change_class(100, after, 200) for after in (100, 109, 110, 200, 0)] == ["d0", "d0", "u1", "u3", "d3"]


def test_a_font_can_not_end_its_rule() -> None:
    assert "evil" in svg_of(SERVICE, Picture(font='x"} evil{</style>'))
    assert "evil{" not in svg_of(SERVICE, Picture(font='x"} evil{</style>'))


def test_a_stack_of_30_000_frames_is_drawn() -> None:
    assert len(titles(svg_of(b";".join([b"f"] * 30_000) + b" 1\n"))) == 30_001


def test_where_all_values_are_0_the_root_stands_alone() -> None:
    text = svg_of(b"# memflame-folded 1\n# values: outstanding_bytes\nmain;a 0\nmain;b 0\n")

    assert titles(text) == ["all\ntotal 0\u00a0B, 0.0\u00a0% of all; self 0\u00a0B"]
    assert 'width="1167.00"' in text


def test_T9_values_below_0_are_in_the_total() -> None:
    assert words(svg_of(b"main;a 15\nmain;b -5\n"), "quiet summary").endswith(": 10")
