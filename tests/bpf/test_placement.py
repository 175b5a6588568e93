"""Where probes go in the first instructions of real allocators; bytes as their compilers wrote them."""

from __future__ import annotations

from tracer.bpf.placement import Placement, placements


def code(*parts: str) -> bytes:
    return bytes.fromhex("".join(parts))


def test_a_push_at_the_start_is_taken():
    glibc_malloc = code("4154", "55", "53", "4889fb")  # push %r12; push %rbp; push %rbx; mov %rdi,%rbx

    assert placements(glibc_malloc, arguments=1) == [Placement(0, "emulated")]


def test_nothing_behind_a_push_is_offered():
    """There the word at the stack pointer is no longer the return address."""
    pushes = code("4883ec08", "55", "53")  # sub $8,%rsp; push %rbp; push %rbx

    assert [place.offset for place in placements(pushes, arguments=1)] == [0]


def test_a_comparison_is_passed_to_reach_a_branch():
    jemalloc_malloc = code("4881ff00100000", "7713", "488d1500000000")  # cmp $0x1000,%rdi; ja; lea

    assert placements(jemalloc_malloc, arguments=1) == [Placement(7, "emulated"), Placement(0, "single-step")]


def test_a_branch_ends_the_search_as_its_other_side_would_be_missed():
    malloc = code("4885ff", "7410", "55")  # test %rdi,%rdi; je; push %rbp

    assert [place.offset for place in placements(malloc, arguments=1)] == [3, 0]


def test_the_branch_that_skips_a_null_does_not_end_the_search_in_a_free():
    glibc_free = code("4885ff", "7410", "55", "53")  # test %rdi,%rdi; je; push %rbp; push %rbx

    assert placements(glibc_free, arguments=1, is_free=True) == [
        Placement(3, "emulated"),
        Placement(5, "emulated"),
        Placement(0, "single-step"),
    ]


def test_only_the_first_branch_of_a_free_is_passed():
    free = code("4885ff", "7410", "4839c7", "7410", "55")  # test; je; cmp %rax,%rdi; je; push %rbp

    assert max(place.offset for place in placements(free, arguments=1, is_free=True)) == 8


def test_nothing_behind_a_lost_argument_is_offered():
    clobbered = code("89f7", "55")  # mov %esi,%edi; push %rbp

    assert placements(clobbered, arguments=1) == [Placement(0, "single-step")]


def test_an_argument_is_followed_into_the_register_of_another():
    # mov 0xb449(%rip),%rax; mov %rdi,%rsi; mov %fs:(%rax),%rdi; cmp $0x400,%rsi; ja
    mimalloc_malloc = code("488b0549b40000", "4889fe", "64488b38", "4881fe00040000", "7729")

    best = placements(mimalloc_malloc, arguments=1)[0]

    assert (best.offset, best.kind) == (21, "emulated")
    assert best.register(1) == 2


def test_an_argument_stays_where_it_was_while_it_is_there_too():
    copied = code("4889fe", "55")  # mov %rdi,%rsi; push %rbp

    assert placements(copied, arguments=1)[0].register(1) == 1


def test_an_argument_that_only_a_register_without_arguments_still_holds_is_lost():
    moved = code("4889f8", "31ff", "55")  # mov %rdi,%rax; xor %edi,%edi; push %rbp

    assert [place.offset for place in placements(moved, arguments=1)] == [0, 3]


def test_a_half_of_an_argument_is_no_copy():
    cut = code("89fe", "31ff", "55")  # mov %edi,%esi; xor %edi,%edi; push %rbp

    assert max(place.offset for place in placements(cut, arguments=1)) == 2


def test_two_arguments_that_change_places_are_both_found():
    swapped = code("4889fa", "4889f7", "4889d6", "55")  # mov %rdi,%rdx; mov %rsi,%rdi; mov %rdx,%rsi; push %rbp

    best = placements(swapped, arguments=2)[0]

    assert (best.offset, best.register(1), best.register(2)) == (9, 2, 1)


def test_an_argument_that_the_probe_does_not_read_may_be_lost():
    clobbered = code("89f7", "55")  # mov %esi,%edi; push %rbp

    assert placements(clobbered, arguments=0)[0] == Placement(2, "emulated")


def test_an_argument_counts_as_lost_by_any_part_of_its_register():
    low_byte = code("40b601", "55")  # mov $1,%sil; push %rbp

    assert placements(low_byte, arguments=2) == [Placement(0, "single-step")]


def test_endbr64_is_passed():
    ubuntu_free = code("f30f1efa", "4885ff", "7410")  # endbr64; test %rdi,%rdi; je

    assert placements(ubuntu_free, arguments=1)[0] == Placement(7, "emulated")


def test_a_jump_through_memory_is_no_cheap_place():
    indirect = code("ff2500000000")  # jmp *0(%rip)

    assert placements(indirect, arguments=1) == [Placement(0, "single-step")]


def test_code_that_is_none_is_probed_at_its_start():
    assert placements(b"", arguments=1) == [Placement(0, "single-step")]
