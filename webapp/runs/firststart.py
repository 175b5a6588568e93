"""What one machine needs once: secret, login, demo project and a token for the local agent."""

from __future__ import annotations

import json
import os
import secrets
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.core.management.utils import get_random_secret_key

from webapp.hosts.models import Host
from webapp.teams.models import Membership, Project, Role, Team, User

LOGIN = "admin"
DEMO = "demo"


def write_private(path: Path, text: str) -> None:
    """A file that only its owner may read, written whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    fresh = path.with_name(path.name + ".new")
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(text)
    fresh.replace(path)


def ensure_secret_key() -> None:
    """Write the key that settings read; call before anything is signed with another."""
    path = settings.DATA_DIR / "secret_key"
    if not path.exists() and "MEMFLAME_SECRET_KEY" not in os.environ:
        write_private(path, get_random_secret_key() + "\n")
    if path.exists() and "MEMFLAME_SECRET_KEY" not in os.environ:
        settings.SECRET_KEY = path.read_text().strip()


@dataclass(frozen=True, slots=True)
class Login:
    username: str
    password: str  # "" once it was changed in the browser


def ensure_login() -> Login:
    """The generated administrator; the password is kept in a 0600 file so that every start can print it."""
    path = settings.DATA_DIR / "login.json"
    if path.exists():
        password = str(json.loads(path.read_text())["password"])
        user = User.objects.filter(username=LOGIN).first()
        if user is not None:
            return Login(LOGIN, password if user.check_password(password) else "")
    password = secrets.token_urlsafe(12)
    user, _ = User.objects.get_or_create(username=LOGIN, defaults={"is_staff": True, "is_superuser": True})
    user.set_password(password)
    user.save()
    write_private(path, json.dumps({"username": LOGIN, "password": password}) + "\n")
    return Login(LOGIN, password)


def ensure_demo_project() -> Project:
    team, _ = Team.objects.get_or_create(slug=DEMO, defaults={"name": "Demo"})
    Membership.objects.get_or_create(team=team, user=User.objects.get(username=LOGIN), defaults={"role": Role.OWNER})
    project, _ = Project.objects.get_or_create(slug=DEMO, defaults={"team": team, "name": "Demo"})
    return project


def ensure_agent_token(team: Team, host_name: str) -> Path:
    """The local agent's token in a 0600 file; a lost file gets a new token."""
    path: Path = settings.DATA_DIR / "agent" / "token"
    host = Host.find(path.read_text().strip()) if path.exists() else None
    if host is None:
        _, token = Host.enrol(team, host_name)
        write_private(path, token + "\n")
    return path
