"""`manage.py create_project TEAM PROJECT --owner USER`: a team, a project in it and its first owner."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.core.validators import validate_slug
from django.db import transaction

from webapp.teams.models import Membership, Project, Role, Team, User


class Command(BaseCommand):
    help = "Make a project, and its team where it is new, with USER as an owner"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("team", help="slug of the team, made when it is new")
        parser.add_argument("project", help="slug of the project, as in links and on the command line")
        parser.add_argument("--owner", required=True, help="user name, from `manage.py createsuperuser`")

    @transaction.atomic
    def handle(self, *args: Any, **options: Any) -> None:
        owner = User.objects.filter(username=options["owner"]).first()
        if owner is None:
            raise CommandError(f"no user {options['owner']!r}: make one with `manage.py createsuperuser`")
        for slug in (options["team"], options["project"]):
            validate_slug(slug)
        if Project.objects.filter(slug=options["project"]).exists():
            raise CommandError(f"there is a project {options['project']!r} already")
        team, _ = Team.objects.get_or_create(slug=options["team"], defaults={"name": options["team"]})
        Membership.objects.update_or_create(team=team, user=owner, defaults={"role": Role.OWNER})
        project = Project.objects.create(team=team, slug=options["project"], name=options["project"])
        self.stdout.write(f"/p/{project.slug}/")
