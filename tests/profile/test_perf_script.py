"""`perf script` text: golden twins, totals counted by others, what each event is worth, and damaged files."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracer import protocol
from tracer.profile.errors import EmptyProfile, LimitExceeded, MalformedProfile, ProfileError
from tracer.profile.folded import write_folded
from tracer.profile.formats import read_profile
from tracer.profile.model import Limits, Number, Profile

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "data" / "perf_script"
CAPTURES = sorted(DATA.glob("*.txt"))
COUNTED = sorted(DATA.glob("*.totals.json"))


def read(content: bytes, limits: Limits | None = None) -> Profile:
    return read_profile(io.BytesIO(content), resolve=protocol.value_type_named, limits=limits)


def totals(profile: Profile) -> dict[str, Number]:
    return {known.name: profile.total(column) for column, known in enumerate(profile.value_types)}


def stacks(*frames: str, head: str = "svc 7/8 [000] 1.000001:  3 page-faults:") -> list[tuple[str, ...]]:
    text = "\n".join([head, *(f"\t{frame}" for frame in frames)])
    return [stack for stack, _ in read(text.encode()).rows()]


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.stem)
def test_a_capture_converts_to_its_golden_twin(path: Path) -> None:
    out = io.BytesIO()

    write_folded(read(path.read_bytes()), out)

    assert out.getvalue().decode() == path.with_suffix(".expected").read_text()


def test_the_captures_hold_what_their_programs_did() -> None:
    by_file = {path.stem: totals(read(path.read_bytes())) for path in CAPTURES}

    brk = by_file["brk-by-address"]
    assert brk["syscalls:sys_exit_brk.bytes"] == 11 * 12288 + 4096 - 20480
    assert brk["syscalls:sys_exit_brk.calls"] == brk["syscalls:sys_enter_brk.calls"] == 25
    assert by_file["uprobe-size"] == {"memflame_golden:malloc.bytes": 23 * 4096, "memflame_golden:malloc.calls": 23}
    assert by_file["dwarf-inlines"] == {"page-faults:u": 32}
    mapped = by_file["mmap-munmap-mremap"]
    assert mapped["syscalls:sys_enter_munmap.bytes"] == (13 * 32 + 20 + 10) * 4096
    assert mapped["syscalls:sys_enter_mremap.bytes"] == (53 - 8) * 4096
    assert mapped["syscalls:sys_enter_mmap.calls"] == 5 + 13 + 1 + 2 + 1 + 3 + 1


@pytest.mark.parametrize("path", COUNTED, ids=lambda path: path.stem)
def test_a_file_has_the_totals_that_were_counted_by_others(path: Path) -> None:
    want = json.loads(path.read_text())["events"]
    source = path.with_name(path.name.removesuffix(".totals.json"))
    try:
        got = totals(read(source.read_bytes()))
    except EmptyProfile:
        assert not any(event["with_stack"] for event in want.values())
        return

    for name, event in want.items():
        assert got.get(name.lower(), got.get(f"{name}.calls")) == event["period_sum"]
        if event["payload_sum"]:
            assert got[f"{name}.bytes"] == event["payload_sum"]


def test_the_module_of_a_frame_begins_at_its_last_parenthesis() -> None:
    assert stacks(
        "7f02 long Service.handle(Request, int) (/tmp/perf-7.map)",
        "1189 std::function<int (int, int)>::operator()+0x23 (/srv/my app/worker)",
        "12ab operator new(unsigned long)+0x1 (/usr/lib/libstdc++.so.6 (deleted))",
    ) == [
        (
            "svc",
            "operator new(unsigned long)",
            "std::function<int (int, int)>::operator()",
            "long Service.handle(Request, int)",
        )
    ]


@pytest.mark.parametrize(
    ("frame", "names"),
    [
        ("7f03 [unknown] (/usr/lib/libjvm.so)", ["[libjvm.so]"]),
        ("7f03 [unknown] ([unknown])", ["[unknown]"]),
        ("7f03 [unknown] ([vdso])", ["[vdso]"]),
        ("7f03  (/usr/lib/libc.so.6)", ["[libc.so.6]"]),
        ("7f03 JIT ([JIT app cache])", ["JIT"]),
        ("7f03 malloc+0x12", ["malloc"]),
        ("7f03\tLock::unlock() (/system/lib/libc.so)", ["Lock::unlock()"]),
        ("7f03 LA;::a->LB;::b->LC;::c (/tmp/perf-7.map)", ["LA;::a", "LB;::b_[i]", "LC;::c_[i]"]),
        ("7f03 Ptr::operator->() const (/srv/app)", ["Ptr::operator->() const"]),
        ("7f03 load_index+0x2d (inlined)", ["load_index"]),
        ("7f03 größe (/srv/app)", ["größe"]),
    ],
)
def test_a_frame_is_named(frame: str, names: list[str]) -> None:
    assert stacks(frame) == [("svc", *names)]


@pytest.mark.parametrize(
    ("head", "command"),
    [
        ("pool worker #1 7 1.000001: 3 page-faults:", "pool worker #1"),
        ("x [worker]: 2 7/8 [001] 1.000001: page-faults/period=3/:", "x [worker]: 2"),
        ("perf-exec -1/-1 1.000001: 3 page-faults:u:", "perf-exec"),
        ("java 19983 cycles:", "java"),
        ("  dd 29776 666709.771979:   10101010 cpu-clock: ", "dd"),
    ],
)
def test_a_head_is_read(head: str, command: str) -> None:
    assert stacks("7f03 main (/srv/app)", head=head) == [(command, "main")]


def test_periods_add_up_and_events_stay_apart() -> None:
    sample = "svc 7 1.5: {} {}:\n\t1 f (/srv/app)\n\n"

    profile = read("".join(sample.format(n, e) for n, e in [(3, "faults"), (4, "faults"), (9, "cycles")]).encode())

    assert profile.values_by_stack == {("svc", "f"): [7, 9]}
    assert [known.name for known in profile.value_types] == ["faults", "cycles"]


@pytest.mark.parametrize(
    ("event", "payload", "value", "amount"),
    [
        ("syscalls:sys_enter_mmap", "addr: 0x00000000, len: 0x00002000, prot: 0x3", "bytes", 8192),
        ("syscalls:sys_enter_mremap", "addr: 0x1, old_len: 0x2000, new_len: 0x1000, flags: 0x1", "bytes", -4096),
        ("probe_libc:malloc", "(7f17a0e98930) size=0x40", "bytes", 64),
        ("probe_libc:calloc", "(7f17a0e98930) nmemb=3 size=20", "bytes", 60),
        ("kmem:kmalloc", "call_site=f+0x1 ptr=0xffff bytes_req=20 bytes_alloc=32 gfp_flags=GFP_KERNEL", "bytes", 32),
        ("syscalls:sys_enter_brk", "brk: 0x00000000", "calls", 1),
        ("exceptions:page_fault_user", "address=0x7f13 ip=0x55 error_code=0x6", "", 1),
        ("syscalls:sys_enter_read", "fd: 0x3, buf: 0x1, count: 0x100", "", 1),
    ],
)
def test_arguments_of_a_tracepoint_give_bytes(event: str, payload: str, value: str, amount: int) -> None:
    got = totals(read(f"svc 7 [000] 1.5: {event}: {payload}\n\t1 f (/srv/app)\n".encode()))

    assert got[f"{event}.{value}" if value else event] == amount


def test_an_address_given_to_brk_is_never_a_number_of_bytes() -> None:
    calls = [(7, 0x5000), (8, 0x90000), (7, 0x8000), (7, 0), (7, 1 << 46), (8, 0x8F000), (7, 0x9000)]
    text = "".join(f"svc {pid}/{pid} 1.5: syscalls:sys_enter_brk: brk: {end:#x}\n\t1 f (/a)\n\n" for pid, end in calls)

    got = totals(read(text.encode()))

    assert got == {"syscalls:sys_enter_brk.bytes": 0x3000 - 0x1000 + 0x1000, "syscalls:sys_enter_brk.calls": 7}


def test_what_perf_lost_is_told() -> None:
    capture = read((DATA / "no-blank-lines-between.txt").read_bytes()).capture

    assert capture["lost"] == {"perf_lost": 17}
    assert capture["events"] == 3


def test_bad_lines_are_skipped_counted_and_shown() -> None:
    profile = read(b"svc 7 1.5: 1 faults:\n\tno frame\n\t1 f (/a)\n\n\t2 stray (/a)\nprose\n")

    assert [(line.number, line.text) for line in profile.skipped] == [
        (2, "no frame"),
        (5, "2 stray (/a)"),
        (6, "prose"),
    ]
    assert profile.values_by_stack == {("svc", "f"): [1]}


def test_lines_of_sources_between_frames_are_no_bad_lines() -> None:
    profile = read(
        b"svc 7 1.5: 1 faults:\n\t1 f+0x1 (/a)\n  load.c:84\n\t1 g (inlined)\n  load.h:478 (inlined)\n"
        b"\t2 main+0x3 (/a)\n  a[2]\n"
    )

    assert profile.skipped_lines == 0
    assert [stack[1:] for stack, _ in profile.rows()] == [("main", "g", "f")]


def test_a_sample_without_a_stack_counts_for_its_command() -> None:
    profile = read(b"svc 7 1.5: 5 faults:\n\nsvc 7 1.6: 1 faults:\n\t1 f (/a)\n")

    assert profile.values_by_stack == {("svc",): [5], ("svc", "f"): [1]}
    assert profile.capture["notes"] == ["Samples without a stack, counted for their command alone: 1."]


def test_a_file_without_any_stack_is_refused() -> None:
    with pytest.raises(EmptyProfile, match=r"none of the 2 samples has a stack: record with `perf record -g`"):
        read(b"svc 7 1.5: 5 faults:\nsvc 7 1.6: 1 faults:\n")


@pytest.mark.parametrize("encode", [gzip.compress, lambda text: text.decode().encode("utf-16")])
def test_it_is_known_when_packed_or_in_utf_16(encode: Callable[[bytes], bytes]) -> None:
    content = (DATA / "dwarf-inlines.txt").read_bytes()

    assert read(encode(content)).values_by_stack == read(content).values_by_stack


SMALL = Limits(line_bytes=1000, stack_frames=20, name_bytes=100, lines=50, frames=30)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"a 1 1.5: 1 e:\n" + b"\t1 f (/a)\n" * 21, "number of frames in a stack is 21, the limit is 20"),
        (b"a 1 1.5: 1 e:\n\t1 " + b"f" * 101, "length of a frame's name in bytes is 101, the limit is 100"),
        (b"a 1 1.5: 1 e:\n\t1 f\n" * 30, "line 50: number of lines is more than 50"),
        (b"a 1 1.5: 1 e:\n\t1 " + b"f" * 1000, "line 2: length of a line in bytes is more than 1,000"),
        (
            b"".join(b"%c 1 1.5: 1 e:\n%s\n" % (command, b"\t1 f\n" * 19) for command in b"ab"),
            "number of frames in all stacks is 40, the limit is 30",
        ),
        (
            b"".join(b"a 1 1.5: 999999999999999999 e:\n\t1 f\n\n" for _ in range(10)),
            "sum of e is 9,999,999,999,999,999,990, the limit is 9,223,372,036,854,775,807",
        ),
    ],
)
def test_each_limit_is_refused_in_words(content: bytes, words: str) -> None:
    with pytest.raises(LimitExceeded) as caught:
        read(content, SMALL)

    assert words in str(caught.value)


def test_more_events_than_a_profile_holds_are_refused() -> None:
    with pytest.raises(LimitExceeded, match="number of events is 33, the limit is 32"):
        read(b"".join(b"a 1 1.5: 1 e%d:\n\t1 f\n\n" % number for number in range(40)))


def test_a_nul_is_refused_with_its_line() -> None:
    with pytest.raises(MalformedProfile, match="line 3 holds a NUL"):
        read(b"a 1 1.5: 1 e:\n\t1 f\n\t2 \0\n")


def test_a_file_without_blank_lines_is_read_in_parts() -> None:
    text = b"a 1 1.5: 1 e:\n" + b"\t1 f (/a)\n" * 3

    assert read(text * 60_000).values_by_stack == {("a", "f", "f", "f"): [60_000]}


@given(st.sampled_from(CAPTURES), st.data())
def test_a_damaged_capture_is_read_or_refused_in_words(path: Path, data: st.DataObject) -> None:
    content = bytearray(path.read_bytes()[:6000])
    for _ in range(data.draw(st.integers(1, 6))):
        place = data.draw(st.integers(0, len(content) - 1))
        piece = data.draw(st.binary(max_size=8) | st.sampled_from([b"\n", b"\n\n", b":", b"0x", b"(", b" " * 300]))
        content[place : place + data.draw(st.integers(0, 40))] = piece

    try:
        profile = read(bytes(content))
    except ProfileError:
        return
    assert profile.stack_count > 0


@pytest.mark.parametrize(
    "line", [b"a 1 " * 200_000, b"a" + b" " * 800_000, b"a 1 1.5: " + b":" * 800_000, b"\t1 f" + b" (" * 400_000]
)
def test_a_hostile_line_costs_no_more_than_its_length(line: bytes) -> None:
    assert read(b"a 1 1.5: 1 e:\n\t1 f (/a)\n\n" + line, Limits(name_bytes=1 << 20)).stack_count >= 1
