"""The real client `pyroscope-io` pushes heap and processor profiles of a small program here, unchanged."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from webapp.pushes.models import IgnoredPushes
from webapp.runs.models import Run

PROGRAM = """
import sys, time
import pyroscope

pyroscope.configure(
    application_name="shop", server_address=sys.argv[1], basic_auth_username="anyone", basic_auth_password=sys.argv[2],
    tags={"pod": "shop-1", "version": "v412"}, upload_interval=1, mem_enabled=True, mem_heap_sample_size=4096,
)
kept = []

def leak_cache():
    kept.append(bytearray(100_000))

end = time.monotonic() + 2.5
while time.monotonic() < end:
    leak_cache()
    sum(range(20_000))
    time.sleep(0.01)
pyroscope.shutdown()
"""


@pytest.mark.django_db(transaction=True)
def test_the_leak_of_a_program_that_pushes_is_in_its_run(live_server: Any, story: Any, the_run: Any) -> None:
    subprocess.run([sys.executable, "-c", PROGRAM, live_server.url, story.token], check=True, timeout=60)

    run = the_run()
    assert (run.service, run.host_name, run.deploy, run.state) == ("shop", "shop-1", "v412", "ready")
    held = [snapshot.total_of("inuse_space") for snapshot in run.snapshots.all()]
    assert len(held) >= 2
    assert held == sorted(held)
    rows = run.snapshots.last().payloads.get(value_type="inuse_space").functions["rows"]
    assert rows[0][0] == "leak_cache"
    assert rows[0][1] > 0.8 * held[-1]
    assert IgnoredPushes.objects.get().kind == "process_cpu"
    assert Run.objects.count() == 1

    for snapshot in run.snapshots.all():
        meaning = next(row["meaning"] for row in snapshot.value_types if row["name"] == "alloc_space")
        assert meaning.startswith("Bytes allocated, freed since or not, in the last ")
        assert 0 < snapshot.capture["interval_s"] < 5
