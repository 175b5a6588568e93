"""The form that enrols a host."""

from __future__ import annotations

from django import forms


class EnrolForm(forms.Form):
    name = forms.RegexField(
        r"^[A-Za-z0-9][A-Za-z0-9._-]*$",
        max_length=100,
        error_messages={
            "required": "Enter the name that people know the host by.",
            "invalid": "A host name is letters, digits, dots, dashes and underscores, a letter or digit first.",
        },
    )
