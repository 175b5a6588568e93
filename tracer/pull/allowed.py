"""What may be pulled on a host: the addresses and paths that its administrator allows, whoever asks.

An address is allowed by the word `loopback`, which means every address of the machine itself, or by a beginning such
as http://10.0.0.5:4000/debug/. A path is allowed by one whose last part may hold `*` and `?`.
"""

from __future__ import annotations

import ipaddress
import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from typing import Any
from urllib.parse import urlsplit

from tracer.options.pull import SCHEMES
from tracer.pull.errors import PullError

LOOPBACK, ANY, NONE = "loopback", "any", "none"
_PORT_BY_SCHEME = {"http": 80, "https": 443}

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class BadRule(ValueError):
    """It allows nothing that can be; the text says why."""


@dataclass(frozen=True, slots=True)
class Allowed:
    """`has_own_files` lets a process name files of its own user in its environment."""

    urls: tuple[str, ...] = (LOOPBACK,)
    files: tuple[str, ...] = ()
    has_own_files: bool = True

    @classmethod
    def of(cls, urls: Sequence[str], files: Sequence[str]) -> Allowed:
        """Of an agent's options: none given is the default, and `none` nothing at all. BadRule says what is wrong."""
        for rule in urls:
            _check_url_rule(rule)
        for rule in files:
            _check_file_rule(rule)
        return cls(_without_none(urls) if urls else (LOOPBACK,), _without_none(files), has_own_files=NONE not in files)

    @classmethod
    def from_dict(cls, raw: Mapping[str, Any]) -> Allowed:
        return cls(tuple(raw["urls"]), tuple(raw["files"]), bool(raw["has_own_files"]))

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def words(self) -> str:
        """For the hosts page."""
        files = [*(["those that a process names in its environment"] if self.has_own_files else []), *self.files]
        return f"from {_listed(self.urls)}; files: {_listed(files)}"

    def check_url(self, url: str, address: Address) -> None:
        """PullError unless the address that its host was resolved to may be asked for it."""
        if not any(_allows(rule, url, address) for rule in self.urls):
            raise PullError(
                f"{url} is at {address}, and this host's agent pulls from {_listed(self.urls)} only: "
                "its option --allow-url allows more"
            )

    def check_directory(self, files: str) -> None:
        """PullError unless some file of the directory is allowed."""
        directory = posixpath.dirname(files)
        if not any(rule == ANY or posixpath.dirname(rule) == directory for rule in self.files):
            raise PullError(
                f"{files} is not allowed: this host's agent reads {_listed(self.files)}; "
                "its option --allow-files allows more"
            )

    def has_file(self, path: str) -> bool:
        directory, name = posixpath.split(path)
        return any(
            rule == ANY or (posixpath.dirname(rule) == directory and fnmatchcase(name, posixpath.basename(rule)))
            for rule in self.files
        )


EVERYTHING = Allowed((ANY,), (ANY,))
"""Of a person on the command line, who has rights of their own."""


def is_loopback(address: Address) -> bool:
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return (mapped or address).is_loopback


def _allows(rule: str, url: str, address: Address) -> bool:
    if rule == ANY:
        return True
    if rule == LOOPBACK:
        return is_loopback(address)
    asked, allowed = urlsplit(url), urlsplit(rule)
    beginning = allowed.path.rstrip("/")
    path = asked.path or "/"
    has_dots = any(part in (".", "..") or "%" in part for part in path.split("/"))  # a server may read them as another
    is_below = not beginning or path == beginning or (path.startswith(f"{beginning}/") and not has_dots)
    return _place(asked) == _place(allowed) and is_below


def _place(parts: Any) -> tuple[str, str, int]:
    return parts.scheme, parts.hostname, parts.port or _PORT_BY_SCHEME[parts.scheme]


def _check_url_rule(rule: str) -> None:
    if rule in (LOOPBACK, NONE):
        return
    try:
        parts = urlsplit(rule)
        is_place = parts.scheme in SCHEMES and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_place = False
    if not is_place or parts.query or parts.fragment:
        raise BadRule(f"--allow-url is {rule!r}, it must be {LOOPBACK}, {NONE} or begin with http://HOST:PORT/")


def _check_file_rule(rule: str) -> None:
    directory = posixpath.dirname(rule)
    if rule == NONE:
        return
    if not rule.startswith("/") or posixpath.normpath(rule) != rule or any(wild in directory for wild in "*?["):
        raise BadRule(f"--allow-files is {rule!r}, it must be {NONE} or a whole path such as /var/log/jeprof.*.heap")


def _without_none(rules: Sequence[str]) -> tuple[str, ...]:
    return tuple(rule for rule in rules if rule != NONE)


def _listed(rules: Sequence[str]) -> str:
    return ", ".join(f"{rule} addresses" if rule == LOOPBACK else rule for rule in rules) or "nothing"
