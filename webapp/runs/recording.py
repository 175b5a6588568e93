"""The New-run page: pick a host, a process and a collector, and record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache

from tracer import protocol
from tracer.options.limits import MAP_SIZES, map_bytes
from tracer.options.pull import PULL_OPTIONS, PULLED
from tracer.selector import Selector
from webapp.hosts.abilities import abilities_of, key_of, processes_of, pulls_of
from webapp.hosts.models import Host
from webapp.runs import states
from webapp.runs.forms import (
    DEFAULT_DURATION,
    DURATIONS,
    SHORTEST_INTERVAL_S,
    SHOWN_OPTIONS,
    NewRunForm,
    default_interval_s,
)
from webapp.runs.models import Estimate, Run
from webapp.runs.targets import target_of
from webapp.teams.access import person, project_or_404, require
from webapp.teams.models import Project, Role


@login_required
@never_cache
def new_run(request: HttpRequest, project: str) -> HttpResponse:
    found = project_or_404(request, project)
    require(found, person(request), Role.MEMBER)
    hosts = sorted(Host.objects.of_project(found), key=lambda host: (not host.is_reporting, host.name))
    old = _run_to_repeat(request, found)
    host = _chosen_host(hosts, request, old)
    if getattr(request, "htmx", False) and host is not None:
        return render(request, "runs/plan.html", {"plan": plan_of(request.GET.dict(), host)})
    form = _form(request, host, old)
    if host is not None and form is not None and form.is_bound and form.is_valid():
        return redirect("run", _record(found, request, host, form))
    status = 422 if form is not None and form.errors else 200
    return render(request, "runs/new_run.html", _context(request, found, hosts, host, form), status=status)


def _run_to_repeat(request: HttpRequest, project: Project) -> Run | None:
    """The run that "Record again" came from."""
    if "again" not in request.GET:
        return None
    return Run.objects.visible_to(request.user).filter(project=project, run_id=request.GET["again"]).first()


def _chosen_host(hosts: list[Host], request: HttpRequest, old: Run | None) -> Host | None:
    """The one asked for; else the first that reports, since nothing can be recorded on another."""
    asked = request.POST.get("host") or request.GET.get("host")
    fits = [host for host in hosts if host.host_id == asked or (old is not None and host.pk == old.host_id)]
    return next(iter(fits or hosts), None)


def _form(request: HttpRequest, host: Host | None, old: Run | None) -> NewRunForm | None:
    if host is None:
        return None
    if request.method == "POST":
        return NewRunForm(request.POST, host=host)
    return NewRunForm(host=host, initial=_initial(request, host, old))


FROM_LINK = (
    "process", "collector", "duration", "own_duration", "snapshot_every", "service", "deploy", "labels", *SHOWN_OPTIONS,
    *PULL_OPTIONS, "once",
)  # fmt: skip


def _initial(request: HttpRequest, host: Host, old: Run | None) -> dict[str, Any]:
    """From the link, or from the run to repeat; the first collector that the host can run is chosen."""
    initial: dict[str, Any] = _as_before(old, host) if old is not None else {}
    initial |= {name: request.GET[name] for name in FROM_LINK if request.GET.get(name)}
    initial.setdefault("duration", DEFAULT_DURATION)
    able = [ability.collector.name for ability in abilities_of(host) if ability.is_able]
    initial.setdefault("collector", able[0] if able else "")
    return initial


def _as_before(old: Run, host: Host) -> dict[str, Any]:
    """All of an old run that can be had again; a process that was restarted is found by its command."""
    same = [
        row for row in host.processes if (row["pid"], row.get("start_time")) == (old.pid, old.spec.get("start_time"))
    ]
    same += [row for row in host.processes if row.get("command") and row["command"] == old.command]
    seconds = f"{old.duration_s:g}" if old.duration_s else DEFAULT_DURATION  # an upload has none
    is_preset = seconds in dict(DURATIONS)
    return {
        "process": key_of(same[0]) if same else "",
        "collector": old.collector,
        "duration": seconds if is_preset else "own",
        "own_duration": "" if is_preset else seconds,
        "service": old.service,
        "deploy": old.deploy,
        "labels": ", ".join(f"{key}={text}" for key, text in old.labels.items()),
        **{name: value for name, value in old.spec.get("options", {}).items() if name in FROM_LINK},
        "once": old.collector in PULLED and not old.spec.get("snapshot_every_s"),
        "also_pids": _also_pids(old, host),
    }


def _also_pids(old: Run, host: Host) -> str:
    """Those beside the first that still run."""
    starts = Selector.parse(old.spec["target"]).pids if old.spec.get("target") else {}
    running = {(row["pid"], row.get("start_time", 0)) for row in host.processes}
    return ", ".join(str(pid) for pid, start in starts.items() if pid != old.pid and (pid, start) in running)


def _record(project: Project, request: HttpRequest, host: Host, form: NewRunForm) -> str:
    data = form.cleaned_data
    run = states.request_run(
        project,
        person(request),
        host=host,
        process=form.found_process,
        target=target_of(form.found_processes),
        collector=data["collector"],
        duration_s=data["duration_s"],
        snapshot_every_s=data["snapshot_every_s"],
        service=data["service"],
        deploy=data["deploy"],
        labels=data["labels"],
        options=data["options"],
    )
    return run.run_id


def _context(
    request: HttpRequest, project: Project, hosts: list[Host], host: Host | None, form: NewRunForm | None
) -> dict[str, Any]:
    context: dict[str, Any] = {"project": project, "hosts": hosts, "host": host, "form": form}
    if form is None or host is None:
        return context
    chosen = str(form["process"].value() or "")
    find = request.GET.get("find", "")
    values = {
        name: str(form[name].value() or "")
        for name in ("collector", "duration", "own_duration", "snapshot_every", "once", *MAP_SIZES)
        if name in form.fields
    }
    return context | {
        "chosen": chosen,
        "find": find,
        "processes": processes_of(host, text=find, chosen=chosen),
        "plan": plan_of(values | {"process": chosen}, host),
        "estimate": _estimate(request, project),
        "allowed": pulls_of(host),
    }


MOST_DIGITS = 12  # of a size: longer ones are refused anyway, and Python takes its time to read them


def _estimate(request: HttpRequest, project: Project) -> Estimate | None:
    """The one that was asked for without script; with it, the page has it already."""
    if "estimate" not in request.GET:
        return None
    asked = Estimate.objects.visible_to(request.user).filter(project=project, estimate_id=request.GET["estimate"])
    return asked.select_related("host").first()


@dataclass(frozen=True, slots=True)
class Plan:
    """The form in one sentence: what will be recorded, for how long, and what that costs."""

    collector: protocol.CollectorFacts | None
    duration_s: float
    snapshots: int
    every_s: float
    map_bytes: int  # of the host's memory, while it lasts
    host: Host
    is_once: bool = False  # pulled, and over as soon as it is there

    @property
    def is_pulled(self) -> bool:
        return self.collector is not None and self.collector.name in PULLED


def plan_of(values: dict[str, str], host: Host) -> Plan:
    """Of a form that may be half filled in: what can't be read counts as its default."""
    duration = values.get("duration", DEFAULT_DURATION)
    duration_s = _seconds(values.get("own_duration") if duration == "own" else duration) or float(DEFAULT_DURATION)
    duration_s = max(SHORTEST_INTERVAL_S, min(duration_s, float(protocol.MAX_DURATION_S)))
    every_s = min(_seconds(values.get("snapshot_every")) or default_interval_s(duration_s), duration_s)
    snapshots = max(1, -int(-duration_s // every_s))
    collector = values.get("collector", "")
    sizes: dict[str, int | str] = {name: size for name in MAP_SIZES if (size := _whole_number(values.get(name)))}
    is_once = collector in PULLED and values.get("once") not in (None, "", "False")
    if collector in PULLED:
        snapshots = 1 if is_once else snapshots + 1  # one at once, the others after it
    taken = map_bytes(collector, sizes)
    return Plan(protocol.COLLECTORS.get(collector), duration_s, snapshots, every_s, taken, host, is_once)


def _seconds(text: str | None) -> float | None:
    try:
        seconds = float(text or "")
    except ValueError:
        return None
    return seconds if 0 < seconds < float("inf") else None


def _whole_number(text: str | None) -> int | None:
    return int(text) if text and text.isdecimal() and len(text) < MOST_DIGITS else None
