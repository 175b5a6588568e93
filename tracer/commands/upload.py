"""`memflame upload`: send profiles to a site and print the links of their runs."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from tracer.client import ClientError, SiteClient, Upload, read_token
from tracer.commands.sending import packed, progress
from tracer.profile.heap_names import grouped


def upload(
    files: Annotated[
        list[Path], typer.Argument(help="A profile in any format, packed or not; several are snapshots of one run")
    ],
    server: Annotated[str, typer.Option(help="Address of the site, as https://memflame.example")],
    project: Annotated[str, typer.Option(help="Project that the run shall belong to")],
    service: Annotated[str, typer.Option(help="Service that the profile is of")] = "",
    deploy: Annotated[str, typer.Option(help="Version of the service")] = "",
    label: Annotated[list[str] | None, typer.Option(help="KEY=VALUE; may be given several times")] = None,
    name: Annotated[str, typer.Option(help="What to call the run; default: after the files")] = "",
    token_file: Annotated[
        Path | None, typer.Option(help="File of mode 0600 with a project token; default: MEMFLAME_TOKEN")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the site's whole answer as JSON")] = False,
) -> None:
    """Send a profile to a memflame site and print the link of its run.

    Several files become the snapshots of one run, in the order given. Heap dumps of jemalloc are put in the order of
    their numbers, and those of several processes become a run, and a link, each.

    The token comes from MEMFLAME_TOKEN or --token-file. Exit codes: 0 sent, 1 not sent, 2 wrong usage.
    """
    labels = [_label(text) for text in label or []]
    try:
        client = SiteClient(server, read_token(token_file))
        if client.is_in_clear:
            _say(f"{client.server} is reached without TLS: whoever sees the traffic has the token")
        about = Upload(files[0], project, service=service, deploy=deploy, labels=labels, name=name)
        for group in grouped([file.name for file in files]):
            reply = _send_all(client, about, [files[place] for place in group.places], group.title)
            print(json.dumps(reply) if as_json else reply["url"], flush=True)
    except ClientError as error:
        _fail(f"{files[0] if len(files) == 1 else _title(files)} was not sent: {error}")
    except OSError as error:
        _fail(f"can't read {error.filename or files[0]}: {error.strerror}")


def _label(text: str) -> str:
    """KEY=VALUE as people write it, KEY:VALUE as the site takes it."""
    key, sign, value = text.partition("=")
    if not sign or not key.strip() or not value.strip():
        raise typer.BadParameter(f"label is {text!r}, KEY=VALUE is needed")
    return f"{key.strip()}:{value.strip()}"


def _title(files: Sequence[Path]) -> str:
    return files[0].name if len(files) == 1 else f"{files[0].name} and {len(files) - 1} more"


def _send_all(client: SiteClient, about: Upload, files: Sequence[Path], title: str) -> dict[str, Any]:
    """The first file makes the run, the others follow; the site shows it when all have come and could be read."""
    for file in files:
        file.open("rb").close()  # before anything is sent
    first, *others = files
    is_set = len(files) > 1
    name = about.name or (is_set and title) or _title(files)
    wanted = replace(about, path=first, name=name, files=len(files), file=first.name if is_set else "")
    reply = _send(wanted, partial(client.upload, key=uuid.uuid4().hex))
    for number, file in enumerate(others, start=2):
        reply = _send(replace(wanted, path=file, file=file.name), partial(client.put_file, reply["run"], number))
    return reply


def _send(wanted: Upload, send: Callable[..., dict[str, Any]]) -> dict[str, Any]:
    with packed(wanted) as ready, progress(ready.path.stat().st_size, wanted.path.name, _say) as on_sent:
        return send(ready, on_sent=on_sent)


def _say(text: str) -> None:
    typer.echo(f"memflame upload: {text}", err=True)


def _fail(text: str) -> NoReturn:
    _say(text)
    raise typer.Exit(1)
