"""The hashes that verifiers compare with are those of the sources, and of nothing that changes from one run to the next."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from deniable.verify.released import PATH, sha384
from deniable_server import paths
from deniable_server.operate.released import manifest, text


@pytest.mark.slow
def test_the_committed_hashes_are_those_of_the_sources() -> None:
    assert json.loads(PATH.read_text(encoding="utf-8")) == manifest(), (
        "run `make release-hashes` and commit client/deniable/verify/released.json"
    )
    assert PATH.read_text(encoding="utf-8") == text()


def test_every_module_of_the_respondents_page_is_among_them() -> None:
    files = manifest()["files"]
    modules = {file.relative_to(paths.BROWSER).as_posix(): sha384(file.read_bytes()) for file in paths.BROWSER.rglob("*.mjs")}
    assert {f"/browser/{name}": fingerprint for name, fingerprint in modules.items()}.items() <= files.items()
    assert {path for path in files if path.startswith("/static/")} == {"/static/base.css", "/static/kiosk.css", "/static/respond.css"}


@pytest.mark.slow
def test_the_hashes_are_the_same_every_time() -> None:
    assert text() == text()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["page", "policy"])
def test_a_changed_source_makes_them_stale(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = manifest()
    if kind == "page":
        for file in paths.TEMPLATES.rglob("*.html"):
            copy = tmp_path / file.relative_to(paths.TEMPLATES)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text(file.read_text(encoding="utf-8").replace("<main", "<main id='m'"), encoding="utf-8")
        monkeypatch.setattr(paths, "TEMPLATES", tmp_path)
    else:
        monkeypatch.setattr("deniable_server.web.headers._POLICY", "default-src *; form-action ")
    after = manifest()
    assert before["files"] == after["files"]
    assert (before["headers"] == after["headers"], before["pages"] == after["pages"]) == ((kind == "page"), (kind == "policy"))


def test_each_languages_page_has_a_fingerprint_of_its_own() -> None:
    found = [value for kinds in manifest()["pages"].values() for value in kinds.values()]
    assert len(found) == len(set(found)) >= 2
