"""`manage.py up`: site, ingest worker, sweep, local agent and demo under one supervisor."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import psutil
from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

from webapp.runs import firststart
from webapp.runs.supervisor import Service, Supervisor

MANAGE_PY = settings.BASE_DIR / "manage.py"
LOOPBACK = ("127.0.0.1", "localhost", "::1")
READY_WITHIN_S = 30
LOG_BYTES_KEPT = 1 << 20


class Command(BaseCommand):
    help = "Run everything on this machine: site, ingest worker, sweep, local agent, demo project"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
        parser.add_argument("--port", type=int, default=8000)
        parser.add_argument("--no-demo", action="store_true", help="no demo project, no demo service")

    def handle(self, *args: Any, **options: Any) -> None:
        host, port = options["host"], options["port"]
        _refuse_taken_port(host, port)
        login, token_file = self._prepare(host)
        url = f"http://{_browser_host(host)}:{port}"
        services = _services(host, port, token_file, with_demo=not options["no_demo"])
        threading.Thread(target=self._announce, args=(url, login), daemon=True).start()
        Supervisor(services, settings.DATA_DIR / "log", self._say).run()
        self._say("stopped")

    def _prepare(self, host: str) -> tuple[firststart.Login, Path]:
        settings.DATA_DIR.mkdir(parents=True, exist_ok=True, mode=0o700)
        firststart.ensure_secret_key()
        _trim_logs(settings.DATA_DIR / "log")
        call_command("migrate", interactive=False, verbosity=0)
        call_command("collectstatic", interactive=False, verbosity=0)
        os.environ.setdefault("MEMFLAME_ALLOWED_HOSTS", ",".join(_host_names(host)))
        login = firststart.ensure_login()
        project = firststart.ensure_demo_project()
        return login, firststart.ensure_agent_token(project.team, socket.gethostname())

    def _announce(self, url: str, login: firststart.Login) -> None:
        """Print where to go once the site answers; a site that doesn't is said to be late, with the log's place."""
        begin = time.monotonic()
        while not _is_ready(url):
            if time.monotonic() - begin > READY_WITHIN_S:
                self._say(f"{url}/readyz does not answer 200 yet, see {settings.DATA_DIR / 'log' / 'web.log'}")
                begin = time.monotonic()
            time.sleep(0.2)
        password = login.password or "as you changed it"
        self._say(f"ready at {url}\n\n  login     {login.username}\n  password  {password}\n")
        self._say(f"logs are in {settings.DATA_DIR / 'log'}; Ctrl-C stops everything")

    def _say(self, text: str) -> None:
        self.stdout.write(f"memflame: {text}")
        self.stdout.flush()


def _services(host: str, port: int, token_file: Path, *, with_demo: bool) -> list[Service]:
    """In the order of starting; the agent is the last but the demo, and the first to be stopped."""
    python, manage = sys.executable, str(MANAGE_PY)
    uvicorn = [
        "-m", "uvicorn", "webapp.asgi:application", "--host", host, "--port", str(port), "--workers", "1",
        "--no-server-header", "--no-access-log", "--lifespan", "off", "--timeout-graceful-shutdown", "1",
    ]  # fmt: skip
    # One child process, so that Celery's time limits hold and the memory that large trees took is given back.
    worker = ["-m", "celery", "-A", "webapp.celery", "worker", "-Q", "ingest", "-c", "1", "-l", "warning"]
    services = [
        Service("web", [python, *uvicorn], grace_s=2.5),
        Service("worker", [python, *worker, "--without-gossip", "--without-mingle"], grace_s=2.5),
        Service("sweep", [python, manage, "sweep"], grace_s=2.5),
    ]
    if with_demo:
        binary = settings.DATA_DIR / "demo" / "leaky_service"
        if binary.exists():
            services.append(Service("demo-service", [str(binary), "2"], grace_s=1))
        services.append(Service("demo", [python, manage, "demo"], grace_s=2, runs_once=True))
    services.append(_agent(f"http://{_browser_host(host)}:{port}", token_file))
    return services


def _agent(url: str, token_file: Path) -> Service:
    """Root is needed for probes; without it the agent still runs, and says that it can't record."""
    memflame = Path(sys.executable).with_name("memflame")
    options = ["--server", url, "--token-file", str(token_file), "--spool", str(settings.DATA_DIR / "agent" / "spool")]
    broker = {"MEMFLAME_BROKER": settings.BROKER_URL}  # may hold a password, which an argument would show
    return Service("agent", [str(memflame), "agent", *options], env=broker, grace_s=6.5, as_root=_has_sudo())


def _has_sudo() -> bool:
    """Ask once for the password on a terminal; sudo keeps it for the agent that starts a moment later."""
    if os.geteuid() == 0 or shutil.which("sudo") is None:
        return False
    ask = ["sudo", "-v"] if sys.stdin.isatty() else ["sudo", "-n", "true"]
    return subprocess.run(ask, check=False, stderr=subprocess.DEVNULL).returncode == 0


def _refuse_taken_port(host: str, port: int) -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise CommandError(
                f"can't listen on {host} port {port}: {error.strerror}. Choose another: make run PORT={port + 1}"
            ) from None


def _browser_host(host: str) -> str:
    """What a browser on this machine writes for the address that we listen on."""
    if host in ("0.0.0.0", "::", ""):
        return "127.0.0.1"
    return f"[{host}]" if ":" in host else host


def _host_names(host: str) -> list[str]:
    """Names this site answers to: loopback only, or all of this machine's when it listens beyond."""
    names = ["localhost", "127.0.0.1", "[::1]"]
    if host in LOOPBACK:
        return names
    addresses = [row.address.split("%")[0] for rows in psutil.net_if_addrs().values() for row in rows]
    numeric = [f"[{text}]" if ":" in text else text for text in addresses if text.count(":") != 5]
    return sorted({*names, *numeric, socket.gethostname(), socket.getfqdn(), host})


def _is_ready(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/readyz", timeout=2) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def _trim_logs(folder: Path) -> None:
    """Keep one older part of each log."""
    for log in folder.glob("*.log") if folder.exists() else []:
        if log.stat().st_size > LOG_BYTES_KEPT:
            log.replace(log.with_suffix(".log.1"))
