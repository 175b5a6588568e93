"""Static files under hashed names, the modules and the sheets of a page joined: cached for ever, asked for at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from django.core.files.base import ContentFile
from django.core.files.storage import InMemoryStorage, Storage
from whitenoise.storage import CompressedManifestStaticFilesStorage

from webapp.flamegraph.bundle import bundle, bundle_styles, imported

Sources = Mapping[str, tuple[Storage, str]]  # by path below the static files: where it is, and its path there
_JOINED = ("js/", "css/", "vendor/")
_CLASSIC = frozenset({"vendor/htmx.js"})  # loaded as they are, by a script tag without a type


class JoinedStaticFilesStorage(CompressedManifestStaticFilesStorage):
    """`{% static 'js/run-page.js' %}` is one file with all that run-page.js imports.

    A graph's page has some seventy modules: asked for one by one they cost more than all of the drawing.
    """

    manifest_strict = False

    def post_process(self, paths: Sources, dry_run: bool = False, **options: Any) -> Iterator[Any]:
        """`paths` are the files that were collected; what others import needs no name of its own."""
        yield from super().post_process(with_imports_joined(paths), dry_run, **options)


def with_imports_joined(paths: Sources) -> dict[str, tuple[Storage, str]]:
    """Each module and sheet that no other imports is joined with those that it imports, which are left out."""
    texts = {path: _text(source) for path, source in paths.items() if _may_import(path)}
    inner = {target for path, text in texts.items() for target in imported(path, text)}
    joined = InMemoryStorage()
    for path in texts.keys() - inner:
        join = bundle_styles if path.endswith(".css") else bundle
        joined.save(path, ContentFile(join(path, texts.__getitem__).encode()))
    return {path: (joined, path) if path in texts else source for path, source in paths.items() if path not in inner}


def _may_import(path: str) -> bool:
    return path.startswith(_JOINED) and path.endswith((".js", ".css")) and path not in _CLASSIC


def _text(source: tuple[Storage, str]) -> str:
    storage, path = source
    with storage.open(path) as file:
        content: bytes = file.read()
    return content.decode()
