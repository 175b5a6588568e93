"""The process that counts: a process to be estimated on standard input, what that came to on standard output.

    in   {"pid": 4711, "start_time": 1234, "seconds": 3.0, "parent": 812}
    out  {"result": {…}, "reason": ""}, or {"result": null, "reason": "there is no process 4711"}

It holds no token and speaks to no network.
"""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Mapping
from typing import Any

from tracer.agent.children import read_task
from tracer.collectors import CollectorError
from tracer.collectors.price_tag import price_tag

logger = logging.getLogger(__name__)


def main() -> int:
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    with os.fdopen(os.dup(1), "w") as output:
        os.dup2(2, 1)  # what a library prints can't be taken for the answer
        json.dump(_answer(read_task()), output)
    return 0


def _answer(task: Mapping[str, Any]) -> dict[str, Any]:
    try:
        found = price_tag(int(task["pid"]), float(task["seconds"]), start_time=int(task["start_time"]))
    except CollectorError as error:
        return {"result": None, "reason": _sentence(str(error))}
    except Exception as error:
        logger.exception("counting failed")
        return {"result": None, "reason": f"Counting ended by an error of memflame: {type(error).__name__}: {error}"}
    return {"result": found.to_dict(), "reason": ""}


def _sentence(text: str) -> str:
    ended = text if text.endswith(".") else f"{text}."
    return ended[:1].upper() + ended[1:]


if __name__ == "__main__":
    sys.exit(main())
