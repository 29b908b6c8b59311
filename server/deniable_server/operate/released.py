"""Release manifest for `deniable verify`, made from the sources by `python -m deniable_server.operate.released`."""

from __future__ import annotations

import itertools
import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from flask.testing import FlaskClient

from deniable.survey import Survey
from deniable.verify import loads
from deniable.verify.released import PATH, fingerprint, sha384
from deniable.verify.replies import REQUIRED
from deniable_server import Config, create_app
from deniable_server.store import open_store
from deniable_server.web.files import SCRIPTS
from deniable_server.web.languages import LANGUAGES

_KINDS: dict[str, dict[str, Any]] = {
    "open": {"epsilon": 1},
    "open, with a form for two coins": {"epsilon": "ln 3"},
    "by invitation": {"epsilon": 1, "access": "invited"},
}
"""The surveys whose pages may differ; all other surveys have the page of one of these."""

_STATES = ("open", "closed", "paused")

_FOLDERS = ("/browser/", "/static/")
"""The folders of the files that are the same for every survey."""


def manifest() -> dict[str, Any]:
    """Returns the hashes of all files that a respondent's browser loads, as the sources have them, and the headers."""
    with tempfile.TemporaryDirectory() as folder, _site(Path(folder)) as client:
        page = client.get("/s/open0")
        loaded = {url for path in ("/s/open0", "/s/open0/kiosk") for url in _loads(client.get(path).text)}
        files = sorted(loaded | {f"/browser/{name}" for name in SCRIPTS})
        return {
            "headers": {name: page.headers[name] for name in REQUIRED},
            "files": {path: sha384(client.get(path).data) for path in files},
            "pages": {tag: _pages(client, tag) for tag in LANGUAGES},
        }


def text() -> str:
    """Returns the manifest as it is committed."""
    return json.dumps(manifest(), indent=1, ensure_ascii=False) + "\n"


def _loads(page: str) -> Iterator[str]:
    yield from (load.url for load in loads.of_page(page) if load.url and load.url.startswith(_FOLDERS))


def _pages(client: FlaskClient, language: str) -> dict[str, str]:
    hashes: dict[str, str] = {}
    for suffix, state, (number, kind) in itertools.product(("", "/kiosk"), _STATES, enumerate(_KINDS)):
        survey = f"{state}{number}"
        page = fingerprint(client.get(f"/s/{survey}{suffix}?lang={language}").data, survey)
        name = kind if state == "open" else state if number == 0 else f"{state}, {kind}"
        if page not in hashes.values():
            hashes[f"kiosk, {name}" if suffix else name] = page
    return hashes


@contextmanager
def _site(folder: Path) -> Iterator[FlaskClient]:
    store = open_store(folder / "site.db")
    try:
        for state in _STATES:
            for number, keys in enumerate(_KINDS.values()):
                store.surveys.publish(_survey(f"{state}{number}", **keys))
                store.surveys.set_open(f"{state}{number}", state != "closed")
                if state == "paused":
                    store.surveys.pause(f"{state}{number}", True)
        yield create_app(Config(folder / "site.db", "0" * 32), store).test_client()
    finally:
        store.close()


def _survey(name: str, **keys: Any) -> Survey:
    question = {"id": "q", "text": "Yes?", "type": "yes_no"}
    return Survey.from_dict(
        {"deniable": 1, "id": name, "title": "A survey", "about": "Who asks, and why.", "questions": [question], **keys}
    )


if __name__ == "__main__":
    PATH.write_text(text(), encoding="utf-8")
