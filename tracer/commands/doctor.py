"""`memflame doctor`: what this host can record, why not, and with which kernel and packages."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
import platform
from pathlib import Path
from typing import Annotated, Any

import typer

from tracer import __version__
from tracer.bpf.btf import VMLINUX
from tracer.bpf.program import has_multi_links
from tracer.bpf.tracefs import has_tracefs
from tracer.collectors.ability import abilities
from tracer.protocol import COLLECTORS

_PACKAGES = ("capstone", "symbolic", "multi-demangle", "typer", "rich")


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print all as one JSON object")] = False,
) -> None:
    """Say what this host can record, and why not.

    Exit codes: 0 every collector can run, 1 at least one can't.
    """
    report = _report()
    print(json.dumps(report, indent=2) if as_json else _text(report))
    if any(report["collectors"].values()):
        raise typer.Exit(1)


def _report() -> dict[str, Any]:
    return {
        "collectors": abilities(),
        "host": {
            "kernel": platform.release(),
            "machine": platform.machine(),
            "is_root": os.geteuid() == 0,
            "has_type_information": VMLINUX.exists(),
            "has_tracefs": has_tracefs(),
            "has_multi_links": has_multi_links(),
        },
        "versions": {
            "memflame": __version__,
            "python": platform.python_version(),
            "bcc": _bcc_version(),
            **{name: _version(name) for name in _PACKAGES},
        },
    }


def _text(report: dict[str, Any]) -> str:
    width = max(map(len, COLLECTORS))
    lines = [f"{name:{width}}  {why_not or 'ready'}" for name, why_not in report["collectors"].items()]
    host, versions = report["host"], report["versions"]
    lines += ["", f"Linux {host['kernel']} on {host['machine']}, {'root' if host['is_root'] else 'not root'}"]
    lines += [f"{name}: {_yes_no(host[key])}" for key, name in _HOST_LINES.items()]
    lines += ["", *(f"{name} {version or 'missing'}" for name, version in versions.items())]
    return "\n".join(lines)


_HOST_LINES = {
    "has_type_information": "type information (BTF)",
    "has_tracefs": "tracefs",
    "has_multi_links": "many probes in one link",
}


def _yes_no(value: bool) -> str:
    return "yes" if value else "no"


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


def _bcc_version() -> str:
    """Debian's package has no metadata that Python can read: the version stands in a file of its own."""
    spec = importlib.util.find_spec("bcc")
    if spec is None or spec.origin is None:
        return ""
    # Not imported: that would load LLVM only to read a number.
    for line in Path(spec.origin).with_name("version.py").read_text().splitlines():
        if line.startswith("__version__"):
            return line.partition("=")[2].strip(" '\"")
    return "installed"
