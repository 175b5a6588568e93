"""Names of addresses, of this very process and of programs that tell where their function is."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess

import pytest

from tracer.process.address_space import AddressSpace
from tracer.process.target import Target
from tracer.symbols.build_id import build_id_of

libc = ctypes.CDLL("libc.so.6")


def texts(names, address):
    return [name.text for name in names.frames(address)]


@pytest.fixture
def space():
    target = Target(os.getpid())
    space = AddressSpace(target)
    yield space
    space.close()
    target.close()


@pytest.fixture
def names(space, names_of):
    return names_of(space)


def test_a_function_of_a_shared_library_is_named_as_programs_call_it(names):
    (first, *_) = names.frames(ctypes.cast(libc.malloc, ctypes.c_void_p).value + 1)

    assert (first.text, first.is_resolved) == ("malloc", True)


def test_an_address_outside_of_all_mappings_is_unknown(names):
    (name,) = names.frames(0x10)

    assert (name.text, name.is_resolved) == ("[unknown]", False)


def test_code_without_a_symbol_is_named_by_module_and_offset_and_its_build_id_is_told(space, names):
    mapping = next(mapping for mapping in space.mappings() if mapping.module.startswith("libc.so"))
    (name,) = names.frames(mapping.start)

    assert (name.text, name.is_resolved) == (f"{mapping.module}+{mapping.offset:#x}", False)
    assert names.build_ids([name.module]) == {mapping.module: build_id_of(space.open_file(mapping))}


@pytest.mark.parametrize("flags", [["-pie", "-fPIE"], ["-no-pie", "-fno-pie"], ["-static"], ["-static-pie", "-fPIE"]])
def test_position_independent_fixed_and_static_programs_have_names_and_inlined_functions(build, run, names_of, flags):
    program = run(build("-g", *flags))

    assert texts(names_of(program.space, with_lines=True), program.outer) == ["outer (<stdin>:7)", "inner (<stdin>:5)"]


def test_lines_are_shown_only_when_asked_for(build, run, names_of):
    program = run(build("-g"))

    assert texts(names_of(program.space), program.outer) == ["outer", "inner"]


def test_without_debug_information_there_is_the_function_of_the_symbol_table(build, run, names_of):
    program = run(build("-g0"))

    assert texts(names_of(program.space, with_lines=True), program.outer) == ["outer"]


def test_many_addresses_are_named_at_once_and_then_known(build, run, names_of, store):
    program = run(build("-g"))
    names = names_of(program.space)

    names.resolve(range(program.outer, program.outer + 3))
    program.end()

    assert [texts(names, program.outer + n)[0] for n in range(3)] == ["outer"] * 3


def test_pitfall_27_after_an_exec_addresses_are_of_the_new_program(build, names_of):
    path = build("-g")
    command = ["sh", "-c", f"read line; exec {path}"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as process:
        target = Target(process.pid)
        space = AddressSpace(target)
        names = names_of(space)
        process.stdin.write(b"\n")
        outer = int(process.stdout.readline(), 16)
        space.refresh()

        assert texts(names, outer) == ["outer", "inner"]
        process.kill()
        space.close()
        target.close()


def test_pitfall_28_names_are_found_after_the_process_and_its_file_are_gone(build, run, names_of):
    path = build("-g")
    program = run(path)
    path.unlink()
    program.end()

    assert not program.space.refresh()
    assert texts(names_of(program.space), program.outer) == ["outer", "inner"]


def test_pitfall_30_a_replaced_file_is_not_asked_for_the_names_of_the_one_that_runs(build, run, names_of):
    path = build("-g0")
    program = run(path)
    path.unlink()
    build("-g0", source="int other(void) { return 1; } int main(void) { return other(); }")

    assert texts(names_of(program.space), program.outer) == ["outer"]


def test_pitfall_31_a_program_in_another_root_has_its_names(build, run, names_of, tmp_path):
    if os.geteuid():
        pytest.skip("chroot needs root")
    root = tmp_path / "root"
    root.mkdir()
    path = build("-g", "-static")
    program = run(path, root)

    assert texts(names_of(program.space), program.outer) == ["outer", "inner"]


def test_pitfall_29_a_library_loaded_after_the_first_look_has_names(space, names, tmp_path):
    copy = tmp_path / "loaded_later.so"
    shutil.copy("/lib/x86_64-linux-gnu/libz.so.1", copy)
    later = ctypes.cast(ctypes.CDLL(str(copy)).zlibVersion, ctypes.c_void_p).value
    before = texts(names, later)
    space.refresh()
    names.resolve([later])

    assert before == ["[unknown]"]
    assert texts(names, later) == ["zlibVersion"]


def test_pitfall_39_a_return_address_less_1_is_in_the_function_that_called(build, run, names_of):
    """A call that does not return may be a function's last instruction: what follows it is another function."""
    source = """
    #include <stdio.h>
    #include <stdlib.h>
    __attribute__((noinline, noreturn)) void ends(void) { exit(getchar() & 1); }
    __attribute__((noinline, noreturn)) void outer(void) { ends(); }
    extern char after_call[];
    int main(int count, char **arguments) {
      printf("%p\\n", (void *)outer);
      fflush(stdout);
      outer();
    }
    """
    path = build("-O2", "-g0", "-fno-inline", source=source)
    program = run(path)
    listed = subprocess.run(["nm", "-S", path], capture_output=True, text=True, check=True).stdout
    size = next(int(line.split()[1], 16) for line in listed.splitlines() if line.endswith(" outer"))
    return_address = program.outer + size
    names = names_of(program.space)

    assert texts(names, return_address - 1) == ["outer"]
    assert texts(names, return_address) != ["outer"]


def test_two_files_of_one_name_are_told_apart_where_they_have_no_symbols(space, names, tmp_path):
    places = []
    for number, source in enumerate(("libz.so.1", "libm.so.6")):
        folder = tmp_path / str(number)
        folder.mkdir()
        shutil.copy(f"/lib/x86_64-linux-gnu/{source}", folder / "plugin.so")
        ctypes.CDLL(str(folder / "plugin.so"))
        places.append(str(folder / "plugin.so"))
    space.refresh()
    mappings = [next(known for known in space.mappings() if known.path == place) for place in places]
    found = [names.frames(mapping.end - 1)[0] for mapping in mappings]  # what fills the last page
    build_ids = names.build_ids(name.module for name in found)

    assert [name.text for name in found] == [
        f"plugin.so@{build_ids[name.module][:8]}+{mapping.end - 1 - mapping.start + mapping.offset:#x}"
        for name, mapping in zip(found, mappings, strict=True)
    ]
    assert len(set(build_ids.values())) == 2


def test_the_code_that_the_kernel_maps_has_names(space, names):
    mapping = next(mapping for mapping in space.mappings() if mapping.path == "[vdso]")
    names.resolve(range(mapping.start, mapping.end, 16))

    assert "clock_gettime" in {text for at in range(mapping.start, mapping.end, 16) for text in texts(names, at)}
