"""Uploads a file to a site of a test."""

from __future__ import annotations

import httpx

from tests.site_fixture import LiveSite, Story


def uploaded(site: LiveSite, story: Story, folded: str) -> str:
    """The id of the run that it became."""
    answer = httpx.post(
        f"{site.url}/api/v1/projects/{story.project}/uploads",
        content=folded.encode(),
        headers={"Authorization": f"Bearer {story.project_token}"},
        timeout=60,
    )
    assert answer.status_code == 201, answer.text
    return str(answer.json()["run"])
