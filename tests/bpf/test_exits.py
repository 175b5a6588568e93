"""All ways back out of a function, on code written by hand."""

from __future__ import annotations

from tracer.bpf.exits import Exits, exits


def exits_of(functions: dict[int, str]) -> Exits | None:
    """Functions by their start, as hexadecimal code; the first is looked at."""
    code = {start: bytes.fromhex(text) for start, text in functions.items()}
    spans = [range(start, start + len(text)) for start, text in code.items()]
    return exits(
        next(iter(functions)),
        span_at=lambda address: next((span for span in spans if address in span), None),
        code_of=lambda span: code[span.start],
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


def test_a_jump_to_where_no_function_is_known_can_not_be_followed():
    assert exits_of({0x100: "e9fb000000"}) is None


def test_a_function_without_a_ret_has_no_exits():
    assert exits_of({0x100: "0f0b"}) is None  # ud2
