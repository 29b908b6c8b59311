"""The examples of docs/guide/data.md run as they stand, against a server at another address; and the page names every file."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyreadstat
import pytest
from tests.server.api.test_api_page import ADDRESS, CLINICS, SECRET

from deniable.bundle import FILES, LICENCES
from deniable.bundle.workbook import MOST_ROWS
from deniable.simulate import simulate
from deniable.survey import Survey
from deniable.wire.submission import Submission
from deniable_server.store import open_store

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "guide" / "data.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.slow
def test_the_bundle_of_a_survey_is_fetched_as_the_page_says(
    make_server: Callable[[], Any], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server = make_server()
    store = open_store(server.db)
    store.surveys.publish(CLINICS)
    raw = simulate(CLINICS, {"smokes": [0.3, 0.7], "party": [0.5, 0.3, 0.2]}, n=1000).reports
    store.submissions.add("clinics", Submission(bytes(16), CLINICS.digest, 1000, raw, "North", "organisation"))
    store.close()
    server.start()
    here = EXAMPLES[0].replace(ADDRESS, server.url).replace(SECRET, '("ada", "correct horse battery")')
    exec(compile(here, "docs/guide/data.md", "exec"), {})
    assert capsys.readouterr().out == "1000 rows, ['mode', 'group', 'smokes', 'party']\n"


@pytest.mark.slow
def test_the_bundle_of_records_at_hand_is_made_as_the_page_says(folder: Path) -> None:
    exec(compile(EXAMPLES[1], "docs/guide/data.md", "exec"), {})
    frame, about = pyreadstat.read_sav(folder / "habits.sav")
    assert (len(frame), about.column_names[1]) == (2000, "smokes")
    with zipfile.ZipFile(folder / "habits.zip") as files:
        assert "CC0" in files.read("LICENCE.txt").decode()


def test_the_page_names_every_file_licence_and_limit() -> None:
    assert len(EXAMPLES) == 2
    assert all(f"`{name}`" in PAGE for name in (*FILES, "SHA256SUMS"))
    assert "`licence=` is `cc-by-4.0`, `cc0-1.0` or `none`" in (ROOT / "docs" / "reference" / "api.md").read_text(encoding="utf-8")
    assert list(LICENCES) == ["cc-by-4.0", "cc0-1.0", "none"]
    assert f"{MOST_ROWS:,}" in PAGE


def test_a_multiple_choice_is_named_as_the_page_says() -> None:
    from deniable.bundle.variables import variables

    question = {"id": "drugs", "text": "?", "type": "multi_choice", "options": ["sleeping pills", "other"], "epsilon": 1}
    survey = Survey.from_dict({"deniable": 1, "id": "s", "title": "T", "about": "A.", "questions": [question]})
    assert (survey.items[0].id, variables(survey)[1].name) == ("drugs[sleeping pills]", "drugs_sleeping_pills")
