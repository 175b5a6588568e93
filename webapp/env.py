"""Settings from the environment; a value that can't be read stops the start with its name."""

from __future__ import annotations

import os
from dataclasses import dataclass

from django.core.exceptions import ImproperlyConfigured


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting as docs/settings.md lists it."""

    name: str
    default: str
    about: str


SETTINGS: dict[str, Setting] = {}


def env_str(name: str, default: str, about: str) -> str:
    SETTINGS[name] = Setting(name, default, about)
    return os.environ.get(name, default)


def env_int(name: str, default: int, about: str) -> int:
    text = env_str(name, str(default), about)
    try:
        return int(text.replace("_", ""))
    except ValueError:
        raise ImproperlyConfigured(f"{name} is {text!r}, a whole number is needed") from None


def env_bool(name: str, default: bool, about: str) -> bool:
    text = env_str(name, "yes" if default else "no", about).lower()
    if text in ("1", "yes", "true", "on"):
        return True
    if text in ("0", "no", "false", "off", ""):
        return False
    raise ImproperlyConfigured(f"{name} is {text!r}, yes or no is needed")


def env_list(name: str, default: str, about: str) -> list[str]:
    return [part.strip() for part in env_str(name, default, about).split(",") if part.strip()]
