"""A process that will read foreign files to one that can do nothing but that: no rights, no network, no files to open.

What it needs is loaded before, and it keeps the descriptors that it was given. https://man7.org/linux/man-pages/man7/credentials.7.html
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
from contextlib import suppress

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_NO_NEW_PRIVS = 1, 4, 38  # linux/prctl.h
_CLONE_NEWUTS, _CLONE_NEWIPC, _CLONE_NEWNET = 0x04000000, 0x08000000, 0x40000000  # linux/sched.h
# User ids that neither systemd nor a range of subordinate ids gives to anybody: with one of its own, the process can't
# even send a signal to another one. https://systemd.io/UIDS-GIDS/
_FIRST_OWN_USER = 1_900_000_000
_NOBODY = 65_534

_LIMITS = {
    resource.RLIMIT_AS: 3 << 30,  # DWARF of a program of 230 MB takes 350 MB
    resource.RLIMIT_CPU: 60,
    resource.RLIMIT_FSIZE: 1 << 30,
    resource.RLIMIT_NOFILE: 64,
    resource.RLIMIT_NPROC: 0,
    resource.RLIMIT_CORE: 0,
}


def confine() -> None:
    """For the rest of the process's life; without root's rights it keeps its user and its view of the files.

    PermissionError if root may not become another user.
    """
    library = ctypes.CDLL(None)
    library.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    library.unshare(_CLONE_NEWNET | _CLONE_NEWIPC | _CLONE_NEWUTS)
    if os.geteuid() == 0:
        _leave_files()
        _leave_root()
    library.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    library.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    library.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)  # a change of user clears it
    for limit, value in _LIMITS.items():
        with suppress(ValueError):  # a lower one holds already
            resource.setrlimit(limit, (value, value))


def _leave_files() -> None:
    """An empty root directory: one of this process's own, where nothing can be made."""
    with suppress(PermissionError):  # some containers take that right even from root
        os.chroot("/proc/self/fdinfo")
        os.chdir("/")


def _leave_root() -> None:
    os.setgroups([])
    for user in (_FIRST_OWN_USER + os.getpid(), _NOBODY):  # a container may not know the first
        with suppress(OSError):
            os.setresgid(user, user, user)
            os.setresuid(user, user, user)
            return
    raise PermissionError("it is read without root's rights only, and they can't be given up here (CAP_SETUID)")
