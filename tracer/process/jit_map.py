"""A process to the map of JIT-compiled code that it writes: /tmp/perf-PID.map, by the pid that it knows itself by."""

from __future__ import annotations

import os
from dataclasses import dataclass

from tracer.process.root import Root
from tracer.process.target import Process
from tracer.symbols.jit import MAX_BYTES


@dataclass(frozen=True, slots=True)
class JitMap:
    """Where the map is and whose it must be; `open` finds it as it is now, after the exit too."""

    path: str
    user: int  # of the process, on this host

    @classmethod
    def of(cls, target: Process) -> JitMap:
        status = (target.directory / "status").read_text(errors="replace")
        fields = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
        inner_pid = fields.get("NSpid", str(target.pid)).split()[-1]
        return cls(f"/tmp/perf-{inner_pid}.map", int(fields["Uid"].split()[1]))

    def open(self, root: Root) -> int | None:
        """None if there is none, or if it is another user's: anybody may write to /tmp."""
        fd = root.open_itself(self.path)
        if fd is None or os.fstat(fd).st_uid in (self.user, 0):
            return fd
        os.close(fd)
        return None


def is_read_in_part(fd: int) -> bool:
    return os.fstat(fd).st_size > MAX_BYTES
