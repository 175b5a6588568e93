"""`memflame rates` on live programs: what it prints is what they did."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

from tracer.bpf import syscalls
from tracer.collectors.host_counting import HostCounting

MEMFLAME = Path(sys.executable).with_name("memflame")


def rates(*arguments, **options):
    return subprocess.Popen([MEMFLAME, "rates", *arguments], stdout=subprocess.PIPE, text=True, **options)


def test_lines_of_a_process_add_up_to_what_it_did_and_end_with_it(launch):
    workload = launch("leaky")
    with rates("--pid", str(workload.pid), "--interval", "0.2", "--json", stderr=subprocess.PIPE) as running:
        first = json.loads(running.stdout.readline())
        workload.work()
        workload.exit()
        printed, said = running.communicate()

    lines = [first, *map(json.loads, printed.splitlines())]
    sums = {name: round(sum(line[name] * line["seconds"] for line in lines)) for name in ("malloc", "free")}
    assert sums["free"] == 1009 and sums["malloc"] - 1009 in range(23, 25)
    assert said == f"memflame rates: process {workload.pid} has exited\n"
    assert running.returncode == 0


def test_a_reader_that_leaves_ends_it_without_a_word(launch):
    with rates("--pid", str(launch("leaky").pid), "--interval", "0.1", stderr=subprocess.PIPE) as running:
        assert running.stdout.readline().split()[0] == "time"
        running.stdout.close()

        assert running.stderr.read() == ""
    assert running.returncode == 0


def test_an_interrupt_ends_it_with_the_lines_it_has(launch):
    with rates("--pid", str(launch("leaky").pid), "--interval", "60") as running:
        running.stdout.readline()
        running.send_signal(signal.SIGINT)
        printed, _ = running.communicate()

    assert running.returncode == 0
    assert len(printed.splitlines()) <= 1


def test_of_all_processes_each_has_its_own_events_also_after_its_exit(launch):
    busy, idle, gone = launch("mappings"), launch("mappings"), launch("heap")
    with HostCounting() as counting:
        busy.work()
        gone.work()
        gone.exit()
        _, processes = counting.take()
        ours = counting.kernel_ids()

    events = {known.pid: known.events for known in processes}
    assert events[busy.pid][:5] == (0, 0, 0, 27, 15)
    assert events[gone.pid][:5] == (0, 0, 25, 0, 0)
    assert idle.pid not in events
    assert next(known.command for known in processes if known.pid == gone.pid) == "heap"
    assert ours.programs and not ours.programs & set(syscalls.loaded_program_ids())


def test_allocator_calls_of_all_processes_are_counted_on_demand(launch):
    workload, static = launch("leaky"), launch("leaky-static")
    with HostCounting(counts_allocators=True) as counting:
        counting.take()
        workload.work()
        static.work()
        _, processes = counting.take()

    events = {known.pid: known.events for known in processes}
    assert events[workload.pid][:2] == events[static.pid][:2] == (23 + 1009, 1009)
