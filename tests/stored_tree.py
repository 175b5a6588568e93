"""Stores a generated call tree as a run's, which sooner than an upload gives a site the largest profiles."""

from __future__ import annotations

import pickle
from pathlib import Path

from tests.site_fixture import LiveSite, Story
from tracer.profile.tree import CallTree

FOLDED = b'# memflame-folded 1\n# values: outstanding_bytes\n# capture: {"collector":"malloc"}\nmain;f 16\n'
# A run of one stack arrives as any does; its tree is then replaced by the generated one, as later symbols replace it.
REPLACE = """
import pickle
from pathlib import Path
from django.db import transaction
from webapp.runs import revisions
from webapp.runs.models import Snapshot
snapshot = Snapshot.objects.get(run__run_id="{run}")
call_tree = pickle.loads(Path("{tree}").read_bytes())
made = revisions.made(snapshot, call_tree, 2)
types = snapshot.value_types
types[0]["total"] = call_tree.total(0)
with transaction.atomic():
    revisions.keep(snapshot, made, [])
    Snapshot.objects.filter(pk=snapshot.pk).update(value_types=types, nodes=len(call_tree), **made.fields)
"""


def stored(site: LiveSite, story: Story, tree: CallTree, folder: Path) -> str:
    """The id of a run whose tree is the generated one, of outstanding bytes."""
    kept = folder / "tree.pickle"
    kept.write_bytes(pickle.dumps(tree))
    head = {"Authorization": f"Bearer {story.project_token}"}
    with site.person(story) as person:
        answer = person.post(f"/api/v1/projects/{story.project}/uploads", content=FOLDED, headers=head, timeout=90)
        run = str(answer.json()["run"])
        site.wait_until(lambda: person.get(f"/api/v1/runs/{run}", headers=head).json()["state"] == "ready", 60)
    site.manage("shell", "-v0", "-c", REPLACE.format(run=run, tree=kept))
    return run
