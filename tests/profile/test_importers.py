"""Each importer on files of its own: recognised by content, equal to their golden twins, and safe when damaged."""

from __future__ import annotations

import io
import struct
from pathlib import Path

import pytest

from tracer import protocol
from tracer.profile.errors import MalformedProfile
from tracer.profile.folded import write_folded
from tracer.profile.formats import FORMATS, read_profile
from tracer.profile.model import Profile

DATA = Path(__file__).parents[1] / "data"
OTHERS = ("folded", "perf_script")  # they have tests of their own
GOLDEN = sorted(
    path
    for name in FORMATS
    if name not in OTHERS
    for path in (DATA / name).iterdir()
    if path.suffix not in (".expected", ".md")
)


def read(raw: bytes) -> Profile:
    return read_profile(io.BytesIO(raw), resolve=protocol.value_type_named)


def text_of(profile: Profile) -> str:
    """In our folded form, and which lines were skipped."""
    out = io.BytesIO()
    write_folded(profile, out)
    skipped = [f"# skipped {line.number}: {line.reason}\n" for line in profile.skipped]
    return out.getvalue().decode() + "".join(skipped)


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_file_is_read_as_its_golden_twin_says(path: Path) -> None:
    profile = read(path.read_bytes())

    assert profile.format == path.parent.name
    assert text_of(profile) == path.with_name(f"{path.name}.expected").read_text()


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_line_ends_of_windows_and_a_missing_last_one_change_nothing(path: Path) -> None:
    raw = path.read_bytes()
    if b"\0" in raw or not raw.isascii():
        return  # no text

    assert text_of(read(raw.replace(b"\n", b"\r\n").rstrip())) == text_of(read(raw))


@pytest.mark.parametrize(
    "first", ["--- heapz 1 ---", "--- contentionz 1 ---", "goroutine profile: total 7", "heap profile: a"]
)
def test_relatives_of_the_heap_text_are_refused_by_name(first: str) -> None:
    with pytest.raises(MalformedProfile, match="of this family only profiles of the heap are read"):
        read(f"{first}\n  1: 2 @ 0x1\n".encode())


@pytest.mark.parametrize("words", ["<3Q", "<3I", ">3Q", ">3I"])
def test_a_profile_of_the_processors_time_is_refused_by_name(words: str) -> None:
    with pytest.raises(MalformedProfile, match="a profile of the processor's time"):
        read(struct.pack(words, 0, 3, 0) + bytes(80))


MASSIF = b"desc: (none)\ncmd: ./a\ntime_unit: i\nsnapshot=0\ntime=0\nheap_tree=peak\n"


@pytest.mark.parametrize(
    ("tree", "words"),
    [
        (b"n2: 5 (heap)\n n0: 5 0x1: main (m.c:1)\n", "the end of the file: the tree of snapshot 0 has fewer nodes"),
        (b"n1: 5 (heap)\n n0: 5 0x1: main (m.c:1)\n n0: 5 0x1: g (m.c:2)\n", "line 9: a node that is nobody's child"),
        (b"n3: 5 (heap)\nsnapshot=1\n", "line 8: the tree of snapshot 0 has fewer nodes"),
    ],
)
def test_a_wrong_count_of_children_is_refused_with_its_line(tree: bytes, words: str) -> None:
    with pytest.raises(MalformedProfile, match=words):
        read(MASSIF + tree)


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (b"x 3 /a\n", "line 2: a raw recording"),
        (b"i 1 5 1\n", "an instruction names string 1, there are 0"),
        (b"i 1 0\nt 7 0\n", "trace 1 names an instruction or a trace before it was told"),
        (b"i 1 0\nt 1 9\n", "trace 1 names an instruction or a trace before it was told"),
        (b"a 10 3\n", "names trace 3, there are 0"),
    ],
)
def test_a_heaptrack_file_that_names_what_it_has_not_told_is_refused(lines: bytes, words: str) -> None:
    with pytest.raises(MalformedProfile, match=words):
        read(b"v 10400 3\n" + lines)


def _field(number: int, value: bytes) -> bytes:
    return bytes([number << 3 | 2, len(value)]) + value


TYPES = _field(6, b"") + _field(6, b"samples") + _field(1, b"\x08\x01")  # strings and one sample type


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (_field(2, b"\x0a\x01\x07\x12\x01\x05"), "a sample names location 7, which there is not"),
        (_field(2, b"\x12\x02\x05\x06"), "a sample has 2 values, there are 1 sample types"),
        (_field(2, b"\x12\x02\x05\x06") + _field(2, b"\x12\x00"), "a sample has 0 values, there are 1 sample types"),
        (_field(2, b"\x0a\x01\x07\x12\x01\x05") + _field(4, b"\x08\x07\x22\x02\x08\x09"), "names function 9, which"),
        (_field(1, b"\x08\x63"), "a name is string 99, there are 2"),
        (_field(2, b"\x0a\x05\x07"), "a message ends inside of a field"),
        (_field(2, b"\x0a\x01\xff\x12\x01\x05"), "packed numbers end inside of one"),
        (b"\x12\x7f\x00", "the file ends inside of the field that begins at byte 15"),
        (b"\x48" + b"\xff" * 11, "a number has more than 10 bytes"),
        (_field(4, b"\x0b"), "field 1 has wire type 3, which there is not"),
    ],
)
def test_a_broken_pprof_profile_is_refused_with_what_is_wrong(body: bytes, words: str) -> None:
    with pytest.raises(MalformedProfile, match=words):
        read(TYPES + body)


def test_a_second_leak_check_of_an_xml_file_takes_the_place_of_the_first() -> None:
    path = DATA / "memcheck_xml" / "an-error-and-all-kinds.txt"
    once = path.read_text()
    again = once.replace("</valgrindoutput>", once.partition("<state>FINISHED</state>")[2])

    profile = read(again.encode())

    assert profile.values_by_stack == read(once.encode()).values_by_stack
    assert profile.capture["notes"] == ["The file holds 2 points in time; this is one of them."]


def test_three_tools_agree_on_one_program() -> None:
    """Each ran the same program, which loses 1,788 bytes in 9 blocks."""
    lost = {
        "sanitizer": ("cpp-by-address-sanitizer.txt", ["leaked_bytes"], ["leaked_objects"]),
        "mtrace": ("cpp.txt", ["outstanding_bytes"], ["outstanding_objects"]),
        "memcheck": (
            "cpp-all-kinds.txt",
            ["definitely_lost_bytes", "indirectly_lost_bytes"],
            ["definitely_lost_objects", "indirectly_lost_objects"],
        ),
    }
    for tool, (name, sizes, counts) in lost.items():
        profile = read((DATA / tool / name).read_bytes())

        assert sum(profile.total(profile.column(size)) for size in sizes) == 1788
        assert sum(profile.total(profile.column(count)) for count in counts) == 9


SPEEDSCOPE = '{"$schema": "https://www.speedscope.app/file-format-schema.json", '


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"dhatFileVersion": 3}', "DHAT files of version 3 are not read, only 2"),
        ('{"dhatFileVersion": 2, "ftbl": []}', "there is no list at pps"),
        ('{"dhatFileVersion": 2, "ftbl": [], "pps": [{"tb": 1, "fs": [4]}]}', "number of a frame is '4', there are 0"),
        ('{"dhatFileVersion": 2, "ftbl": [], "pps": [{"tb": "1", "fs": []}]}', "tb is '1', expected a number"),
        ('{"dhatFileVersion": 2, "ftbl": [', "the file is no whole JSON document"),
        (SPEEDSCOPE + '"shared": {}}', "there is no list at shared.frames"),
        (SPEEDSCOPE + '"shared": {"frames": [{}]}}', "a frame has no name"),
        (
            SPEEDSCOPE
            + '"shared": {"frames": []}, "profiles": [{"type": "sampled", "samples": [[0]], "weights": []}]}',
            "there are 1 samples and 0 weights",
        ),
        (
            SPEEDSCOPE + '"shared": {"frames": [{"name": "f"}]}, "profiles": [{"type": "evented", "startValue": 0, '
            '"events": [{"type": "C", "frame": 0, "at": 1}]}]}',
            "an event closes frame '0', which is not the innermost one",
        ),
        (
            SPEEDSCOPE + '"shared": {"frames": []}, "profiles": [{"type": "flat"}]}',
            "is of type 'flat', expected sampled",
        ),
    ],
)
def test_broken_json_is_refused_with_what_is_wrong(text: str, words: str) -> None:
    with pytest.raises(MalformedProfile, match=words):
        read(text.encode())


@pytest.mark.parametrize(
    "report",
    [
        "=={pid}==ERROR: LeakSanitizer: detected memory leaks\n\n"
        "Direct leak of {size} byte(s) in 1 object(s) allocated from:\n    #0 0x1 in f /a.c:1\n\n",
        "=={pid}== {size} bytes in 1 blocks are definitely lost in loss record 1 of 1\n"
        "=={pid}==    at 0x1: f (a.c:1)\n=={pid}== \n=={pid}== LEAK SUMMARY:\n",
    ],
    ids=["sanitizer", "memcheck"],
)
def test_of_each_process_its_last_leak_report_counts(report: str) -> None:
    reports = [report.format(pid=pid, size=size) for pid, size in ((1, 10), (2, 100), (1, 30))]

    profile = read("".join(reports).encode())

    assert profile.total() == 130
    assert profile.capture["notes"] == ["The file holds 2 points in time; this is one of them."]
