"""Only a respondent's page has answers, so every page of researchers shows an author's fallbacks in place of references to answers."""

from __future__ import annotations

import io
import itertools
import json
import zipfile
from collections.abc import Callable, Iterator, Mapping

import pytest
from flask import Flask
from flask.testing import FlaskClient
from tests.kit.servers.process import PASSWORD
from tests.kit.surveys import PIPED, submission

from deniable.survey import Survey, document
from deniable_server.store.protocol import Store
from deniable_server.store.trials import SIMULATED
from deniable_server.trials.marked import marked

RAW = {
    "api.definition",
    "copies.source",
    "drafting.download",
    "drafting.edit",
    "drafting.source",
    "preview.definition",
    "sharing.read",
}
"""Pages with texts as their author wrote them: definitions, sources, and the fields of the editor."""
SEEN = {
    "among.page",
    "among.chart",
    "about.definition",
    "building.crosstab",
    "building.model",
    "building.waves",
    "building.waves_chart",
    "api.bundle",
    "data.download",
    "ethics.document",
    "ethics.draft_document",
    "ethics.draft_page",
    "ethics.page",
    "levels.page",
    "library.page",
    "public.page",
    "publishing.page",
    "researchers.chart",
    "researchers.group_file",
    "researchers.groups",
    "researchers.survey",
    "settings.questions",
    "trials.page",
}
"""Pages and files that show a fallback, so that a reference would be found in them."""
QUERIES: Mapping[str, list[dict[str, str]]] = {
    "among.page": [{}, {"among": "liked"}],
    "among.chart": [{"among": "liked"}],
    "building.crosstab": [{"rows": "copied", "columns": "liked"}, {"rows": "copied", "columns": "tired", "layer": "liked"}, {}],
    "building.download": [{"rows": "copied", "columns": "liked"}],
    "building.model": [{"outcome": "mean:hours", "predictor": "tired"}, {}],
    "building.waves": [{"with": "again"}],
    "building.download_waves": [{"with": "again"}],
    "building.waves_chart": [{"with": "again"}],
    "building.download_trends": [{"with": "again"}],
}
"""Parameters of pages that show little without any."""


@pytest.fixture
def ada(app: Flask, store: Store, logged_in: Callable[[Flask], FlaskClient]) -> FlaskClient:
    """A browser of a researcher with two closed waves of a survey, and a saved question."""
    for name in ("piped", "again"):
        survey = Survey.from_dict(document.parse(PIPED).value | {"id": name})
        store.surveys.publish(survey, "ada", source=PIPED)
        for group in survey.groups:
            store.submissions.add(survey.id, submission(survey, 40, group=group, mode="organisation"))
        store.surveys.set_open(survey.id, False)
    store.saved_questions.add("ada", json.dumps(document.parse(PIPED).value["questions"][1]))
    return logged_in(app)


def addresses(app: Flask, draft_id: str) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Yields the endpoint, the path and the parameters of each page and file about a survey or a draft."""
    documents = [f"{name}.{kind}" for name in ("protocol", "information-en", "information-de") for kind in ("md", "html", "docx")]
    values = {
        "survey_id": ["piped"],
        "draft_id": [draft_id],
        "question": ["copied", "ways", "glad", "mark"],
        "kind": ["csv", "json", "svg", "yaml"],
        "name": [*documents, "report.html", "codebook.md"],
    }
    adapter = app.url_map.bind("localhost")
    for rule in app.url_map.iter_rules():
        if "GET" not in (rule.methods or ()) or not rule.arguments & {"survey_id", "draft_id"}:
            continue
        for chosen in itertools.product(*(values[name] for name in sorted(rule.arguments))):
            try:
                path = adapter.build(rule.endpoint, dict(zip(sorted(rule.arguments), chosen, strict=True)))
            except ValueError:  # files of this name do not have this kind
                continue
            for query in QUERIES.get(rule.endpoint, [{}]):
                yield rule.endpoint, path, query


def content(raw: bytes) -> bytes:
    """Returns the bytes of a file, or of all files in it if it is an archive."""
    if not zipfile.is_zipfile(io.BytesIO(raw)):
        return raw
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        return b"".join(archive.read(name) for name in archive.namelist() if not name.endswith("survey.json"))


def test_no_page_about_a_survey_has_a_reference_to_an_answer(app: Flask, ada: FlaskClient, store: Store) -> None:
    draft = store.drafts.begin("ada", PIPED.replace("id: piped", "id: next"))
    raw, seen = set(), set()
    for endpoint, path, query in addresses(app, draft.id):
        reply = ada.get(path, query_string=query, auth=("ada", PASSWORD) if path.startswith("/api/") else None)
        body = content(reply.data)
        raw |= {endpoint} if b"${subject" in body or b"subject|" in body else set()
        seen |= {endpoint} if b"your subject" in body else set()
    assert {"api.definition", "drafting.source"} <= raw <= RAW
    assert seen >= SEEN


def test_a_simulated_survey_keeps_its_references() -> None:
    simulated = marked(Survey.from_text(PIPED), SIMULATED)
    question = simulated.questions[1]
    assert question.raw_text == "[simulated] Did you copy in ${subject|your subject}?"
    assert question.text == "[simulated] Did you copy in your subject?"
