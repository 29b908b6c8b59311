"""The examples of docs/reference/api.md run as they stand, against a server at another address; and the page names every route and key."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.kit.patience import PATIENCE

from deniable.simulate import simulate
from deniable.survey import Survey
from deniable.wire.submission import Submission
from deniable_server.access import api_keys
from deniable_server.api.reports import FORMS
from deniable_server.store import open_store

PAGE = (Path(__file__).parents[3] / "docs" / "reference" / "api.md").read_text(encoding="utf-8")
ADDRESS, SECRET = "https://survey.example.org", '("ada", "secret")'
CLINICS = Survey.from_text("""
deniable: 1
id: clinics
title: Clinics
about: Who asks, and why.
epsilon: 4
groups: [North, South]
questions:
  - {id: smokes, text: Smokes?, type: yes_no}
  - {id: party, text: Party?, type: choice, options: [Red, Green, Blue]}
""")


@pytest.mark.slow
def test_the_examples_do_what_the_page_says(make_server: Callable[[], Any], capsys: pytest.CaptureFixture[str]) -> None:
    server = make_server()
    store = open_store(server.db)
    store.surveys.publish(CLINICS)
    raw = simulate(CLINICS, {"smokes": [0.3, 0.7], "party": [0.5, 0.3, 0.2]}, n=1000).reports
    store.submissions.add("clinics", Submission(bytes(16), CLINICS.digest, 1000, raw, "North", "organisation"))
    store.close()
    server.start()
    printed = []
    for example in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        here = example.replace(ADDRESS, server.url).replace(SECRET, '("ada", "correct horse battery")')
        assert here != example
        exec(compile(here, "docs/reference/api.md", "exec"), {})
        printed.append(capsys.readouterr().out)
    table, arrow = printed
    assert "Green" in table
    assert "1,000" in table
    assert arrow == "1000 records, smokes=yes\n"
    reply = httpx.get(f"{server.url}/api/v1/surveys/clinics/tally", auth=("ada", "correct horse battery"), timeout=PATIENCE).json()
    told = PAGE.split("## Tally")[1].split("## Records")[0]
    assert {name for row in re.findall(r"^\| (`.*?) \|", told, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)} == set(reply)


def test_the_page_names_every_form_and_every_scope() -> None:
    assert all(f"form={form}" in PAGE for form in FORMS)
    assert {scope for scope in api_keys.SCOPES if f"`{scope}`" in PAGE} == {"results", "reports"}
