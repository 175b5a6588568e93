"""What a project has of symbols, and what its runs lack, as a section of its settings page."""

from __future__ import annotations

from typing import Any

from django import template

from webapp.runs import needed
from webapp.teams.models import Project

register = template.Library()


@register.inclusion_tag("runs/symbols.html", takes_context=True)
def symbols_section(context: dict[str, Any], project: Project) -> dict[str, Any]:
    return {
        "request": context["request"],
        "project": project,
        "can_delete": context["can_manage"],
        "files": project.symbol_files.select_related("uploaded_by"),
        "needed": needed.of_project(project),
    }
