"""Files that are broken, or made to hurt: a clear error or a counted skip, in bounded time and memory."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from tests.profile.made_files import MAKERS, field, lines, pprof, varint
from tracer import protocol
from tracer.profile import tree
from tracer.profile.errors import LimitExceeded, MalformedProfile, ProfileError
from tracer.profile.formats import FORMATS, read_profile
from tracer.profile.model import Limits, Profile

DATA = Path(__file__).parents[1] / "data"
MAX_SECONDS = 20  # of the processor; most take less than one


def read(raw: bytes, limits: Limits | None = None) -> Profile:
    return read_profile(io.BytesIO(raw), resolve=protocol.value_type_named, limits=limits)


def plain_stacks(profile: Profile, depth: int) -> list[tuple[str, ...]]:
    """The innermost frames, without the module that DTrace names and the allocation functions that massif adds."""
    stacks = (stack[:-1] if profile.format == "massif" else stack for stack, _ in profile.rows())
    return [tuple(name.removeprefix("a`") for name in stack[-depth:]) for stack in stacks]


WITHOUT_NAMES = {"gperftools", "mtrace"}  # addresses only; mtrace has no stacks either


def test_each_format_is_made_to_hurt() -> None:
    assert set(FORMATS) - set(MAKERS) - WITHOUT_NAMES == set()


@pytest.mark.parametrize("name", MAKERS)
def test_a_stack_reads_as_what_it_was_made_of(name: str) -> None:
    profile = read(MAKERS[name](["main", "load", "grow"]))

    assert profile.format == name
    assert 3 in [profile.total(column) for column in range(len(profile.columns))]
    if name not in WITHOUT_NAMES:
        assert plain_stacks(profile, 3) == [("main", "load", "grow")]


@pytest.mark.parametrize("name", MAKERS)
def test_a_stack_of_100_000_frames_is_refused_in_words(name: str) -> None:
    raw, started = MAKERS[name]([f"f{place % 7}" for place in range(100_000)]), time.process_time()

    with pytest.raises(LimitExceeded, match="frames in a stack is (100,00[01]|65,53[67]), the limit is 65,536"):
        read(raw)

    assert time.process_time() - started < MAX_SECONDS


@pytest.mark.parametrize("name", ["folded", "heaptrack", "massif", "pprof"])
def test_a_stack_of_20_000_frames_is_a_tree(name: str) -> None:
    profile = read(MAKERS[name]([f"f{place % 7}" for place in range(20_000)]))

    call_tree = tree.unpack(tree.pack(tree.build(profile)))

    assert len(call_tree.levels) > 20_000


@pytest.mark.parametrize("name", sorted(set(MAKERS) - WITHOUT_NAMES))
def test_a_name_of_10_mb_is_refused_in_words(name: str) -> None:
    raw, started = MAKERS[name](["main", "n" * 10_000_000, "grow"]), time.process_time()

    with pytest.raises(LimitExceeded, match="in bytes is (more than )?[0-9,]+, the limit is 65,536"):
        read(raw)

    assert time.process_time() - started < MAX_SECONDS


@pytest.mark.parametrize("name", sorted(set(MAKERS) - WITHOUT_NAMES - {"folded"}))
def test_names_of_cpp_and_rust_are_kept_whole(name: str) -> None:
    """Never cut at a parenthesis, whatever is in it."""
    names = [
        "(anonymous namespace)::Pool::grow(unsigned long)",
        "std::function<int (int, int)>::operator()(int, int) const",
        "operator new(unsigned long)",
        "void std::vector<(anonymous namespace)::Big, std::allocator<void*> >::emplace_back<int>(int&&)",
        "<alloc::vec::Vec<T, A> as core::iter::traits::collect::Extend<&T>>::extend",
        "operator<<(std::ostream&, char const*)",
        "core::ops::function::impls::<impl core::ops::function::FnMut<A> for &mut F>::call_mut",
    ]

    profile = read(MAKERS[name](names))

    assert plain_stacks(profile, len(names)) == [tuple(names)]


# --- broken -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", sorted((DATA / "pprof").glob("*.pb*[bz]")), ids=lambda path: path.name)
def test_a_truncated_pprof_profile_is_refused(path: Path) -> None:
    packed = path.read_bytes()
    raw = gzip.decompress(packed) if path.suffix == ".gz" else packed

    for end in {*range(1, len(raw), len(raw) // 60), len(raw) - 1}:
        with pytest.raises(ProfileError):  # the names stand last: without them nothing is whole
            read(raw[:end])
    if path.suffix == ".gz":
        with pytest.raises(MalformedProfile, match="the gzip data is damaged"):
            read(packed[:-9])


def test_a_string_out_of_range_is_refused_with_its_number() -> None:
    broken = field(1, field(1, 1) + field(2, 99)) + field(2, field(2, varint(3))) + field(6, b"") + field(6, b"space")

    with pytest.raises(MalformedProfile, match="a name is string 99, there are 2"):
        read(broken)


def test_samples_with_more_values_than_there_can_be_types_are_refused() -> None:
    with pytest.raises(ProfileError, match="number of values is 100,000, the limit is"):
        read(field(1, field(1, 1)) + field(6, b"") + field(6, b"x") + field(2, field(2, b"\1" * 100_000)))


def test_a_trace_of_heaptrack_that_calls_itself_is_refused() -> None:
    with pytest.raises(MalformedProfile, match="trace 1 names an instruction or a trace before it was told"):
        read(lines("v 10400 3", "s 1 a", "i 1 1", "t 1 1", "a 3 1", "+ 0"))


def test_locations_of_pprof_that_name_each_other_are_no_cycle() -> None:
    """A location names functions, and a function names strings: whatever is repeated in a stack is finite."""
    profile = read(pprof(["again"] * 50))

    assert profile.values_by_stack == {("again",) * 50: [3]}


def test_frames_of_speedscope_that_close_in_another_order_are_refused() -> None:
    shared = '"shared": {"frames": [{"name": "a"}, {"name": "b"}]}'
    events = ", ".join(
        f'{{"type": "{kind}", "frame": {frame}, "at": {at}}}'
        for kind, frame, at in [("O", 0, 0), ("O", 1, 1), ("C", 0, 2)]
    )
    schema = '"$schema": "https://www.speedscope.app/file-format-schema.json"'
    profiles = f'"profiles": [{{"type": "evented", "startValue": 0, "events": [{events}]}}]'

    with pytest.raises(MalformedProfile, match="closes frame '0', which is not the innermost one"):
        read(f"{{{schema}, {shared}, {profiles}}}".encode())


@pytest.mark.parametrize("name", ["jemalloc", "gperftools"])
def test_a_heap_without_its_maps_has_addresses(name: str) -> None:
    text = {
        "jemalloc": lines("heap_v2/1", "  t*: 1: 3 [0: 0]", "@ 0x30 0x21 0x11", "  t*: 1: 3 [0: 0]"),
        "gperftools": lines("heap profile: 1: 3 [1: 3] @ heapprofile", "1: 3 [1: 3] @ 0x30 0x21 0x11"),
    }[name]

    assert [stack for stack, _ in read(text).rows()] == [("0x10", "0x20", "0x30")]


# The program's own output between valgrind's lines, and the program that `stackcount --debug` prints before its first.
PASSED_OVER = ("memcheck", "stackcount")


@pytest.mark.parametrize(
    ("first", "second"), [(first, second) for first in MAKERS for second in MAKERS if first != second]
)
def test_two_formats_in_one_file_are_refused_or_what_is_not_read_is_counted(first: str, second: str) -> None:
    frames = ["main", "load", "grow"]
    raw = MAKERS[first](frames) + b"\n" + MAKERS[second](frames)

    try:
        profile = read(raw)
    except ProfileError as error:
        assert str(error)
    else:
        assert profile.skipped_lines > 0 or profile.format in PASSED_OVER


# --- bombs ------------------------------------------------------------------------------------------------------------

PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": lambda text: gzip.compress(text, 9),
    "bzip2": lambda text: bz2.compress(text, 9),
    "xz": lzma.compress,
    "zstd": lambda text: zstandard.ZstdCompressor(level=3).compress(text),
}
READ_BOUNDED = """
import resource, sys, time
from tracer import protocol
from tracer.profile.errors import ProfileError
from tracer.profile.formats import FORMATS, read_profile
from tracer.profile.model import Limits
resource.setrlimit(resource.RLIMIT_AS, (1 << 31, 1 << 31))
before, started = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
try:
    read_profile(open(sys.argv[1], "rb"), resolve=protocol.value_type_named, limits=Limits(lines=200_000))
except ProfileError as error:
    print(error, file=sys.stderr)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024, time.process_time() - started)
"""


def read_apart(path: Path) -> tuple[int, float, str]:
    """By how many MB a process of its own grew, how many seconds it took, and what it said."""
    done = subprocess.run([sys.executable, "-c", READ_BOUNDED, str(path)], capture_output=True, text=True, check=True)
    grown, seconds = done.stdout.split()
    return int(grown), float(seconds), done.stderr


@pytest.mark.parametrize(
    "piece", [b"x", b" ", b"\n", b"    \n", b"0", b"a ", b"@[", b"==1== ", b"0x", b"#0 0x1 ", b"{", b"\x80"]
)
def test_no_first_bytes_take_long_to_be_recognised(piece: bytes) -> None:
    head, started = piece * ((256 << 10) // len(piece)), time.process_time()

    for importer in FORMATS.values():
        importer.matches(head)

    assert time.process_time() - started < MAX_SECONDS


@pytest.mark.parametrize("packing", PACKERS)
def test_512_mb_of_nothing_in_a_small_file_are_refused_in_bounded_memory(packing: str, tmp_path: Path) -> None:
    part = PACKERS[packing](bytes(64 << 20))
    (tmp_path / "bomb").write_bytes(part * 8)

    grown, seconds, said = read_apart(tmp_path / "bomb")

    assert said
    assert grown < 100
    assert seconds < MAX_SECONDS


@pytest.mark.parametrize(
    ("piece", "words"),
    [
        (b"a;b 1\n", "number of lines is more than 200,000"),
        (b"x", "length of a line in bytes is more than 16,777,216"),
        (b"\x12\x00", "number of samples is 200,001, the limit is 200,000"),
        (b"\x32\x00", "entries of its tables"),
        (b"\x48\x00", "number of single fields is 200,001, the limit is 200,000"),
    ],
    ids=["lines", "one line", "samples of pprof", "strings of pprof", "numbers of pprof"],
)
def test_512_mb_of_one_thing_in_16_kb_of_zstd_are_refused_in_bounded_memory(
    piece: bytes, words: str, tmp_path: Path
) -> None:
    head = field(1, field(1, 1)) + field(6, b"") if piece[0] in b"\x12\x32\x48" else b""
    text = head + piece * ((512 << 20) // len(piece))
    packed = zstandard.ZstdCompressor(level=3).compress(text)
    assert len(packed) < 64 << 10
    (tmp_path / "bomb").write_bytes(packed)

    grown, seconds, said = read_apart(tmp_path / "bomb")

    assert words in said
    assert grown < 500
    assert seconds < MAX_SECONDS
