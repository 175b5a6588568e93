"""`memflame doctor`: lines for people, JSON for machines, and an exit code that tells."""

from __future__ import annotations

import json
import os
import subprocess
import sys

from tracer.collectors.check import failure, ok
from tracer.commands.doctor import _lines

DOCTOR = [sys.executable, "-m", "tracer", "doctor"]


def doctor(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*DOCTOR, *arguments], capture_output=True, text=True)


def test_each_check_is_a_line_and_what_mends_it_stands_below():
    checks = [ok("kernel", "Linux 6.18"), failure("bcc", "bcc is missing.", "apt-get install python3-bpfcc")]

    assert _lines(checks) == [
        "ok       kernel  Linux 6.18",
        "failure  bcc     bcc is missing.",
        "                 apt-get install python3-bpfcc",
    ]


def test_the_report_has_the_host_and_the_process():
    report = json.loads(doctor("--json", "--pid", str(os.getpid())).stdout)

    assert set(report) == {"collectors", "perf", "host", "process", "versions"}
    assert {check["name"] for check in report["host"]} >= {"kernel", "bcc", "tracefs", "stack depth"}
    assert report["process"][0]["text"].endswith(f"pid {os.getpid()}")


def test_a_process_that_is_gone_is_a_failure():
    done = doctor("--pid", str(2**22 - 1))

    assert done.returncode == 1
    assert f"There is no process {2**22 - 1}." in done.stdout
