"""The code that the kernel maps into every process, [vdso], as a file: ours is the same as the target's."""

from __future__ import annotations

import os
from pathlib import Path

from tracer.process.maps import executable_mappings

NAME = "[vdso]"


def vdso_image() -> int | None:
    """A descriptor, for the caller to close; None where there is no such code or it can't be read."""
    try:
        ours = Path("/proc/self/maps").read_text(errors="surrogateescape")
        mapping = next((known for known in executable_mappings(ours) if known.path == NAME), None)
        if mapping is None:
            return None
        with Path("/proc/self/mem").open("rb", buffering=0) as memory:
            content = os.pread(memory.fileno(), mapping.end - mapping.start, mapping.start)
    except OSError:
        return None
    image = os.memfd_create(NAME)
    os.pwrite(image, content, 0)
    return image
