"""Control groups of texts as engines and systemd write them, and of a group that the test makes.

No container engine and no systemd runs here: the texts below are as their documentation and sources give them.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tracer.process.cgroups import container_of, directories_of, is_in_unit, parse_memberships, pids_in

ID = "4f0c6bd1a2e7" + "9" * 52

CONTAINERS = {
    "docker by cgroupfs": f"4:memory:/docker/{ID}\n0::/docker/{ID}\n",
    "docker by systemd": f"0::/system.slice/docker-{ID}.scope\n",
    "docker in a group of its own": f"0::/system.slice/docker-{ID}.scope/init\n",
    "containerd for Kubernetes": f"0::/kubepods.slice/kubepods-burstable.slice/cri-containerd-{ID}.scope\n",
    "containerd for Kubernetes by cgroupfs": f"11:cpuset:/kubepods/burstable/pod1c7a6b1e-0001-4d0a/{ID}\n",
    "containerd with a colon": f"0::/system.slice/kubepods-burstable-pod1c7a.slice:cri-containerd:{ID}\n",
    "cri-o": f"0::/kubepods.slice/kubepods-besteffort.slice/crio-{ID}.scope\n",
    "podman": f"0::/machine.slice/libpod-{ID}.scope/container\n",
    "podman of a user": f"0::/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-{ID}.scope\n",
    "nerdctl": f"0::/default/{ID}\n",
}


@pytest.mark.parametrize("engine", CONTAINERS)
def test_a_containers_process_has_its_id(engine: str) -> None:
    assert container_of(parse_memberships(CONTAINERS[engine])) == ID


@pytest.mark.parametrize(
    "text", ["0::/\n", "0::/user.slice/session-3.scope\n", f"0::/machine.slice/libpod-conmon-{ID}.scope\n", ""]
)
def test_other_processes_have_no_container(text: str) -> None:
    assert container_of(parse_memberships(text)) == ""


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("0::/system.slice/nginx.service\n", "nginx.service"),
        ("9:name=systemd:/system.slice/nginx.service\n4:memory:/\n", "nginx.service"),
        ("0::/system.slice/system-getty.slice/getty@tty1.service\n", "getty@tty1.service"),
        ("0::/user.slice/user-1000.slice/user@1000.service/app.slice/feed.service\n", "feed.service"),
        ("0::/user.slice/user-1000.slice/user@1000.service/app.slice/feed.service\n", "user@1000.service"),
        ("0::/system.slice/web.service/workers\n", "web.service"),
    ],
)
def test_a_units_process_is_found_by_its_group(text: str, unit: str) -> None:
    assert is_in_unit(parse_memberships(text), unit)


@pytest.mark.parametrize(
    "text", ["0::/system.slice/nginx.service.old\n", "0::/system.slice\n", "4:memory:/system.slice/nginx.service\n"]
)
def test_another_groups_process_is_not_of_the_unit(text: str) -> None:
    assert not is_in_unit(parse_memberships(text), "nginx.service")


def test_a_group_is_found_in_version_2_before_version_1(tmp_path: Path) -> None:
    mounts = "\n".join(
        f"3{number} 24 0:2{number} / {tmp_path}/{name} rw - {kind} {kind} rw"
        for number, (name, kind) in enumerate([("memory", "cgroup"), ("cpu", "cgroup"), ("unified", "cgroup2")])
    )
    for place in ("memory/old", "cpu/old", "memory/web", "unified/web"):
        (tmp_path / place).mkdir(parents=True)

    assert directories_of("/web", mounts) == [tmp_path / "unified/web"]
    assert directories_of("old", mounts) == [tmp_path / "memory/old", tmp_path / "cpu/old"]
    assert directories_of("/none", mounts) == []


@pytest.fixture
def group() -> Iterator[Path]:
    """A control group with one below it; both are taken away."""
    root = next(iter(directories_of("/")), None)
    outer = root / f"memflame-test-{os.getpid()}" if root else Path("/nonexistent")
    try:
        (outer / "inner").mkdir(parents=True)
    except OSError as error:
        pytest.skip(f"no control group can be made here: {error}")
    yield outer
    (outer / "inner").rmdir()
    outer.rmdir()


def test_a_group_has_its_processes_and_those_below_it(group: Path) -> None:
    with subprocess.Popen(["sleep", "60"]) as first, subprocess.Popen(["sleep", "60"]) as second:
        (group / "cgroup.procs").write_text(str(first.pid))
        (group / "inner" / "cgroup.procs").write_text(str(second.pid))

        in_all, in_inner = set(pids_in(group)), set(pids_in(directories_of(f"/{group.name}/inner")[0]))

        first.kill()
        second.kill()
    assert in_all == {first.pid, second.pid}
    assert in_inner == {second.pid}
