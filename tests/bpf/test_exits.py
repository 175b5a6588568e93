"""All ways back out of a function, on code written by hand."""

from __future__ import annotations

from tracer.bpf.exits import Exits, exits


def exits_of(functions: dict[int, str], **slots: int) -> Exits | None:
    """Functions by their start, as hexadecimal code; the first is looked at. Slots are named by their address."""
    code = {start: bytes.fromhex(text) for start, text in functions.items()}
    spans = [range(start, start + len(text)) for start, text in code.items()]
    return exits(
        next(iter(functions)),
        span_at=lambda address: next((span for span in spans if address in span), None),
        code_of=lambda span: code.get(span.start, b"")[: len(span)],
        behind_slot={int(name.removeprefix("at_"), 16): target for name, target in slots.items()}.get,
    )


def test_each_ret_is_found():
    found = exits_of({0x100: "4885ff7401c331c0c3"})  # test; je over the ret; ret; xor; ret

    assert found == Exits((0x105, 0x108), frozenset())


def test_a_function_that_is_jumped_to_for_good_is_followed():
    found = exits_of({0x100: "e9fb000000", 0x200: "c3"})  # jmp 0x200

    assert found == Exits((0x200,), frozenset())


def test_a_cold_part_behind_a_conditional_jump_is_followed():
    found = exits_of({0x100: "0f84fa000000c3", 0x200: "31c0c3"})  # je 0x200; ret

    assert found == Exits((0x106, 0x202), frozenset())


def test_functions_that_jump_to_each_other_end():
    found = exits_of({0x100: "74fee9f9000000", 0x200: "0f84fafeffffc3"})

    assert found is not None
    assert found.returns == (0x206,)


def test_direct_calls_are_told():
    found = exits_of({0x100: "e8fb000000c3", 0x200: "c3"})  # call 0x200

    assert found == Exits((0x105,), frozenset({0x200}))


def test_a_jump_into_another_module_can_not_be_followed():
    assert exits_of({0x100: "ff2500000000c3"}) is None


def test_a_jump_through_the_table_of_linked_functions_is_followed_to_one_of_this_file():
    found = exits_of({0x100: "ff25fa000000", 0x200: "31c0c3"}, at_200=0x200)  # jmp *0xfa(%rip)

    assert found == Exits((0x202,), frozenset())


def test_a_call_and_a_jump_of_the_linkers_stubs_count_as_those_of_the_functions_behind():
    functions = {
        0x100: "e8fb010000e9f6000000",  # call 0x300; jmp 0x200
        0x200: "f30f1efaff25f6010000",  # endbr64; jmp *0x1f6(%rip)
        0x300: "f2ff25f9000000",  # bnd jmp *0xf9(%rip)
        0x500: "c3",
    }

    assert exits_of(functions, at_400=0x500) == Exits((0x500,), frozenset({0x500}))


def test_a_jump_to_where_no_function_is_known_can_not_be_followed():
    assert exits_of({0x100: "e9fb000000"}) is None


def test_a_function_without_a_ret_has_no_exits():
    assert exits_of({0x100: "0f0b"}) is None  # ud2


def test_a_way_past_a_call_is_found():
    found = exits_of({0x100: "7406e8f9000000c3c3", 0x200: "c3"})  # je over call 0x200 and ret

    assert found is not None
    assert found.bypass({0x200})


def test_there_is_no_way_past_a_call_that_each_ret_follows():
    found = exits_of({0x100: "e8fb000000740131c0c3", 0x200: "c3"})  # call 0x200; je; ret

    assert found is not None
    assert not found.bypass({0x200})


def test_a_jump_to_a_function_for_good_is_no_way_past_it():
    found = exits_of({0x100: "e9fb000000", 0x200: "c3"})  # jmp 0x200

    assert found is not None
    assert not found.bypass({0x200})
