"""`memflame upload`: send a profile to a site and print its run's link."""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from tracer.client import ClientError, SiteClient, Upload, read_token
from tracer.commands.sending import packed, progress


def upload(
    file: Annotated[Path, typer.Argument(help="A profile in any format that memflame reads, packed or not")],
    server: Annotated[str, typer.Option(help="Address of the site, as https://memflame.example")],
    project: Annotated[str, typer.Option(help="Project that the run shall belong to")],
    service: Annotated[str, typer.Option(help="Service that the profile is of")] = "",
    deploy: Annotated[str, typer.Option(help="Version of the service")] = "",
    label: Annotated[list[str] | None, typer.Option(help="KEY=VALUE; may be given several times")] = None,
    name: Annotated[str, typer.Option(help="What to call the run; default: the file's name")] = "",
    token_file: Annotated[
        Path | None, typer.Option(help="File of mode 0600 with a project token; default: MEMFLAME_TOKEN")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the site's whole answer as JSON")] = False,
) -> None:
    """Send a profile to a memflame site and print the link of its run.

    The token comes from MEMFLAME_TOKEN or --token-file. Exit codes: 0 sent, 1 not sent, 2 wrong usage.
    """
    labels = [_label(text) for text in label or []]
    try:
        client = SiteClient(server, read_token(token_file))
        if client.is_in_clear:
            _say(f"{client.server} is reached without TLS: whoever sees the traffic has the token")
        wanted = Upload(file, project, service=service, deploy=deploy, labels=labels, name=name or file.name)
        reply = _send(client, wanted)
    except ClientError as error:
        _fail(f"{file} was not sent: {error}")
    except OSError as error:
        _fail(f"can't read {error.filename or file}: {error.strerror}")
    print(json.dumps(reply) if as_json else reply["url"])


def _label(text: str) -> str:
    """KEY=VALUE as people write it, KEY:VALUE as the site takes it."""
    key, sign, value = text.partition("=")
    if not sign or not key.strip() or not value.strip():
        raise typer.BadParameter(f"label is {text!r}, KEY=VALUE is needed")
    return f"{key.strip()}:{value.strip()}"


def _send(client: SiteClient, wanted: Upload) -> dict[str, Any]:
    with packed(wanted) as ready, progress(ready.path.stat().st_size, wanted.path.name, _say) as on_sent:
        return client.upload(ready, key=uuid.uuid4().hex, on_sent=on_sent)


def _say(text: str) -> None:
    typer.echo(f"memflame upload: {text}", err=True)


def _fail(text: str) -> NoReturn:
    _say(text)
    raise typer.Exit(1)
