"""Forms of sign-in, tokens and members."""

from __future__ import annotations

import math
import re
from datetime import datetime, timedelta
from typing import Any

from django import forms
from django.contrib.auth.forms import AuthenticationForm
from django.core.exceptions import NON_FIELD_ERRORS
from django.utils import timezone

from webapp.teams import throttle
from webapp.teams.models import CodePreset, Project, Role, User

IN_PROJECT, IN_TEAM = "project", "team"
THROTTLED = "throttled"


class LoginForm(AuthenticationForm):
    error_messages = {
        "invalid_login": "This name and password do not belong together. Capitals count in both.",
        "inactive": "This account is switched off. An administrator of the site can switch it on.",
    }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["username"].label = "Name"
        self.fields["username"].error_messages["required"] = "Enter your name."
        self.fields["password"].error_messages["required"] = "Enter your password."

    def clean(self) -> dict[str, Any]:
        name, password = self.cleaned_data.get("username"), self.cleaned_data.get("password")
        if not name or not password:
            return self.cleaned_data
        try:
            throttle.begin(name, self.request.META.get("REMOTE_ADDR", "") if self.request else "")
        except throttle.TooManyTries as refusal:
            raise forms.ValidationError(_come_back(refusal.until), code=THROTTLED) from None
        cleaned: dict[str, Any] = super().clean()
        throttle.succeeded(name)
        return cleaned

    @property
    def is_throttled(self) -> bool:
        return self.has_error(NON_FIELD_ERRORS, THROTTLED)


def _come_back(until: datetime) -> str:
    """The same for every name, known or not."""
    minutes = math.ceil((until - timezone.now()).total_seconds() / 60)
    return (
        f"Too many sign-ins failed, so this one was not tried. Come back in {minutes} "
        f"{'minute' if minutes == 1 else 'minutes'}, at {until + timedelta(seconds=1):%H:%M:%S} UTC."
    )


class TokenForm(forms.Form):
    name = forms.CharField(
        max_length=100,
        error_messages={"required": "Say what the token is for: nothing else tells tokens apart later."},
    )


class MemberForm(forms.Form):
    """Who joins, as what, and where: in this project only, or in all projects of its team."""

    username = forms.CharField(max_length=150, error_messages={"required": "Enter the name of a user of this site."})
    role = forms.ChoiceField(choices=Role.choices, initial=Role.MEMBER)
    scope = forms.ChoiceField(choices=[(IN_PROJECT, "this project"), (IN_TEAM, "the whole team")], initial=IN_PROJECT)

    def clean_username(self) -> str:
        name = str(self.cleaned_data["username"]).strip()
        if not User.objects.filter(username=name, is_active=True).exists():
            raise forms.ValidationError(f"This site has no user “{name}”. Names are matched exactly, capitals count.")
        return name


class PresetForm(forms.Form):
    """A name for the functions that are a project's own code, and the expression that finds them."""

    name = forms.CharField(max_length=60, error_messages={"required": "Name the code: the name is what people choose."})
    pattern = forms.CharField(
        max_length=CodePreset.PATTERN_CHARACTERS,
        strip=False,
        error_messages={"required": "Enter an expression that the names of your functions match."},
    )

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.project = project

    def clean_name(self) -> str:
        name = str(self.cleaned_data["name"])
        if self.project.code_presets.filter(name=name).exists():
            raise forms.ValidationError(f"“{name}” is there already. Delete it first, or choose another name.")
        return name

    def clean_pattern(self) -> str:
        """Browsers apply it; what both languages read is read the same."""
        pattern = str(self.cleaned_data["pattern"])
        try:
            re.compile(pattern)
        except re.error as error:
            at = f" at character {error.pos + 1}" if error.pos is not None else ""
            raise forms.ValidationError(f"This is no expression: {error.msg}{at}.") from None
        return pattern

    def clean(self) -> dict[str, Any]:
        if self.project.code_presets.count() >= CodePreset.MOST:
            raise forms.ValidationError(f"A project has at most {CodePreset.MOST} of these. Delete one first.")
        return self.cleaned_data
