"""A rendered page, its style sheets, scripts and answers to one HTML file that works without site and network."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.staticfiles import finders
from django.core.serializers.json import DjangoJSONEncoder

from webapp.flamegraph.bundle import bundle, bundle_styles

WORKER = "js/worker.js"
BOOT = "js/offline.js"  # runs before the page's own script
_POLICY_HERE = '<meta charset="utf-8">'
_FIRST_MODULE = '<script type="module"'
_DROPPED = re.compile(r'<link rel="(?:preload|modulepreload|icon)"[^>]*>\n?')
_STYLE = re.compile(r'<link rel="stylesheet" href="([^"]+)">')
_SCRIPT = re.compile(r'<script (type="module" )?src="([^"]+)"></script>')
_HASH_OF_NAME = re.compile(r"\.[0-9a-f]{12}(?=\.\w+$)")  # as JoinedStaticFilesStorage writes it
_WITHOUT_NETWORK = "default-src 'none'; img-src data:; worker-src blob:; base-uri 'none'; form-action 'none'"


def one_file(page: str, answers: Mapping[str, Any]) -> bytes:
    """`page` is a template of ours, so its tags are where the patterns look; names in it are escaped.

    `answers` is what scripts would fetch: by address an object of JSON, or bytes in gzip.
    """
    hashes: dict[str, list[str]] = {"script": [], "style": []}

    def inlined(tag: str, text: str) -> str:
        if f"</{tag}" in text or "<!--" in text:
            raise ValueError(f"a {tag} of ours would end early inside of a page: {text[:80]!r}")
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        hashes[tag].append(f"'sha256-{digest}'")
        return f"<{tag}>{text}</{tag}>"

    def script(found: re.Match[str]) -> str:
        path = _source_path(found[2])
        return inlined("script", bundle(path, _read) if found[1] else _read(path))

    page = _DROPPED.sub("", page)
    page = _STYLE.sub(lambda found: inlined("style", bundle_styles(_source_path(found[1]), _read)), page)
    boot = f'{_data(answers)}<script type="module" src="{BOOT}"></script>\n'
    page = page.replace(_FIRST_MODULE, boot + _FIRST_MODULE, 1)
    page = _SCRIPT.sub(script, page)
    policy = f"{_WITHOUT_NETWORK}; script-src {' '.join(hashes['script'])}; style-src {' '.join(hashes['style'])}"
    meta = f'{_POLICY_HERE}\n<meta http-equiv="Content-Security-Policy" content="{policy}">'
    return page.replace(_POLICY_HERE, meta, 1).encode()


def _data(answers: Mapping[str, Any]) -> str:
    """In JSON that no text inside of it can end."""
    packed = {
        address: {"gzip": base64.b64encode(answer).decode()} if isinstance(answer, bytes) else {"json": answer}
        for address, answer in answers.items()
    }
    text = json.dumps({"answers": packed, "worker": bundle(WORKER, _read)}, cls=DjangoJSONEncoder)
    for sign, escape in (("<", "\\u003c"), (">", "\\u003e"), ("&", "\\u0026")):
        text = text.replace(sign, escape)
    return f'<script type="application/json" id="offline">{text}</script>\n'


def _source_path(url: str) -> str:
    """Below the static files: `/static/js/run-page.0123456789ab.js` is `js/run-page.js`."""
    return _HASH_OF_NAME.sub("", url.removeprefix(settings.STATIC_URL))


def _read(path: str) -> str:
    found = finders.find(path)
    if found is None:
        raise FileNotFoundError(f"no static file {path}")
    return Path(found).read_text()
