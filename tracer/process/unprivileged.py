"""Bytes that others wrote, read by one of our modules in a process that may do nothing but read them and answer.

The process starts as we are, since our files may be root's alone, imports the module, calls its `load()` for what
importing does not load, and gives up everything before it calls `main(argument, source, out)`: it has a user of its
own, no network, files or children, and no more memory and time than given.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import IO, Any

from tracer.symbols.confinement import confine

_KEPT_VARIABLES = ("PATH", "PYTHONPATH", "LANG", "LC_ALL", "SSL_CERT_FILE")
_MAX_WORDS = 2000  # bytes of its standard error that are shown
FAILED = 3


class UnprivilegedError(Exception):
    """The process did not answer; the text says why."""


@dataclass(frozen=True, slots=True)
class Allowance:
    memory_bytes: int = 1 << 30  # of addresses; the interpreter itself takes 30 MB
    cpu_s: int = 60


class Unprivileged:
    """A running one: its answer is read from `output`, then `finish` says how it ended."""

    def __init__(
        self,
        module: str,
        argument: Mapping[str, Any],
        source: IO[bytes] | socket.socket,
        *,
        allowance: Allowance | None = None,
        pass_fds: Sequence[int] = (),
    ) -> None:
        self._allowance = allowance or Allowance()
        task = json.dumps({"module": module, "argument": argument, **asdict(self._allowance), "parent": os.getpid()})
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", __name__, task],
            stdin=source.fileno(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ},
            pass_fds=pass_fds,
        )

    @property
    def output(self) -> IO[bytes]:
        assert self._process.stdout is not None
        return self._process.stdout

    def finish(self) -> None:
        """Raise UnprivilegedError unless all of it was read and answered."""
        assert self._process.stderr is not None
        said = self._process.stderr.read(1 << 20).decode("utf-8", "replace").strip()
        self.output.close()
        self._process.stderr.close()
        code = self._process.wait()
        if code:
            raise UnprivilegedError(self._reason(code, said))

    def kill(self) -> None:
        self._process.kill()

    def _reason(self, code: int, said: str) -> str:
        if code in (-signal.SIGXCPU, -signal.SIGKILL):
            return f"it was ended by {signal.Signals(-code).name}; it may take {self._allowance.cpu_s} s"
        if code == FAILED:
            return said[-_MAX_WORDS:]
        return f"it ended with {code}: {said[-_MAX_WORDS:]}"


def _main(task: Mapping[str, Any]) -> int:
    reader = importlib.import_module(task["module"])
    reader.load()
    _give_up_everything(Allowance(task["memory_bytes"], task["cpu_s"]))
    if os.getppid() != task["parent"]:
        return FAILED
    try:
        reader.main(task["argument"], sys.stdin.buffer, sys.stdout.buffer)
        sys.stdout.buffer.flush()
    except MemoryError:
        print(f"it needs more than {task['memory_bytes']:,} bytes of memory", file=sys.stderr)
        return FAILED
    except Exception as error:  # whatever it is, the parent tells it to people
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return FAILED
    return 0


def _give_up_everything(allowance: Allowance) -> None:
    """What is open stays open; nothing else can be opened, started or reached from here on."""
    confine()
    limits = {
        resource.RLIMIT_AS: allowance.memory_bytes,
        resource.RLIMIT_CPU: allowance.cpu_s,
        resource.RLIMIT_FSIZE: 0,  # pipes have none
        resource.RLIMIT_NOFILE: 0,  # of new ones
    }
    for kind, limit in limits.items():
        resource.setrlimit(kind, (limit, limit))


if __name__ == "__main__":
    sys.exit(_main(json.loads(sys.argv[1])))
