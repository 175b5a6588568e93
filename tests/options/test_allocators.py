"""Options of a malloc recording that name functions: pools, and addresses of a program without symbols."""

from __future__ import annotations

import pytest

from tracer.options.allocators import AllocatorOptions, CustomFunction, check_allocator_options
from tracer.options.errors import BadOption


def test_the_usual_functions_are_followed_unless_told_otherwise():
    assert AllocatorOptions.of({}) == AllocatorOptions(has_defaults=True)


def test_a_pair_takes_their_place():
    found = AllocatorOptions.of({"alloc": "libpool.so:pool_get@2*1", "free": "libpool.so:pool_put"})

    assert found.allocs == (CustomFunction("libpool.so", "pool_get", size=2, factor=1),)
    assert found.frees == (CustomFunction("libpool.so", "pool_put", block=1),)
    assert not found.has_defaults


def test_both_are_followed_if_that_is_asked_for():
    found = AllocatorOptions.of({"alloc": "default,libpool.so:pool_get@3"})

    assert found.has_defaults
    assert found.last_position == 3


def test_a_library_may_have_an_at_in_its_name():
    (pool,) = AllocatorOptions.of({"alloc": "libpool@2.so.1:get@2"}).allocs

    assert (pool.library, pool.name, pool.size) == ("libpool@2.so.1", "get", 2)


def test_addresses_are_those_that_nm_shows():
    found = AllocatorOptions.of({"addr": "malloc=0x4012f0, free=0x401530"})

    assert found.addresses == (("malloc", 0x4012F0), ("free", 0x401530))
    assert found.has_defaults


@pytest.mark.parametrize(
    "options, reason",
    [
        ({"alloc": "pool_get"}, "option alloc is 'pool_get', it must be LIBRARY:FUNCTION@SIZE"),
        ({"alloc": ""}, "option alloc is '', it must be"),
        ({"alloc": "lib.so:get@0"}, "it must be LIBRARY:FUNCTION@SIZE"),
        ({"alloc": "lib.so:get@7"}, "argument 7 is not in a register, the last one is 6"),
        ({"alloc": "../lib.so:get"}, "option alloc is '../lib.so:get'"),
        ({"alloc": "lib.so:get;rm"}, "option alloc is 'lib.so:get;rm'"),
        ({"alloc": "default"}, "the usual functions are followed anyway"),
        ({"alloc": "lib.so:get,lib.so:get"}, "a function is named twice"),
        ({"alloc": ",".join(f"lib.so:get{n}" for n in range(17))}, "these are 17 functions, the limit is 16"),
        ({"alloc": "lib.so:" + "x" * 2000}, "2,007 characters long, the limit is 2,000"),
        ({"alloc": 5}, "option alloc is '5', it must be"),
        ({"free": "lib.so:put"}, "but there is no alloc"),
        ({"alloc": "lib.so:get", "free": "put"}, "option free is 'put', it must be LIBRARY:FUNCTION@BLOCK"),
        ({"addr": "malloc=1234"}, "option addr is 'malloc=1234', it must be FUNCTION=ADDRESS"),
        ({"addr": "malloc=0x11112222333344445"}, "it must be FUNCTION=ADDRESS"),
    ],
)
def test_what_can_not_be_is_refused_with_its_value(options, reason):
    with pytest.raises(BadOption) as refusal:
        check_allocator_options("malloc", options)

    assert reason in str(refusal.value)


def test_another_collector_follows_no_allocator():
    with pytest.raises(BadOption, match="option alloc is 'lib.so:get', but brk follows no allocator: use malloc"):
        check_allocator_options("brk", {"alloc": "lib.so:get"})
    check_allocator_options("brk", {"max_stacks": 64})
