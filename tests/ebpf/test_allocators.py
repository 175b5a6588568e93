"""Functions that a run names itself: pools by library and name, and a stripped program's by address."""

from __future__ import annotations

import os
import shutil
import struct

import pytest

from tracer.collectors import CollectorError
from tracer.symbols.elf import ElfFile

POOL = {
    "alloc": "libarena.so:arena_get@2,libarena.so:arena_get_many@5*2,libarena.so:_ZN5arena4takeEm",
    "free": "libarena.so:arena_put@2",
}


@pytest.fixture(scope="module")
def of_pool(launch, record):
    return record(launch("arena_user"), "malloc", **POOL)


@pytest.mark.parametrize(
    "function, values",
    [
        ("keep_from_arena", (10_100, 101, 10_100, 101)),
        ("keep_many", (840, 7, 840, 7)),
        ("give_back", (0, 0, 3392, 53)),
        ("keep_after_refusal", (800, 10, 800, 10)),
        ("keep_malloc", (0, 0, 0, 0)),
    ],
)
def test_a_pool_is_recorded_alone(of_pool, function, values):
    assert of_pool.values(function) == values


def test_the_last_frame_is_the_pools_function(of_pool):
    assert of_pool.tails("keep_from_arena") == {("arena_get",)}
    assert of_pool.tails("keep_after_refusal") == {("arena::take(unsigned long)",)}
    assert of_pool.capture["allocators"] == ["libarena.so"]


def test_with_the_usual_functions_what_a_pool_takes_from_malloc_belongs_to_its_call(launch, record):
    recorded = record(launch("arena_user"), "malloc", **{**POOL, "alloc": f"{POOL['alloc']},default"})

    assert recorded.values("keep_from_arena") == (10_100, 101, 10_100, 101)
    assert recorded.values("keep_malloc") == (330, 11, 330, 11)
    assert recorded.capture["lost"] == {}


@pytest.mark.parametrize(
    "options, reason",
    [
        ({"alloc": "libarene.so:arena_get"}, r"process has no libarene.so, but libarena.so"),
        (
            {"alloc": "libarena.so:arena_gets"},
            r"libarena.so has no function arena_gets, but arena_get and arena_get_many",
        ),
        ({"addr": "mallok=0x1000"}, r"option addr names 'mallok', but malloc"),
        ({"addr": "malloc=0x1"}, r"malloc is not at 0x1: the program has no code there"),
    ],
)
def test_what_is_not_there_is_named_with_what_is_like_it(launch, recording_of, options, reason):
    with pytest.raises(CollectorError, match=reason):
        recording_of(launch("arena_user"), "malloc", **options).__enter__()


@pytest.fixture(scope="module")
def stripped(programs, tmp_path_factory):
    path = tmp_path_factory.mktemp("stripped") / "stripped"
    shutil.copy(programs / "leaky-static", path)
    raw = bytearray(path.read_bytes())
    # No section headers, as from a stripper that removes them all.
    struct.pack_into("=Q", raw, 0x28, 0)  # e_shoff
    struct.pack_into("=3H", raw, 0x3A, 0, 0, 0)  # e_shentsize, e_shnum, e_shstrndx
    path.write_bytes(raw)
    return path


def test_a_program_without_symbols_and_libraries_is_refused_with_a_reason(launch, recording_of, stripped):
    with pytest.raises(
        CollectorError, match="no allocator function .* linked statically and stripped .*--addr malloc="
    ):
        recording_of(launch(stripped), "malloc").__enter__()


def test_a_program_without_symbols_is_followed_by_addresses(launch, record, programs, stripped):
    addresses = ",".join(f"{name}={_address(programs / 'leaky-static', name):#x}" for name in ("malloc", "free"))

    recorded = record(launch(stripped), "malloc", addr=addresses)

    assert recorded.capture["allocators"] == ["stripped"]
    assert recorded.profile.total() == 23 * 4096
    assert recorded.profile.total(3) == 23 + 1009
    assert recorded.capture["lost"] == {}


def _address(path, name):
    """As `nm` shows it."""
    fd = os.open(path, os.O_RDONLY)
    try:
        with ElfFile(fd) as elf:
            return elf.exported_functions()[name].address
    finally:
        os.close(fd)


@pytest.mark.parametrize(
    "library, leaves",
    [
        ("libjemalloc.so.2", {("mallocx",), ("rallocx",)}),
        ("libmimalloc.so.2", {("mi_malloc_aligned",), ("mi_realloc_aligned",)}),
    ],
)
def test_functions_that_one_allocator_has_and_its_sized_frees_are_followed(launch, record, library, leaves):
    recorded = record(launch("own_names", LD_PRELOAD=library), "malloc")

    assert recorded.values("keep_own") == (1600, 10, 2280, 26)
    assert recorded.tails("keep_own") == leaves


def test_an_allocator_under_a_prefix_that_is_hidden_in_the_program_is_found(launch, record):
    recorded = record(launch("own_names"), "malloc")

    assert recorded.values("keep_hidden") == (2200, 11, 2520, 16)
    assert recorded.tails("keep_hidden") == {("je_malloc",)}
    assert recorded.capture["allocators"] == ["own_names", "libc.so.6"]


@pytest.mark.parametrize("name", ["leaky-musl", "leaky-musl-static"])
def test_musls_malloc_is_followed(launch, record, name):
    recorded = record(launch(name), "malloc")

    assert recorded.values("leak_cache") == (23 * 4096, 23, 23 * 4096, 23)
    assert recorded.values("serve_requests") == (0, 0, 1009 * 32, 1009)
    assert recorded.capture["lost"] == {}


RUST_TRUTH = {
    "keep_boxes": (3400, 17, 3400, 17),
    "keep_strings": (182, 13, 182, 13),
    "grow_vector": (1024, 1, 2016, 6),
    "drop_all": (0, 0, 1472, 23),
}


@pytest.mark.parametrize("name", ["rust", "rust-v0"])
def test_rusts_boxes_strings_and_vectors_are_exact(launch, record, name):
    """Whatever their names look like: Rust has two ways to mangle them."""
    recorded = record(launch(name), "malloc")

    found = {
        function: [
            sum(column)
            for column in zip(
                *(values[:4] for stack, values in recorded.profile.rows() if any(function in frame for frame in stack)),
                strict=True,
            )
        ]
        for function in RUST_TRUTH
    }
    assert found == {function: list(values) for function, values in RUST_TRUTH.items()}
