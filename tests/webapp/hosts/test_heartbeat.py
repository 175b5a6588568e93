"""Heartbeats: a host says that it lives, what it can do, and which processes run on it."""

from __future__ import annotations

from typing import Any

from django.utils import timezone

BODY = {
    "agent_version": "0.1.0",
    "facts": {
        "kernel": "6.18.0", "distribution": "Debian GNU/Linux 12",
        "collectors": {"malloc": "", "brk": "", "page_faults": "no access to tracefs"},
        "perf": {"malloc": "perf is missing"},
        "checks": [{"name": "tracefs", "state": "failure", "text": "There is none.", "mend": "mount -t tracefs"}],
    },
    "processes": [
        {
            "pid": 4711, "start_time": 1234, "command": "search-api --port 80", "user": "www",
            "rss_bytes": 9437184, "started_at": "2026-11-29T10:00:00Z",
        }
    ],
}  # fmt: skip


def test_the_host_and_its_processes_are_known_afterwards(story: Any, agent: Any) -> None:
    answer = agent.post("/agent/heartbeat", BODY)

    story.host.refresh_from_db()
    assert answer.json() == {
        "host_id": story.host.host_id, "queue": f"host.{story.host.host_id}", "project_count": 1,
    }  # fmt: skip
    assert story.host.is_reporting
    assert (story.host.agent_version, story.host.facts) == ("0.1.0", BODY["facts"])
    assert story.host.process(4711)["command"] == "search-api --port 80"


def test_a_heartbeat_costs_few_queries(agent: Any, django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(3):  # the host, its row, the projects
        agent.post("/agent/heartbeat", BODY)


def test_a_command_is_cut_and_without_nuls(story: Any, agent: Any) -> None:
    process = BODY["processes"][0] | {"command": "python3\0-c\0" + "x" * 5000}  # type: ignore[operator]

    agent.post("/agent/heartbeat", BODY | {"processes": [process]})

    story.host.refresh_from_db()
    command = story.host.processes[0]["command"]
    assert (len(command), command[:12]) == (300, "python3 -c x")


def test_a_wrong_token_is_refused_in_words(story: Any, client: Any) -> None:
    for header in ({}, {"Authorization": "Bearer mfa_00000000_wrong"}, {"Authorization": f"Bearer {story.token}"}):
        answer = client.post("/api/v1/agent/heartbeat", BODY, content_type="application/json", headers=header)

        assert answer.status_code == 401
        assert answer.json()["error"].endswith(".")


def test_a_host_with_a_new_token_is_deaf_to_the_old(story: Any, agent: Any) -> None:
    from webapp.hosts.models import Host

    Host.enrol(story.host.team, story.host.name)

    assert agent.post("/agent/heartbeat", BODY).status_code == 401


def test_what_is_wrong_with_a_heartbeat_is_named(story: Any, agent: Any) -> None:
    answer = agent.post("/agent/heartbeat", BODY | {"processes": [{"pid": -1, "start_time": 1, "command": "x"}]})

    story.host.refresh_from_db()
    assert answer.status_code == 422
    assert answer.json() == {"error": "body.processes.0.pid: Input should be greater than 0"}
    assert story.host.last_seen_at is None


def test_a_heartbeat_larger_than_the_limit_is_refused(agent: Any) -> None:
    answer = agent.send("/agent/heartbeat", b" " * (3 << 20))

    assert answer.status_code == 413


def test_an_agents_clock_does_not_matter(story: Any, agent: Any) -> None:
    before = timezone.now()
    agent.post("/agent/heartbeat", BODY)

    story.host.refresh_from_db()
    assert before <= story.host.last_seen_at <= timezone.now()
