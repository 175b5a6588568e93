"""Static files as they are collected: one script for each page and one for the Worker, under the hash of all of it."""

from __future__ import annotations

from pathlib import Path

from django.core.files.base import ContentFile
from django.core.files.storage import FileSystemStorage, InMemoryStorage, Storage

from webapp.static import with_imports_joined

FRONTEND = Path(__file__).parents[2] / "frontend"


def test_each_page_has_one_script_and_so_has_the_worker() -> None:
    files = FileSystemStorage(FRONTEND)
    found = with_imports_joined(
        {str(path.relative_to(FRONTEND)): (files, str(path.relative_to(FRONTEND))) for path in FRONTEND.rglob("*.*")}
    )

    for page in ("run-page", "compare-page", "site", "worker"):
        script = text_of(found[f"js/{page}.js"])
        assert "\nimport " not in script and "\nexport " not in script
    assert "js/graph.js" not in found, "a module inside of others is asked for by nobody"
    assert text_of(found["vendor/htmx.js"]) == (FRONTEND / "vendor/htmx.js").read_text(), "a classic script stays"


def test_each_kind_of_page_has_one_style_sheet() -> None:
    files = FileSystemStorage(FRONTEND)
    found = with_imports_joined({f"css/{path.name}": (files, f"css/{path.name}") for path in FRONTEND.glob("css/*")})

    assert set(found) == {"css/site.css", "css/graph-page.css", "css/plain.css"}
    text = text_of(found["css/graph-page.css"])
    assert "@import" not in text
    assert all((FRONTEND / f"css/{name}.css").read_text() in text for name in ("tokens", "app", "graph", "viewer"))


def test_a_change_of_an_inner_module_changes_the_script_of_the_page() -> None:
    assert joined(inner="export const one = 1;") != joined(inner="export const one = 2;")


def joined(inner: str) -> str:
    files = InMemoryStorage()
    files.save("js/page.js", ContentFile(b'import { one } from "./inner.js";\nconsole.log(one);\n'))
    files.save("js/inner.js", ContentFile(inner.encode()))
    found = with_imports_joined({path: (files, path) for path in ("js/page.js", "js/inner.js")})
    assert list(found) == ["js/page.js"]
    return text_of(found["js/page.js"])


def text_of(source: tuple[Storage, str]) -> str:
    storage, path = source
    content: bytes = storage.open(path).read()
    return content.decode()
