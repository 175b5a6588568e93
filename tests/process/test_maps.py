"""Lines of /proc/PID/maps."""

from __future__ import annotations

from tracer.process.maps import executable_mappings, parse_maps, parse_maps_line


def test_a_mapped_file_has_place_offset_and_path():
    mapping = parse_maps_line(
        "55d3c0a00000-55d3c0a01000 r-xp 00001000 08:02 173521                     /usr/bin/search-api"
    )

    assert (mapping.start, mapping.end, mapping.offset) == (0x55D3C0A00000, 0x55D3C0A01000, 0x1000)
    assert mapping.file_id == (8, 2, 173521)
    assert (mapping.path, mapping.module) == ("/usr/bin/search-api", "search-api")
    assert not mapping.is_deleted


def test_memory_without_a_file_has_an_empty_path():
    mapping = parse_maps_line("7f1c24000000-7f1c24021000 rw-p 00000000 00:00 0 ")

    assert (mapping.path, mapping.module, mapping.inode) == ("", "", 0)


def test_a_name_in_brackets_is_the_module():
    assert parse_maps_line("7ffd5a1f2000-7ffd5a1f4000 r-xp 00000000 00:00 0  [vdso]").module == "[vdso]"


def test_a_path_may_hold_spaces():
    assert parse_maps_line("1000-2000 r-xp 00000000 08:02 7 /opt/my app/bin").path == "/opt/my app/bin"


def test_a_deleted_file_is_marked_and_keeps_its_name():
    mapping = parse_maps_line("1000-2000 r-xp 00000000 08:02 7 /usr/lib/old.so (deleted)")

    assert (mapping.path, mapping.is_deleted) == ("/usr/lib/old.so", True)


def test_executable_mappings_are_those_with_an_x():
    text = "1000-2000 r--p 0 08:02 7 /bin/a x\n2000-3000 r-xp 1000 08:02 7 /bin/a x\n"

    assert [mapping.start for mapping in executable_mappings(text)] == [0x2000]


def test_the_tables_lines_keep_their_order():
    text = "1000-2000 r--p 0 08:02 7 /bin/a\n2000-3000 r-xp 1000 08:02 7 /bin/a\n"

    assert [mapping.start for mapping in parse_maps(text)] == [0x1000, 0x2000]
