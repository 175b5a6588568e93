"""What this host is and what it can record, as the hosts page shows it.

`python -m tracer.agent.facts` prints {"kernel", "distribution", "collectors": {"malloc": "", "brk": "why not"},
"checks": [{"name", "state", "text", "mend"}]}. Asking loads libraries, so the agent asks in a process that ends.
"""

from __future__ import annotations

import json
import logging
import os
import platform
import subprocess
import sys
from dataclasses import asdict
from typing import Any

from tracer.protocol import COLLECTORS
from tracer.pull.allowed import Allowed

logger = logging.getLogger(__name__)

ASK_TIMEOUT_S = 60.0
MOST_CHARACTERS = 500  # of a check, which is what the site takes


def ask_facts(allowed: Allowed | None = None) -> dict[str, Any]:
    """Facts of this host, and what its agent may pull; if asking fails, each collector says so."""
    command = [sys.executable, "-P", "-m", __name__]
    try:
        printed = subprocess.run(command, stdout=subprocess.PIPE, timeout=ASK_TIMEOUT_S, check=True).stdout
        facts: dict[str, Any] = json.loads(printed)
    except (subprocess.SubprocessError, ValueError) as error:
        logger.error("this host could not be asked what it can record: %s", error)
        why_not = dict.fromkeys(COLLECTORS, "the agent could not find out, see its log")
        return {**_system(), "collectors": why_not, "perf": why_not, "checks": []}
    words = (allowed or Allowed()).words
    told = words if len(words) <= MOST_CHARACTERS else f"{words[: MOST_CHARACTERS - 1]}…"
    pulls = {"name": "pulled profiles", "state": "ok", "text": told, "mend": ""}
    return {**facts, "checks": [*facts["checks"], pulls]}


def _system() -> dict[str, str]:
    return {"kernel": os.uname().release, "distribution": _distribution()}


def _distribution() -> str:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", "")
    except OSError:
        return ""


def _print_facts() -> None:
    from tracer.collectors.ability import abilities, abilities_by_perf
    from tracer.collectors.host_checks import host_checks

    checks = [asdict(check) for check in host_checks()]
    print(json.dumps({**_system(), "collectors": abilities(), "perf": abilities_by_perf(), "checks": checks}))


if __name__ == "__main__":
    _print_facts()
