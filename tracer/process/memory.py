"""The memory of a live process, as it is now: /proc/PID/mem.

https://man7.org/linux/man-pages/man5/proc_pid_mem.5.html
"""

from __future__ import annotations

import os
from pathlib import Path


class Memory:
    """Stays readable while the process has the memory that it had when this was made."""

    def __init__(self, directory: Path) -> None:
        """`directory` is the process's own in /proc; OSError: it can't be read."""
        self._fd = os.open(directory / "mem", os.O_RDONLY | os.O_CLOEXEC)

    def read(self, address: int, count: int) -> bytes:
        """Up to the first byte that is not mapped; nothing once the process has exited."""
        try:
            return os.pread(self._fd, count, address)
        except OSError:
            return b""

    def close(self) -> None:
        os.close(self._fd)
