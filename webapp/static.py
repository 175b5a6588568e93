"""Static files under hashed names, each page's modules joined into one script, so that they can be cached for ever."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from django.core.files.base import ContentFile
from django.core.files.storage import InMemoryStorage, Storage
from whitenoise.storage import CompressedManifestStaticFilesStorage

from webapp.flamegraph.bundle import bundle, imported

Sources = Mapping[str, tuple[Storage, str]]  # by path below the static files: where it is, and its path there
_MODULES = ("js/", "vendor/")
_CLASSIC = frozenset({"js/theme.js", "vendor/htmx.js"})  # loaded as they are, by a script tag without a type


class JoinedStaticFilesStorage(CompressedManifestStaticFilesStorage):
    """`{% static 'js/run-page.js' %}` is one file with all that run-page.js imports.

    A graph's page has some seventy modules: asked for one by one they cost more than all of the drawing.
    """

    manifest_strict = False

    def post_process(self, paths: Sources, dry_run: bool = False, **options: Any) -> Iterator[Any]:
        """`paths` are the files that were collected; modules that others import need no name of their own."""
        yield from super().post_process(with_joined_modules(paths), dry_run, **options)


def with_joined_modules(paths: Sources) -> dict[str, tuple[Storage, str]]:
    """The files with each module that no other imports joined with those that it imports, and without those."""
    texts = {path: _text(source) for path, source in paths.items() if _is_module(path)}
    inner = {target for path, text in texts.items() for target in imported(path, text)}
    joined = InMemoryStorage()
    for path in texts.keys() - inner:
        joined.save(path, ContentFile(bundle(path, texts.__getitem__).encode()))
    return {path: (joined, path) if path in texts else source for path, source in paths.items() if path not in inner}


def _is_module(path: str) -> bool:
    return path.startswith(_MODULES) and path.endswith(".js") and path not in _CLASSIC


def _text(source: tuple[Storage, str]) -> str:
    storage, path = source
    with storage.open(path) as file:
        content: bytes = file.read()
    return content.decode()
