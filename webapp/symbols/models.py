"""Binaries and debug files of a project, by the build id that ties them to the frames of its runs."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from webapp.teams.models import Project, User


class SymbolFile(models.Model):
    """What the file says of itself was read by a process without rights, once, when it came."""

    class Kind(models.TextChoices):
        BINARY = "binary"
        DEBUG = "debug"  # its code is in another file

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="symbol_files")
    module = models.CharField(max_length=255)  # file name of the binary, as frames have it
    build_id = models.CharField(max_length=128, blank=True)  # empty: the linker wrote none
    kind = models.CharField(max_length=10, choices=Kind.choices)
    has_lines = models.BooleanField()  # and so inlined functions
    size = models.BigIntegerField()
    sha256 = models.CharField(max_length=64)
    stored = models.CharField(max_length=200)  # storage name
    uploaded_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    uploaded_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "sha256"], name="one_symbol_file_a_content")]
        indexes = [
            models.Index(fields=["project", "build_id"], name="symbols_build_id"),
            models.Index(fields=["project", "module"], name="symbols_module"),
        ]
        ordering = ["module", "-pk"]

    def __str__(self) -> str:
        return f"{self.module} {self.build_id[:8]}".strip()
