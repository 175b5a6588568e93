"""The cache of names on disk."""

from __future__ import annotations

import os

import pytest

from tracer.symbols.store import FOLDER_ENV, NameStore, default_store


def content(store: NameStore, key: str) -> bytes | None:
    fd = store.open(key)
    if fd is None:
        return None
    with os.fdopen(fd, "rb") as file:
        return file.read()


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "names"


def test_what_was_kept_is_there_for_the_next_one(folder):
    NameStore(folder).keep("ab12-0", b"names")

    assert content(NameStore(folder), "ab12-0") == b"names"
    assert content(NameStore(folder), "ab13-0") is None


def test_the_folder_and_its_files_are_closed_to_others(folder):
    NameStore(folder).keep("ab12-0", b"names")

    assert folder.stat().st_mode & 0o077 == 0
    assert all(path.stat().st_mode & 0o077 == 0 for path in folder.iterdir())


def test_a_folder_that_others_may_write_to_is_not_used(folder):
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    store = NameStore(folder)

    store.keep("ab12-0", b"names")

    assert store.open("ab12-0") is None
    assert list(folder.iterdir()) == []


def test_a_link_in_place_of_the_folder_or_of_an_entry_is_not_followed(folder, tmp_path):
    folder.mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(folder)
    (folder / "ab12-0.names").symlink_to("/etc/passwd")

    assert NameStore(folder).open("ab12-0") is None
    NameStore(tmp_path / "link").keep("cd34-0", b"names")
    assert not (folder / "cd34-0.names").exists()


def test_beyond_its_bound_what_was_not_used_for_longest_goes(folder):
    store = NameStore(folder, max_bytes=100)
    for number in range(4):
        store.keep(f"key{number}", bytes(25))
        os.utime(folder / f"key{number}.names", ns=(number, number))
    fd = store.open("key0")  # used now
    assert fd is not None
    os.close(fd)

    store.keep("key4", bytes(25))

    assert sorted(path.name for path in folder.iterdir()) == ["key0.names", "key3.names", "key4.names"]


def test_what_is_larger_than_all_of_it_is_not_kept(folder):
    store = NameStore(folder, max_bytes=100)
    store.keep("small", bytes(50))

    store.keep("large", bytes(101))

    assert [path.name for path in folder.iterdir()] == ["small.names"]


def test_files_of_others_in_the_folder_stay(folder):
    folder.mkdir(mode=0o700)
    (folder / "thesis.pdf").write_bytes(bytes(1000))
    store = NameStore(folder, max_bytes=100)

    for number in range(5):
        store.keep(f"key{number}", bytes(50))

    assert (folder / "thesis.pdf").exists()


def test_a_folder_that_can_not_be_made_is_no_failure(tmp_path):
    (tmp_path / "file").write_text("")
    store = NameStore(tmp_path / "file" / "names")

    store.keep("ab12-0", b"names")

    assert store.open("ab12-0") is None


def test_the_setting_names_the_folder(folder, monkeypatch):
    monkeypatch.setenv(FOLDER_ENV, str(folder))

    default_store().keep("ab12-0", b"names")

    assert (folder / "ab12-0.names").exists()
