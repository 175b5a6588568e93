"""Files below a root directory, by paths and links that would lead out of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tracer.process.root import Root


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    (folder / "srv").mkdir(parents=True)
    (folder / "srv/file").write_text("inside")
    (tmp_path / "secret").write_text("outside")
    return folder


@pytest.fixture
def content(folder):
    """What a path leads to, or None."""
    root = Root(folder)

    def read(path: str, opened=root.open) -> str | None:
        fd = opened(path)
        if fd is None:
            return None
        with os.fdopen(fd) as file:
            return file.read()

    read.itself = lambda path: read(path, root.open_itself)
    yield read
    root.close()


def test_a_path_begins_at_the_root(content):
    assert content("/srv/file") == "inside"
    assert content("/srv/none") is None


def test_a_link_to_an_absolute_path_is_followed_inside(content, folder):
    (folder / "link").symlink_to("/srv/file")

    assert content("/link") == "inside"


@pytest.mark.parametrize("target", ["../secret", "/../secret", "../../secret"])
def test_no_path_leads_out(content, folder, target):
    (folder / "link").symlink_to(target)

    assert content("/link") is None
    assert content(f"/{target}") is None


def test_a_link_is_not_followed_where_the_file_itself_is_asked_for(content, folder):
    (folder / "link").symlink_to("/srv/file")

    assert content.itself("/link") is None
    assert content.itself("/srv/file") == "inside"


def test_what_is_no_regular_file_is_not_opened(content, folder):
    os.mkfifo(folder / "pipe")

    assert content("/pipe") is None
    assert content("/srv") is None


def test_a_path_of_any_bytes_is_looked_up(content, folder):
    (folder / "caf\udce9").write_text("latin")

    assert content("/caf\udce9") == "latin"
    assert content("/nul\0") is None


def test_two_names_of_one_directory_are_the_same_root(folder):
    roots = [Root(folder), Root(folder / "srv/.."), Root(folder / "srv")]

    assert [roots[0].is_same(other) for other in roots] == [True, True, False]
    for root in roots:
        root.close()
