"""Names of binaries by the process that reads them: with debug files, from the cache, and of files made to harm."""

from __future__ import annotations

import lzma
import os
import random
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tracer.symbols.build_id import build_id_of
from tracer.symbols.elf import ElfFile
from tracer.symbols.store import NameStore
from tracer.symbols.symbolizer import Binary, Symbolizer

SOURCE = """
__attribute__((always_inline)) static inline int inner(int n) { __asm__ volatile("nop"); return n * 7; }
static __attribute__((noinline)) int outer(int n) {
  return inner(n) + 2;
}
int main(int count, char **arguments) { return outer(count); }
"""
ALL = [("outer", 4), ("inner", 2)]


class Stripped:
    """A program without names, the file of its debug information, and where its function is."""

    def __init__(self, folder: Path, *flags: str) -> None:
        whole, self.path, self.debug = folder / "whole", folder / "root/srv/program", folder / "program.debug"
        self.root = folder / "root"
        self.path.parent.mkdir(parents=True)
        command = ["gcc", "-O1", "-g", "-x", "c", "-o", whole, *flags, "-"]
        subprocess.run(command, input=SOURCE, text=True, check=True)
        with whole.open("rb") as file, ElfFile(file.fileno()) as elf:
            self.offset = elf.file_offset(next(known.address for known in elf.functions() if known.name == "outer"))
        subprocess.run(["objcopy", "--only-keep-debug", whole, self.debug], check=True)
        subprocess.run(["objcopy", "--strip-all", f"--add-gnu-debuglink={self.debug}", whole, self.path], check=True)

    def put_debug_file(self, path: str) -> Path:
        place = self.root / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(self.debug.read_bytes())
        return place

    def opened(self, path: str) -> int | None:
        """In its root directory."""
        place = self.root / path.lstrip("/")
        return os.open(place, os.O_RDONLY) if place.exists() else None


@pytest.fixture
def store(tmp_path: Path) -> NameStore:
    return NameStore(tmp_path / "names")


@pytest.fixture
def names(store: NameStore) -> Callable[[Stripped], list[tuple[str, int]]]:
    """Function and line at the known place, outermost first, as a recording that begins now finds them."""

    def found(program: Stripped) -> list[tuple[str, int]]:
        with program.path.open("rb") as file:
            binary = Binary(file.fileno(), "/srv/program", [program.opened])
            with Symbolizer(store).session([binary]) as session:
                (locations,) = session.locations(binary, [program.offset])
        return [(place.name, place.line) for place in locations]

    return found


def test_a_stripped_program_has_no_names(tmp_path, names):
    assert names(Stripped(tmp_path)) == []


def test_a_program_has_its_names_after_a_stripped_copy_was_read(tmp_path, names):
    program = Stripped(tmp_path)
    assert names(program) == []

    program.path.write_bytes((tmp_path / "whole").read_bytes())  # of the same build id

    assert names(program) == ALL


def test_a_copy_whose_section_table_is_cut_off_has_no_share_in_its_names(tmp_path, names):
    program = Stripped(tmp_path)
    whole = (tmp_path / "whole").read_bytes()
    program.path.write_bytes(
        whole[:40] + bytes(8) + whole[48:58] + bytes(6) + whole[64:]
    )  # e_shoff, e_shnum and the like
    assert names(program) == []

    program.path.write_bytes(whole)

    assert names(program) == ALL


def test_its_debug_file_is_found_by_build_id(tmp_path, names):
    program = Stripped(tmp_path)
    with program.path.open("rb") as file:
        build_id = build_id_of(file.fileno())
    program.put_debug_file(f"/usr/lib/debug/.build-id/{build_id[:2]}/{build_id[2:]}.debug")

    assert names(program) == ALL


@pytest.mark.parametrize(
    "place", ["/srv/program.debug", "/srv/.debug/program.debug", "/usr/lib/debug/srv/program.debug"]
)
@pytest.mark.parametrize("flags", [[], ["-Wl,--build-id=none"]], ids=["build id", "checksum"])
def test_its_debug_file_is_found_by_the_link(tmp_path, names, place, flags):
    program = Stripped(tmp_path, *flags)
    program.put_debug_file(place)

    assert names(program) == ALL


def test_a_debug_file_of_another_build_is_not_used(tmp_path, names):
    program = Stripped(tmp_path)
    (tmp_path / "other").mkdir()
    other = Stripped(tmp_path / "other", "-O2", "-fno-inline")
    with program.path.open("rb") as file:
        build_id = build_id_of(file.fileno())
    for place in (f"/usr/lib/debug/.build-id/{build_id[:2]}/{build_id[2:]}.debug", "/srv/program.debug"):
        program.put_debug_file(place).write_bytes(other.debug.read_bytes())

    assert names(program) == []


def test_a_debug_file_with_another_checksum_is_not_used(tmp_path, names):
    program = Stripped(tmp_path, "-Wl,--build-id=none")
    place = program.put_debug_file("/srv/program.debug")
    place.write_bytes(place.read_bytes() + b"\0")

    assert names(program) == []


def test_a_debug_file_that_is_installed_later_is_used_though_the_names_are_kept(tmp_path, names):
    program = Stripped(tmp_path)

    before = names(program)
    program.put_debug_file("/srv/.debug/program.debug")

    assert before == []
    assert names(program) == ALL


def test_the_small_symbol_table_of_a_stripped_program_is_read(tmp_path, names):
    program = Stripped(tmp_path)
    symbols = tmp_path / "symbols"
    subprocess.run(["objcopy", "--strip-debug", program.debug, symbols], check=True)
    packed = tmp_path / "symbols.xz"
    packed.write_bytes(lzma.compress(symbols.read_bytes()))
    subprocess.run(["objcopy", f"--add-section=.gnu_debugdata={packed}", program.path], check=True)

    assert names(program) == [("outer", 0)]


def test_names_are_kept_by_build_id_and_not_read_again(tmp_path, store, names):
    program = Stripped(tmp_path)
    program.put_debug_file("/srv/program.debug")
    first = names(program)
    with program.path.open("r+b") as file:  # a build id says that this is the same file
        whole = file.read()
        file.seek(len(whole) // 2)
        file.write(bytes(len(whole) - len(whole) // 2))

    assert first == ALL
    assert names(program) == ALL
    assert len(list((tmp_path / "names").iterdir())) == 1


@pytest.mark.parametrize("damage", ["cut short", "changed", "emptied"])
def test_a_damaged_entry_is_made_again(tmp_path, store, names, damage):
    program = Stripped(tmp_path)
    program.put_debug_file("/srv/program.debug")
    names(program)
    (entry,) = (tmp_path / "names").iterdir()
    whole = entry.read_bytes()
    place = whole.index(b"outer")
    damaged = {"cut short": whole[:100], "changed": whole[:place] + b"inter" + whole[place + 5 :], "emptied": b""}

    entry.write_bytes(damaged[damage])

    assert names(program) == ALL
    assert entry.read_bytes() == whole


def test_files_of_two_owners_share_no_entry_though_they_claim_one_build_id(tmp_path, names):
    if os.geteuid():
        pytest.skip("needs root, to give a file away")
    program = Stripped(tmp_path, "-Wl,--build-id=0x0123456789abcdef")
    program.put_debug_file("/srv/program.debug")
    (tmp_path / "hostile").mkdir()
    hostile = Stripped(tmp_path / "hostile", "-Wl,--build-id=0x0123456789abcdef")
    os.chown(hostile.path, 1000, 1000)

    assert names(hostile) == []
    assert names(program) == ALL


def test_a_binary_made_to_harm_costs_its_own_names_only(tmp_path, store):
    """Any bytes may change: no answer is a crash of ours, and the next file still has its names."""
    program = Stripped(tmp_path)
    whole = bytearray(program.debug.read_bytes())
    made = random.Random(7)
    good = tmp_path / "whole"
    for number in range(6):
        damaged = bytearray(whole)
        for _ in range(40):
            damaged[made.randrange(4, len(damaged))] = made.randrange(256)
        path = tmp_path / f"damaged{number}"
        path.write_bytes(damaged)
        with path.open("rb") as bad, good.open("rb") as file:
            binaries = [Binary(bad.fileno(), str(path)), Binary(file.fileno(), "/srv/whole")]
            with Symbolizer(store).session(binaries) as session:
                session.locations(binaries[0], [program.offset])
                (locations,) = session.locations(binaries[1], [program.offset])

        assert [place.name for place in locations] == ["outer", "inner"]


def test_what_can_not_be_read_is_told(tmp_path, store):
    path = tmp_path / "broken.so"
    path.write_bytes(b"\x7fELF" + bytes(100))
    symbolizer = Symbolizer(store)

    with path.open("rb") as file:
        binary = Binary(file.fileno(), "/srv/broken.so")
        with symbolizer.session([binary]) as session:
            found = session.locations(binary, [1, 2])

    assert found == [[], []]
    assert list(symbolizer.troubles) == ["/srv/broken.so"]


def test_names_that_no_demangler_ends_with_do_not_hold_up_the_others(store):
    pairs = "".join(f"S_IS{digit}_S{digit}_E" for digit in "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    bomb = f"_Z1fSt4pairIiiE{pairs}"

    with Symbolizer(store).session() as session:
        assert session.demangled([bomb, "_Z1fv", "main"]) == {bomb: bomb, "_Z1fv": "f()", "main": "main"}


def test_a_name_of_megabytes_is_cut_and_costs_its_file_only(tmp_path, store):
    path = tmp_path / "long"
    name = "x" * 2_000_000
    source = f'int outer(void) __asm__("{name}"); int outer(void) {{ return 1; }} int main() {{ return outer(); }}'
    subprocess.run(["gcc", "-O1", "-x", "c", "-o", path, "-"], input=source, text=True, check=True)
    with path.open("rb") as file:
        binary = Binary(file.fileno(), "/srv/long")
        elf = ElfFile(file.fileno())
        offset = elf.file_offset(next(known.address for known in elf.functions() if known.name.startswith("xxx")))
        with Symbolizer(store).session([binary]) as session:
            found = session.locations(binary, [offset] * 1000)

    assert {(place.name[:3], len(place.name)) for places in found for place in places} == {("xxx", 8192)}
