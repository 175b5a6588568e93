"""Wrong usage of `memflame record`: exit code 2, before anything is attached."""

from __future__ import annotations

import pytest

from tracer.commands import main


@pytest.mark.parametrize(
    "arguments, reason",
    [
        (["--pid", "1", "--collector", "heap"], "there is no collector 'heap'"),
        (["--pid", "1", "--duration", "0"], "--duration is 0 s"),
        (["--pid", "1", "--duration", "3601"], "3600 s at most"),
        (["--pid", "1", "--snapshot-every", "1"], "--snapshot-every needs -o"),
        (["--pid", "1", "--snapshot-every", "0.01", "-o", "x"], "the limit is 0.1 s"),
        (
            ["--pid", "1", "--duration", "3600", "--snapshot-every", "1", "-o", "x"],
            "3,600 snapshots, the limit is 2,000",
        ),
        (["--pid", "1", "-o", "/no/such/directory/x"], "can't write to the directory /no/such/directory"),
        (["--pid", "1", "--age-bands", "10"], "--age-bands is '10': an age is a whole number with s, m or h behind it"),
        (["--pid", "1", "--collector", "brk", "--age-bands", "1m"], "--age-bands is '1m', but brk has no blocks"),
        (["--pid", "1", "--unwind", "lbr"], "--unwind is 'lbr', there is auto, fp, dwarf"),
        (["--pid", "1", "--collector", "brk", "--unwind", "fp"], "--unwind is 'fp', but brk has no choice"),
        (["--pid", "1", "--older-than", "2d"], "--older-than is '2d': an age is a whole number with s, m or h"),
        (["--pid", "1", "--min-size", "-1"], "--min-size is -1, it must be a number of bytes from 0 to"),
        (["--pid", "1", "--min-size", "9", "--max-size", "8"], "--min-size is 9 bytes, it must not be above max_size"),
        (["--pid", "0"], "'0' is no process number"),
        (["--pid", "12,x"], "'x' is no process number"),
        ([], "one of --pid, --name, --cgroup, --unit and --container is needed, none was given"),
        (["--pid", "1", "--name", "worker"], "is needed, 2 were given"),
        (["--container", "web"], "expected 12 to 64 digits of its id"),
    ],
)
def test_wrong_usage_is_refused_with_its_reason(capsys, arguments, reason):
    with pytest.raises(SystemExit) as refusal:
        main(["record", *arguments])

    assert refusal.value.code == 2
    assert reason in " ".join(capsys.readouterr().err.split())
