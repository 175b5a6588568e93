"""What is known of a kernel and its processors before a program is loaded."""

from __future__ import annotations

import pytest

from tracer.bpf.errors import BpfError
from tracer.bpf.maps import processors
from tracer.bpf.program import has_multi_links, kernel_version


@pytest.mark.parametrize(
    "release, version",
    [("6.1.0-18-amd64", (6, 1, 0)), ("5.15.167.4-microsoft", (5, 15, 167)), ("6.18-rc3", (6, 18, 0))],
)
def test_a_release_is_read_up_to_its_third_number(release, version):
    assert kernel_version(release) == version


def test_a_release_without_numbers_is_refused():
    with pytest.raises(BpfError, match="'vendor'"):
        kernel_version("vendor")


def test_multi_links_begin_with_6_6():
    assert [has_multi_links(release) for release in ("6.5.13", "6.6.0", "6.18.4")] == [False, True, True]


def test_processors_are_listed_from_spans(tmp_path):
    listed = tmp_path / "possible"
    listed.write_text("0-3,8,10-11\n")

    assert processors(str(listed)) == [0, 1, 2, 3, 8, 10, 11]
