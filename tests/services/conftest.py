"""PostgreSQL and Redis for the tests: own instances on free ports in a temporary folder, stopped by pid."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

WITHIN_S = 20.0


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + WITHIN_S
    while not condition():
        if time.monotonic() > deadline:
            pytest.fail(f"{what} is not there after {WITHIN_S:.0f} s")
        time.sleep(0.05)


def _end(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    process.send_signal(number)
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _postgres_programs() -> Path:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if not found:
        pytest.skip("PostgreSQL is not installed: `make test` installs it")
    return found[-1].parent


def _as_postgres(argv: list[str]) -> list[str]:
    """PostgreSQL refuses to run as root."""
    return ["runuser", "-u", "postgres", "--", *argv] if os.geteuid() == 0 else argv


@pytest.fixture
def postgres_url(postgres_server: str) -> str:
    """`postgres://…` of an empty database."""
    name = f"memflame_{secrets.token_hex(4)}"
    server = urlsplit(postgres_server)
    where = ["-h", str(server.hostname), "-p", str(server.port), "-U", str(server.username)]
    subprocess.run([str(_postgres_programs() / "createdb"), *where, name], check=True)
    return f"{postgres_server}/{name}"


@pytest.fixture(scope="session")
def postgres_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    programs, folder, port = _postgres_programs(), tmp_path_factory.mktemp("postgres"), _free_port()
    if os.geteuid() == 0:
        for parent in (folder, *folder.parents):
            if parent.stat().st_mode & 0o001 == 0 and parent.owner() == "root" and parent != Path("/"):
                parent.chmod(parent.stat().st_mode | 0o011)
        shutil.chown(folder, "postgres")
    data = folder / "data"
    subprocess.run(
        _as_postgres([str(programs / "initdb"), "-D", str(data), "-U", "memflame", "-A", "trust", "--no-sync"]),
        check=True, stdout=subprocess.DEVNULL, cwd="/",
    )  # fmt: skip
    options = ["-p", str(port), "-h", "127.0.0.1", "-k", str(folder), "-F", "-c", "fsync=off"]
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(
            _as_postgres([str(programs / "postgres"), "-D", str(data), *options]), stdout=log, stderr=log, cwd="/"
        )
    try:
        _wait_for(lambda: _answers(port) and _accepts(programs, port), "PostgreSQL")
        yield f"postgres://memflame@127.0.0.1:{port}"
    finally:
        _end_postgres(data, server)


def _end_postgres(data: Path, server: subprocess.Popen[bytes]) -> None:
    """Fast shutdown by the pid that the server wrote; `server` may be runuser in front of it."""
    pid_file = data / "postmaster.pid"
    if pid_file.exists():
        os.kill(int(pid_file.read_text().split()[0]), signal.SIGINT)
    try:
        server.wait(10)
    except subprocess.TimeoutExpired:
        server.kill()


def _accepts(programs: Path, port: int) -> bool:
    check = [str(programs / "pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(port)]
    return subprocess.run(check).returncode == 0


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    if shutil.which("redis-server") is None:
        pytest.skip("Redis is not installed: `make test` installs it")
    folder, port = tmp_path_factory.mktemp("redis"), _free_port()
    options = ["--port", str(port), "--bind", "127.0.0.1", "--dir", str(folder), "--save", "", "--appendonly", "no"]
    server = subprocess.Popen(["redis-server", *options], stdout=subprocess.DEVNULL)
    try:
        _wait_for(lambda: _answers(port), "Redis")
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        _end(server, signal.SIGTERM)
