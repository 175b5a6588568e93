"""The price tag on live programs: its memory is the kernel's figure, its rates are those of the program."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tracer.collectors.estimate import map_bytes
from tracer.prices import METHODS, Estimate

MEMFLAME = Path(sys.executable).with_name("memflame")


CASES = {
    **{method.name: (method, {}, False) for method in METHODS if method.collector != "malloc"},
    **{method.name: (method, {"unwind": "fp"}, False) for method in METHODS if method.collector == "malloc"},
    "malloc, unwound": (METHODS[0], {"unwind": "dwarf"}, True),
}


@pytest.mark.parametrize("case", CASES)
def test_the_memory_it_names_is_what_the_kernel_takes(launch, recording_of, case):
    method, options, unwinds = CASES[case]
    modes = {"mode": method.mode} if method.mode else {}
    with recording_of(launch("leaky"), method.collector, **modes, **options):
        taken = sum(_locked_bytes())

    if not taken:
        pytest.skip("this kernel does not say how much memory a map takes")
    assert map_bytes(method, unwinds=unwinds) == pytest.approx(taken, rel=0.01)


def _locked_bytes():
    for fd in Path("/proc/self/fd").iterdir():
        if fd.is_symlink() and os.readlink(fd) == "anon_inode:bpf-map":  # noqa: PTH115 - a link that is no path
            lines = Path(f"/proc/self/fdinfo/{fd.name}").read_text().splitlines()
            yield int(dict(line.split(":\t") for line in lines).get("memlock", 0))


def test_the_command_prices_every_way_to_record_a_live_process(launch):
    workload = launch("leaky")
    command = [MEMFLAME, "record", "--estimate", "--estimate-seconds", "0.5", "--json", "--pid", str(workload.pid)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        printed, _ = running.communicate()

    estimate = Estimate.from_dict(json.loads(printed))
    assert [price.method.name for price in estimate.prices if price.is_recommended] == ["malloc, exact"]
    assert len(estimate.prices) == 6
    assert {price.share for price in estimate.prices} == {0.0}  # the program stands still


def test_a_process_that_is_gone_is_refused_in_words():
    command = [MEMFLAME, "record", "--estimate", "--pid", "4194303"]
    done = subprocess.run(command, capture_output=True, text=True)

    assert (done.returncode, done.stderr) == (1, "memflame record: there is no process 4194303\n")
