"""Where a profile comes from that the process makes itself: an address to pull it from, or files that it writes.

`url` is the address of an endpoint; `files` is an absolute path whose last part may hold `*` and `?`. Without either,
the files are those that the process names in its own environment: prof_prefix of MALLOC_CONF, or HEAPPROFILE.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from tracer.options.errors import BadOption

URL, FILES = "url", "files"
PULL_OPTIONS = (URL, FILES)
OWN_FILES: Mapping[str, str] = {"jemalloc": "prof_prefix of MALLOC_CONF", "tcmalloc": "HEAPPROFILE"}
"""By collector, what a process says of its own files."""
PULLED = ("jemalloc", "tcmalloc", "pprof")
"""Collectors that take what a process counts by itself; all others count in the kernel."""
SCHEMES = ("http", "https")
MAX_LENGTH = 2000
_WILD = "*?["


@dataclass(frozen=True, slots=True)
class PullOptions:
    url: str = ""
    files: str = ""

    @classmethod
    def of(cls, options: Mapping[str, int | str]) -> PullOptions:
        """Of a run spec's options; BadOption says which one is wrong, and why."""
        url, files = _text(URL, options), _text(FILES, options)
        if url and files:
            raise BadOption(FILES, f"{files!r}, but an address is given too: leave one of them out")
        if url:
            _check_url(url)
        if files:
            _check_files(files)
        return cls(url, files)


def check_pull_options(collector: str, options: Mapping[str, int | str]) -> None:
    """BadOption for a value that can't be, and for an option of the collectors that count in the kernel."""
    for name, value in options.items():
        if name not in PULL_OPTIONS:
            raise BadOption(name, f"{value!r}, but the process makes this profile itself: leave it out")
    asked = PullOptions.of(options)
    if not asked.url and not asked.files and collector not in OWN_FILES:
        raise BadOption(URL, "missing: say where the profile is, such as http://127.0.0.1:6060/debug/pprof/heap")


def refuse_pull_options(collector: str, options: Mapping[str, int | str]) -> None:
    """BadOption for one of these with a collector that counts in the kernel."""
    for name in PULL_OPTIONS:
        if name in options:
            raise BadOption(name, f"{options[name]!r}, but {collector} pulls nothing: use one of {', '.join(PULLED)}")


def _text(name: str, options: Mapping[str, int | str]) -> str:
    value = options.get(name, "")
    if not isinstance(value, str) or not value.isprintable() or len(value) > MAX_LENGTH:
        raise BadOption(name, f"{str(value)[:80]!r}, it must be at most {MAX_LENGTH:,} printable characters")
    return value


def _check_url(url: str) -> None:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise BadOption(URL, f"{url!r}: {error}") from None
    if parts.scheme not in SCHEMES or not parts.hostname or port == 0:
        raise BadOption(URL, f"{url!r}, it must be an address such as http://127.0.0.1:4000/v1/prof/mem")
    if parts.username is not None or parts.password is not None:
        raise BadOption(URL, "an address with a user or a password, which would be kept with the run: leave them out")
    if parts.fragment or not url.isascii() or any(character in url for character in ' "<>\\^`{|}'):
        raise BadOption(URL, f"{url!r}: it must be plain ASCII, without spaces and without #")


def _check_files(files: str) -> None:
    directory, name = posixpath.split(files)
    if not files.startswith("/") or files.startswith("//") or posixpath.normpath(files) != files:
        raise BadOption(
            FILES, f"{files!r}, it must be a whole path, without `.` and `..`, such as /var/log/jeprof.*.heap"
        )
    if any(character in directory for character in _WILD) or not name:
        raise BadOption(FILES, f"{files!r}: only its last part may hold *, ? and [")
