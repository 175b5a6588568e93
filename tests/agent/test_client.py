"""What the client does when a site is slow, away, full, or says no."""

from __future__ import annotations

import logging
import socket
import time
from pathlib import Path
from typing import Any

import pytest

from tracer.client import ClientError, SiteClient, UnsafeToken, Upload, Waiting, read_token

TOKEN = "mfp_abcdefgh_secretsecretsecret"
NEXT = "/api/v1/agent/next"
CLAIM = "/api/v1/agent/runs/r-abc/claim"
SNAPSHOT = "/api/v1/runs/r-abc/snapshots/1"
UPLOADS = "/api/v1/projects/shop/uploads"


@pytest.fixture
def client(stub_site: Any) -> SiteClient:
    return SiteClient(stub_site.url, TOKEN)


def test_it_sends_its_token_and_version(stub_site: Any, client: SiteClient, answer: Any) -> None:
    stub_site.answer(NEXT, answer(body={"run": "r-abc"}))

    assert client.next_work() == Waiting(run="r-abc")
    assert stub_site.requests[0].headers["authorization"] == f"Bearer {TOKEN}"
    assert stub_site.requests[0].headers["user-agent"].startswith("memflame/")


def test_it_asks_again_while_the_site_is_full(stub_site: Any, client: SiteClient, answer: Any) -> None:
    stub_site.answer(CLAIM, answer(503), answer(429), answer(body={"spec": {"v": 1}, "lease_s": 15}))

    claim = client.claim("r-abc", "a" * 32)

    assert (claim.spec, claim.lease_s) == ({"v": 1}, 15.0)
    assert [request.json for request in stub_site.to(CLAIM)] == [{"attempt": "a" * 32}] * 3


def test_it_waits_as_long_as_retry_after_says(stub_site: Any, client: SiteClient, answer: Any) -> None:
    stub_site.answer(CLAIM, answer(503, headers={"Retry-After": "1"}), answer(body={"spec": {}, "lease_s": 15}))
    begin = time.monotonic()

    client.claim("r-abc", "a" * 32)

    assert 1.0 <= time.monotonic() - begin < 4


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 413, 422])
def test_a_refusal_is_final_and_in_the_sites_words(
    stub_site: Any, client: SiteClient, answer: Any, status: int
) -> None:
    stub_site.answer(CLAIM, answer(status, {"error": "Another agent has this run."}))

    with pytest.raises(ClientError, match=r"^Another agent has this run\.$") as caught:
        client.claim("r-abc", "a" * 32)

    assert (caught.value.status, caught.value.is_final) == (status, True)
    assert len(stub_site.requests) == 1


def test_an_error_without_words_names_its_status(stub_site: Any, client: SiteClient, answer: Any) -> None:
    stub_site.answer(NEXT, answer(502, b"<html>proxy</html>"))

    with pytest.raises(ClientError, match="the site answered 502 Bad Gateway"):
        client.next_work()


def test_words_of_the_site_hold_no_control_characters(stub_site: Any, client: SiteClient, answer: Any) -> None:
    stub_site.answer(NEXT, answer(404, {"error": "no\x1b[31m such\nrun"}))

    with pytest.raises(ClientError, match=r"^no \[31m such run$"):
        client.next_work()


def test_a_redirect_is_not_followed(stub_site: Any, client: SiteClient, answer: Any) -> None:
    stub_site.answer(NEXT, answer(302, headers={"Location": f"{stub_site.url}/elsewhere"}))

    with pytest.raises(ClientError, match=f"the site answers at {stub_site.url}/elsewhere"):
        client.next_work()

    assert len(stub_site.requests) == 1


def test_another_kind_of_site_is_told_apart(stub_site: Any, client: SiteClient, answer: Any) -> None:
    stub_site.answer(CLAIM, answer(body=["hello"]))

    with pytest.raises(ClientError, match="not as a memflame site does"):
        client.claim("r-abc", "a" * 32)


def test_an_absent_site_is_said_to_be_absent() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"

        with pytest.raises(ClientError, match=f"{url} can't be reached: .*[Rr]efused") as caught:
            SiteClient(url, TOKEN).next_work()

    assert not caught.value.is_final


@pytest.mark.parametrize("server", ["memflame.example", "ftp://memflame.example", "https://", "http://host/?x=1"])
def test_an_address_that_is_none_is_refused(server: str) -> None:
    with pytest.raises(ClientError, match="an address as https://memflame.example is needed"):
        SiteClient(server, TOKEN)


def test_a_path_below_the_server_is_kept(stub_site: Any, answer: Any) -> None:
    stub_site.answer("/tools/memflame/api/v1/agent/next", answer(body={"run": None}))

    assert SiteClient(f"{stub_site.url}/tools/memflame/", TOKEN).next_work() == Waiting()


def test_a_snapshot_is_sent_as_the_file_lies_there(
    stub_site: Any, client: SiteClient, answer: Any, tmp_path: Path
) -> None:
    path = tmp_path / "0001.2500.zst"
    path.write_bytes(b"packed" * 100_000)
    stub_site.answer(SNAPSHOT, answer(500), answer(201, {}))

    client.put_snapshot("r-abc", 1, "a" * 32, elapsed_s=2.5, path=path)

    first, second = stub_site.to(SNAPSHOT)
    assert first.body == second.body == path.read_bytes()
    assert second.headers["content-encoding"] == "zstd"
    assert second.query == {"attempt": ["a" * 32], "elapsed_s": ["2.500"]}


def test_every_try_of_an_upload_has_the_same_key(
    stub_site: Any, client: SiteClient, answer: Any, tmp_path: Path
) -> None:
    path = tmp_path / "out.folded"
    path.write_text("main;work 1\n")
    stub_site.answer(UPLOADS, answer(503), answer(201, {"run": "r-abc", "url": "http://site/runs/r-abc"}))
    sent: list[int] = []

    reply = client.upload(
        Upload(path, "shop", service="api", labels=["region:eu", "tier:1"]), key="k1", on_sent=sent.append
    )

    requests = stub_site.to(UPLOADS)
    assert reply["url"] == "http://site/runs/r-abc"
    assert [request.headers["idempotency-key"] for request in requests] == ["k1", "k1"]
    assert requests[1].query == {"service": ["api"], "label": ["region:eu", "tier:1"]}
    assert requests[1].body == b"main;work 1\n"
    assert sent == [12, 12]


def test_the_token_is_in_no_log_and_no_error(
    stub_site: Any, client: SiteClient, answer: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    stub_site.answer(CLAIM, answer(503), answer(403, {"error": "The token may not claim."}))

    with pytest.raises(ClientError) as caught:
        client.claim("r-abc", "a" * 32)

    assert "secret" not in caplog.text
    assert "secret" not in str(caught.value)


def test_a_token_that_others_can_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text(TOKEN)
    path.chmod(0o640)

    with pytest.raises(UnsafeToken, match=rf"others can read token file {path} \(mode 0640\): chmod 600"):
        read_token(path)


def test_a_private_token_file_goes_before_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "token"
    path.write_text(f"{TOKEN}\n")
    path.chmod(0o600)
    monkeypatch.setenv("MEMFLAME_TOKEN", "mfp_other")

    assert read_token(path) == TOKEN
    assert read_token(None) == "mfp_other"


def test_a_missing_token_says_where_to_put_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MEMFLAME_TOKEN", raising=False)

    with pytest.raises(UnsafeToken, match="set MEMFLAME_TOKEN, or write it to a file of mode 0600"):
        read_token(None)
    with pytest.raises(UnsafeToken, match="No such file"):
        read_token(tmp_path / "absent")


@pytest.mark.parametrize("text", ["", "  \n", "two words", "naïve", "line\nbreak"])
def test_a_text_that_is_no_token_is_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMFLAME_TOKEN", text)

    with pytest.raises(UnsafeToken, match="MEMFLAME_TOKEN holds no token"):
        read_token(None)


def test_a_token_in_clear_is_known(stub_site: Any, client: SiteClient) -> None:
    assert not client.is_in_clear
    assert SiteClient("http://memflame.example", TOKEN).is_in_clear
    assert not SiteClient("https://memflame.example", TOKEN).is_in_clear
