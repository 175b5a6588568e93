"""HTTP to a memflame site: what the agent and the command line ask and send, with retries."""

from __future__ import annotations

import logging
import os
import random
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import httpx
import stamina
import stamina.instrumentation

from tracer import __version__

logger = logging.getLogger(__name__)

TOKEN_ENV = "MEMFLAME_TOKEN"
LOOPBACK_HOSTS = ("localhost", "127.0.0.1", "::1")
RETRIED_STATUSES = (408, 425, 429)  # of 4xx; 5xx are retried as well
LONGEST_WAIT_S = 60.0  # of what a Retry-After may ask for
CHUNK_BYTES = 256 << 10
ENCODING_BY_SUFFIX = {".zst": "zstd", ".gz": "gzip"}
PROGRESS_TIMEOUT_S = 4.0
UPLOAD_TIMEOUT_S = 90.0  # the site waits up to a minute for its ingest worker before it answers


class ClientError(Exception):
    """What went wrong between us and the site, in one sentence; `status` is the HTTP status if there was one."""

    def __init__(self, text: str, *, status: int | None = None, retry_after_s: float | None = None) -> None:
        super().__init__(text)
        self.status, self.retry_after_s = status, retry_after_s

    @property
    def is_final(self) -> bool:
        """Asking again would get the same answer."""
        return self.status is not None and self.status < 500 and self.status not in RETRIED_STATUSES


class UnsafeToken(ClientError):
    """The token is missing, or lies where others can read it."""


def read_token(token_file: Path | None) -> str:
    """The token of the file, or of MEMFLAME_TOKEN; UnsafeToken says what to do."""
    if token_file is not None:
        return _checked_token(_read_private(token_file), str(token_file))
    if TOKEN_ENV in os.environ:
        return _checked_token(os.environ[TOKEN_ENV], TOKEN_ENV)
    raise UnsafeToken(f"no token: set {TOKEN_ENV}, or write it to a file of mode 0600 and give --token-file")


def _read_private(path: Path) -> str:
    try:
        with path.open("rb") as file:
            mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
            if mode & 0o077:
                raise UnsafeToken(f"others can read token file {path} (mode {mode:04o}): chmod 600 {path}")
            return file.read(1000).decode("ascii", "replace")
    except OSError as error:
        raise UnsafeToken(f"can't read token file {path}: {error.strerror}") from None


def _checked_token(text: str, origin: str) -> str:
    token = text.strip()
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise UnsafeToken(f"{origin} holds no token: one line of letters and digits is expected")
    return token


@dataclass(frozen=True, slots=True)
class Claim:
    """A run that is ours: what to record, and for how long the site waits between two signs of life."""

    spec: Mapping[str, Any]
    lease_s: float


@dataclass(frozen=True, slots=True)
class Waiting:
    """Ids of what a host is asked to do; empty: nothing of that kind."""

    run: str = ""
    estimate: str = ""


@dataclass(frozen=True, slots=True)
class EstimateClaim:
    """A process to count, for so long."""

    pid: int
    start_time: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Upload:
    """A file to send, and what it is about."""

    path: Path
    project: str
    service: str = ""
    deploy: str = ""
    labels: Sequence[str] = ()  # "key:value"
    name: str = ""
    encoding: str = ""  # Content-Encoding of the file as it lies there
    files: int = 1  # that make up the run: this is the first, the others follow by put_file
    file: str = ""  # what this one of several is called


class SiteClient:
    """One site, one token. Every method raises ClientError, and may be called from several threads."""

    def __init__(self, server: str, token: str) -> None:
        self.server = _checked_server(server)
        host = urlsplit(self.server).hostname
        self._http = httpx.Client(
            base_url=f"{self.server}/api/v1/",
            headers={"Authorization": f"Bearer {token}", "User-Agent": f"memflame/{__version__}"},
            timeout=httpx.Timeout(10.0, connect=5.0),
            follow_redirects=False,  # the token goes to no other host
            trust_env=host not in LOOPBACK_HOSTS,  # a proxy of the environment can't reach this machine
        )

    @property
    def is_in_clear(self) -> bool:
        """The token travels readable to others on the way."""
        parts = urlsplit(self.server)
        return parts.scheme == "http" and parts.hostname not in LOOPBACK_HOSTS

    def close(self) -> None:
        self._http.close()

    def heartbeat(self, agent_version: str, facts: Mapping[str, Any], processes: Sequence[Any]) -> dict[str, Any]:
        body = {"agent_version": agent_version, "facts": facts, "processes": processes}
        return self._json("POST", "agent/heartbeat", needs=("queue",), json=body)

    def next_work(self) -> Waiting:
        """The oldest queued run of this host, and the estimate that somebody waits for."""
        reply = self._json("GET", "agent/next")
        return Waiting(str(reply.get("run") or ""), str(reply.get("estimate") or ""))

    def claim(self, run: str, attempt: str) -> Claim:
        """Take a run; the same attempt may ask again. ClientError with status 409: another agent has it."""
        address, body = f"agent/runs/{_part(run)}/claim", {"attempt": attempt}
        reply = self._json("POST", address, needs=("spec", "lease_s"), retry_s=10, json=body)
        return Claim(reply["spec"], float(reply["lease_s"]))

    def progress(
        self, run: str, attempt: str, *, phase: str, elapsed_s: float, events: int, lost: Mapping[str, int]
    ) -> str:
        """Renew the lease; returns "", "stop" or "cancel". One try, since the next one is due in a moment anyway."""
        body = {"attempt": attempt, "phase": phase, "elapsed_s": elapsed_s, "events": events, "lost": lost}
        address = f"agent/runs/{_part(run)}/progress"
        return str(self._json("POST", address, needs=("stop",), json=body, timeout=PROGRESS_TIMEOUT_S)["stop"])

    def put_snapshot(self, run: str, seq: int, attempt: str, *, elapsed_s: float, path: Path) -> None:
        """Send a snapshot file; once this returns it is on the site's disk. Twice is one snapshot."""
        params = {"attempt": attempt, "elapsed_s": f"{elapsed_s:.3f}"}
        headers = _body_headers(path, ENCODING_BY_SUFFIX.get(path.suffix, ""))
        self._send("PUT", f"runs/{_part(run)}/snapshots/{seq}", retry_s=10, params=params, headers=headers, path=path)

    def finish(self, run: str, attempt: str, *, outcome: str, reason: str, snapshots: int) -> None:
        body = {"attempt": attempt, "outcome": outcome, "reason": reason, "snapshots": snapshots}
        self._send("POST", f"agent/runs/{_part(run)}/finish", retry_s=10, json=body)

    def claim_estimate(self, estimate: str, attempt: str) -> EstimateClaim:
        """Take an estimate. ClientError with status 409: it is taken, or waits no more."""
        address, body = f"agent/estimates/{_part(estimate)}/claim", {"attempt": attempt}
        reply = self._json("POST", address, needs=("pid", "start_time", "seconds"), retry_s=10, json=body)
        return EstimateClaim(int(reply["pid"]), int(reply["start_time"]), float(reply["seconds"]))

    def finish_estimate(self, estimate: str, attempt: str, *, result: Mapping[str, Any] | None, reason: str) -> None:
        """Without a result, `reason` says why there is none."""
        body = {"attempt": attempt, "result": result, "reason": reason}
        self._send("POST", f"agent/estimates/{_part(estimate)}/finish", retry_s=10, json=body)

    def upload(self, upload: Upload, *, key: str, on_sent: Callable[[int], None] = lambda sent: None) -> dict[str, Any]:
        """Send a profile; returns {"run", "url", …}. `key` is the same for each try of one upload.

        `on_sent` gets the bytes sent so far, and starts again at 0 with each try.
        """
        named = {"service": upload.service, "deploy": upload.deploy, "name": upload.name, "file": upload.file}
        named |= {"files": str(upload.files)} if upload.files > 1 else {}
        params = [(name, value) for name, value in named.items() if value]
        params += [("label", label) for label in upload.labels]
        address, more = f"projects/{_part(upload.project)}/uploads", {"Idempotency-Key": key}
        response = self._send_file("POST", address, upload, params=params, headers=more, on_sent=on_sent)
        return _object(response, needs=("run", "url"))

    def put_file(
        self, run: str, number: int, upload: Upload, *, on_sent: Callable[[int], None] = lambda sent: None
    ) -> dict[str, Any]:
        """Send one more file of an upload of several; the last one's answer is that of the whole. Twice is once."""
        address, params = f"runs/{_part(run)}/files/{number}", [("file", upload.file)]
        response = self._send_file("PUT", address, upload, params=params, on_sent=on_sent)
        return _object(response, needs=("run", "url"))

    def upload_symbols(self, upload: Upload, *, on_sent: Callable[[int], None] = lambda sent: None) -> dict[str, Any]:
        """Send a binary or its debug file; returns what it is, and how many runs get names. Twice is one file."""
        address, params = f"projects/{_part(upload.project)}/symbols", [("name", upload.name)]
        response = self._send_file("PUT", address, upload, params=params, on_sent=on_sent)
        return _object(response, needs=("module", "build_id", "kind", "runs"))

    def _send_file(
        self, method: str, address: str, upload: Upload, *, params: Sequence[tuple[str, str]],
        on_sent: Callable[[int], None], headers: Mapping[str, str] | None = None,
    ) -> httpx.Response:  # fmt: skip
        headers = {**_body_headers(upload.path, upload.encoding), **(headers or {})}
        timeout = httpx.Timeout(UPLOAD_TIMEOUT_S, connect=5.0)
        return self._send(
            method, address, retry_s=60, params=params, headers=headers, path=upload.path, on_sent=on_sent,
            timeout=timeout,
        )  # fmt: skip

    def _json(
        self, method: str, address: str, *, needs: Sequence[str] = (), retry_s: float = 0, **request: Any
    ) -> dict[str, Any]:
        return _object(self._send(method, address, retry_s=retry_s, **request), needs=needs)

    def _send(self, method: str, address: str, *, retry_s: float, **request: Any) -> httpx.Response:
        tries = stamina.retry_context(
            on=_wait_before_retry,
            attempts=None if retry_s else 1,
            timeout=retry_s or None,
            wait_initial=0.2,
            wait_max=5.0,
            wait_jitter=0.5,
        )
        for attempt in tries:
            with attempt:
                return self._send_once(method, address, **request)
        raise AssertionError("stamina ends with a return or an error")

    def _send_once(
        self,
        method: str,
        address: str,
        *,
        path: Path | None = None,
        on_sent: Callable[[int], None] = lambda sent: None,
        **request: Any,
    ) -> httpx.Response:
        if path is not None:
            request["content"] = _chunks(path, on_sent)
        try:
            response = self._http.request(method, address, **request)
        except httpx.TimeoutException:
            raise ClientError(f"{self.server} did not answer in time") from None
        except httpx.HTTPError as error:
            raise ClientError(f"{self.server} can't be reached: {_one_line(str(error))}") from None
        if response.is_success:
            return response
        raise _error_of(response)


def _checked_server(server: str) -> str:
    parts = urlsplit(server)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise ClientError(f"server is {server!r}, an address as https://memflame.example is needed", status=400)
    return server.rstrip("/")


def _part(text: str) -> str:
    return quote(text, safe="")


def _body_headers(path: Path, encoding: str) -> dict[str, str]:
    headers = {"Content-Length": str(path.stat().st_size), "Content-Type": "application/octet-stream"}
    return {**headers, "Content-Encoding": encoding} if encoding else headers


def _chunks(path: Path, on_sent: Callable[[int], None]) -> Iterator[bytes]:
    sent = 0
    with path.open("rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            yield chunk
            sent += len(chunk)
            on_sent(sent)


def _wait_before_retry(error: Exception) -> bool | float:
    if not isinstance(error, ClientError) or error.is_final:
        return False
    if error.retry_after_s is None:
        return True
    # Many agents are told the same number of seconds; they must not come back in the same one.
    return error.retry_after_s + random.uniform(0, 1)


def _error_of(response: httpx.Response) -> ClientError:
    if response.is_redirect:
        where = response.headers.get("Location", "another address")
        text = f"the site answers at {_one_line(where)}: give that address as --server"
        return ClientError(text, status=response.status_code)
    return ClientError(_error_text(response), status=response.status_code, retry_after_s=_retry_after(response))


def _error_text(response: httpx.Response) -> str:
    """What the site says in {"error": …}, else what its status says."""
    try:
        said = response.json()["error"]
    except (ValueError, KeyError, TypeError):
        said = None
    if isinstance(said, str) and said:
        return _one_line(said)
    return f"the site answered {response.status_code} {response.reason_phrase}".rstrip()


def _retry_after(response: httpx.Response) -> float | None:
    """Seconds; the date form of Retry-After is rare and our site sends none."""
    text = response.headers.get("Retry-After", "")
    return min(float(text), LONGEST_WAIT_S) if text.isdigit() else None


def _object(response: httpx.Response, *, needs: Sequence[str]) -> dict[str, Any]:
    try:
        reply = response.json()
    except ValueError:
        reply = None
    if not isinstance(reply, dict) or not set(needs) <= set(reply):
        raise ClientError(f"{response.url.host} answers, but not as a memflame site does", status=400)
    return reply


def _one_line(text: str) -> str:
    """Text of others for a terminal or a log: no control characters, not endless."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())[:500]


def _log_retry(details: stamina.instrumentation.RetryDetails) -> None:
    logger.info("%s; again in %.1f s", details.caused_by, details.wait_for)


# stamina's own hooks would print the name of an event where people expect a sentence.
stamina.instrumentation.set_on_retry_hooks([_log_retry])
