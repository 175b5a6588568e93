"""`memflame dtrace-script`: print the D script whose output memflame reads as allocations and frees."""

from __future__ import annotations

from importlib import resources


def dtrace_script() -> None:
    """Print a DTrace script that logs each allocation and free of a process, for hosts that have DTrace.

    memflame dtrace-script > memory.d; dtrace -Z -q -s memory.d -p PID -o memory.txt; memflame convert memory.txt
    """
    print(resources.files("tracer.commands").joinpath("memory.d").read_text(), end="")
