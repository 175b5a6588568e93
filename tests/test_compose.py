"""docker-compose.yml is valid and names the parts that the tests run natively."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent


def _config(tmp_path: Path) -> dict[str, object]:
    if shutil.which("docker-compose") is None:
        pytest.skip("docker-compose is not installed: `make test` installs it")
    example = (ROOT / ".env.example").read_text()
    env_file = tmp_path / "env"
    env_file.write_text("\n".join(line + "filled-in" if line.endswith("=") else line for line in example.splitlines()))
    environment = {key: value for key, value in os.environ.items() if not key.startswith("MEMFLAME")}
    done = subprocess.run(
        ["docker-compose", "--env-file", str(env_file), "-f", str(ROOT / "docker-compose.yml"), "config"],
        capture_output=True, text=True, env=environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    parsed = yaml.safe_load(done.stdout)
    assert isinstance(parsed, dict)
    return parsed


def test_the_compose_file_is_valid_and_complete(tmp_path: Path) -> None:
    services = _config(tmp_path)["services"]

    assert isinstance(services, dict)
    assert {"web", "worker", "sweep", "tracer", "postgres", "redis", "migrate"} == set(services)


def test_every_variable_of_the_site_is_a_setting(tmp_path: Path) -> None:
    from webapp.env import SETTINGS

    services = _config(tmp_path)["services"]

    assert isinstance(services, dict)
    assert set(services["web"]["environment"]) <= set(SETTINGS)


def test_secrets_have_no_default() -> None:
    text = (ROOT / "docker-compose.yml").read_text()

    for name in ("POSTGRES_PASSWORD", "REDIS_PASSWORD", "MEMFLAME_SECRET_KEY"):
        assert f"${{{name}:?" in text
