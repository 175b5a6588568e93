"""The memory of a live process, as it is now: /proc/PID/mem.

https://man7.org/linux/man-pages/man5/proc_pid_mem.5.html
"""

from __future__ import annotations

from pathlib import Path


def read_memory(pid: int, address: int, count: int) -> bytes:
    """Up to the first byte that is not mapped; nothing once the process has exited."""
    try:
        with Path(f"/proc/{pid}/mem").open("rb", buffering=0) as memory:
            memory.seek(address)
            return memory.read(count)
    except OSError:
        return b""
