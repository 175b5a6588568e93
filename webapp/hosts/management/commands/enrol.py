"""`manage.py enrol TEAM HOST`: makes a host and prints its agent's token, once."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from webapp.hosts.models import Host
from webapp.teams.models import Team


class Command(BaseCommand):
    help = "Make a host (or give it a new token) and print the token of its agent; it can't be shown again"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("team", help="slug of the team whose projects may record on the host")
        parser.add_argument("host", help="name of the host as people call it")

    def handle(self, *args: Any, **options: Any) -> None:
        team = Team.objects.filter(slug=options["team"]).first()
        if team is None:
            known = ", ".join(Team.objects.values_list("slug", flat=True)) or "none yet"
            raise CommandError(f"no team {options['team']!r}; teams: {known}")
        _, token = Host.enrol(team, options["host"])
        self.stdout.write(token)
