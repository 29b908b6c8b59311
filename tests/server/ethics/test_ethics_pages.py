"""Documents for ethics boards: each sentence is true of the survey, drafts are marked, sheets are in the survey's languages."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import docx
import pypdf
import pytest
from flask import Flask
from flask.testing import FlaskClient
from tests.kit.surveys import PIPED

from deniable.bundle.report import ReportSection
from deniable.plan import plan
from deniable.privacy.claims import all_claims, claim_texts, facts_of
from deniable.survey import Survey
from deniable_server.ethics import information_sheet, protocol_document
from deniable_server.ethics.protocol_document import Study
from deniable_server.store.life import Settings
from deniable_server.store.protocol import Store
from deniable_server.web.languages import LANGUAGES

KEYS: dict[str, Any] = {
    "deniable": 1,
    "id": "board",
    "title": "A study",
    "about": "Who asks, and why.",
    "epsilon": "ln 3",
    "questions": [{"id": "smokes", "text": "Do you smoke?", "type": "yes_no"}],
}
SEVERAL = {"id": "drinks", "text": "Which drinks?", "type": "multi_choice", "options": ["tea", "coffee"], "required": False}
HOW_MANY = {
    "id": "age",
    "text": "How old?",
    "type": "number",
    "low": 0,
    "high": 100,
    "show_if": {"question": "smokes", "is": ["yes"]},
    "required": False,
}
SURVEYS: dict[str, dict[str, Any]] = {
    "strong": {},
    "weak": {"epsilon": 5},
    "invited": {"access": "invited"},
    "public groups": {"results": "public", "groups": ["North", "South"], "release": "close"},
    "alone": {"batch": 1, "accept_small_batches": "true"},
    "everything": {"epsilon": 6, "questions": [*KEYS["questions"], SEVERAL, HOW_MANY], "ask": 1},
}


NO_SETTINGS = Settings()


def study(settings: Settings | None = NO_SETTINGS, **keys: Any) -> Study:
    survey = Survey.from_dict(KEYS | keys)
    return Study(survey, plan(survey, n=500), "published", settings)


def text_of(sections: tuple[ReportSection, ...]) -> str:
    parts = [part for section in sections for part in (section.heading, *section.paragraphs, *_cells(section))]
    return "\n".join(map(str, parts))


def _cells(section: ReportSection) -> list[object]:
    return [cell for row in section.table.rows for cell in row] if section.table else []


@pytest.mark.parametrize("keys", SURVEYS.values(), ids=SURVEYS)
def test_a_document_has_no_claim_that_does_not_hold(keys: dict[str, Any]) -> None:
    one = study(**keys)
    facts = facts_of(one.survey)
    true = {text for claim in all_claims() if claim.holds(facts) for text in claim_texts(claim.topic, facts)}
    false = {claim.text for claim in all_claims() if not claim.holds(facts)} - true
    texts = text_of((*protocol_document.sections(one), *information_sheet.sections(one.survey, "en")))
    assert [claim for claim in false if "{" not in claim and claim in texts] == []
    assert sum(claim in texts for claim in true) > 15


def test_a_document_with_another_survey_s_claims_is_noticed() -> None:
    """The control."""
    weak, strong = study(epsilon=5), facts_of(study().survey)
    false = {claim.text for claim in all_claims() if not claim.holds(strong) and "{" not in claim.text}
    assert any(claim in text_of(tuple(protocol_document.sections(weak))) for claim in false)


@pytest.mark.parametrize(
    ("sentence", "when", "otherwise"),
    [
        ("two real coins", {}, {"epsilon": 2}),
        ("each option is randomized by itself", SURVEYS["everything"], {}),
        ("Each person needs a one-time invitation code", SURVEYS["invited"], {}),
        ("Anyone with the link can answer", {}, SURVEYS["invited"]),
        ("Each record openly names one of these groups: North, South.", SURVEYS["public groups"], {}),
        ("The results will be public", SURVEYS["public groups"], {}),
        ("Each device draws 1 of 2 blocks", SURVEYS["everything"], {}),
        ("no figure from fewer than 10 records", {}, SURVEYS["alone"]),
        ("is shown before the survey closes, so none can be used for stopping", {"release": "close"}, {"release": "daily"}),
        ("press “Start” now and answer some hours later", SURVEYS["invited"], {}),
        ("may be skipped; only after yes to smokes", SURVEYS["everything"], {}),
    ],
)
def test_a_sentence_is_there_exactly_where_it_is_true(sentence: str, when: dict[str, Any], otherwise: dict[str, Any]) -> None:
    assert sentence in text_of(tuple(protocol_document.sections(study(**when))))
    assert sentence not in text_of(tuple(protocol_document.sections(study(**otherwise))))


def test_each_table_of_questions_has_the_text_of_a_rating_block_once_before_its_items() -> None:
    survey = Survey.from_text(PIPED)
    documents = {
        "How often in your subject?": tuple(protocol_document.sections(Study(survey, plan(survey, n=500), "published"))),
        "Wie oft in Ihrem Fach?": tuple(information_sheet.sections(survey, "de")),
    }
    for stem, document in documents.items():
        tables = [section.table.rows for section in document if section.table and any(row[0] == stem for row in section.table.rows)]
        assert len(tables) == (2 if stem.startswith("How") else 1)
        for rows in tables:
            names = [row[0] for row in rows]
            assert names.count(stem) == 1
            assert names[names.index(stem) + 1].endswith(("tired of your subject", "Müde von Ihrem Fach"))
            assert set(rows[names.index(stem)][1:]) == {""}
    text = text_of(documents["How often in your subject?"])
    assert "The least protected question is “Did you copy in your subject?”: of 100 people" in text


def test_retention_is_that_of_the_settings() -> None:
    def retention(settings: Settings | None) -> str:
        return text_of(tuple(section for section in protocol_document.sections(study(settings)) if "retention" in section.heading))

    assert "A day of deletion can be set once the survey is published" in retention(None)
    assert "No day of deletion is set" in retention(Settings())
    assert "All records are deleted on 2027-03-01." in retention(Settings(delete_on="2027-03-01"))
    assert "The records were deleted on 2027-03-01." in retention(Settings(deleted_on="2027-03-01"))
    assert "Answers are accepted until 2027-02-01." in retention(Settings(close_on="2027-02-01"))


def test_the_ends_of_a_number_are_written_in_full() -> None:
    income = {"id": "income", "text": "What do you earn?", "type": "number", "low": -20_000, "high": 1_000_000}
    (data,) = (section for section in protocol_document.sections(study(questions=[income])) if section.heading == "Data")
    assert data.table is not None
    assert data.table.rows[0][2] == "−20,000 to 1,000,000"


def test_the_plan_of_analysis_has_the_planner_s_figures() -> None:
    one = study()
    (row,) = one.plan.rows
    text = text_of(tuple(protocol_document.sections(one)))
    assert "We plan for n = 500 records." in text
    assert f"± {100 * row.half_width:.1f}" in text
    assert f"± {100 * plan(one.survey, n=5_000).rows[0].half_width:.1f}" not in text


SAME_IN_FRENCH = {"Contact", "Question"}


def test_every_text_of_the_sheet_is_one_of_respondents_pages_and_translated() -> None:
    for tag, language in LANGUAGES.items():
        untranslated = {text for text in information_sheet.TEXTS.values() if language.texts.gettext(text) == text}
        assert untranslated == {"en": set(information_sheet.TEXTS.values()), "fr": SAME_IN_FRENCH}.get(tag, set())


@pytest.mark.parametrize("tag", [*LANGUAGES, "pt-BR"])
def test_a_sheet_is_in_the_language_of_its_texts(tag: str) -> None:
    survey = Survey.from_dict(KEYS | {"language": tag, "contact": "ada@uni.test", "access": "invited"})
    text = text_of(tuple(information_sheet.sections(survey, tag)))
    language = information_sheet.page_language(tag)
    assert language.tag == (tag if tag in LANGUAGES else "en")
    assert language.texts.gettext("Who can see what") in text
    assert "{" not in text
    if language.tag != "en":
        assert "Someone" not in text
        assert "your" not in text


@pytest.fixture
def researcher(app: Flask, logged_in: Callable[..., FlaskClient]) -> FlaskClient:
    return logged_in(app)


def test_the_documents_of_a_survey_can_be_read_and_downloaded(researcher: FlaskClient, store: Store) -> None:
    store.surveys.publish(survey := Survey.from_dict(KEYS | {"translations": {"ar": {"title": "دراسة"}}}), "ada")
    store.life.keep("board", replace(Settings(), expected=77))
    page = researcher.get("/manage/surveys/board/ethics").text
    assert "Every sentence about protection below holds" in page
    assert "We plan for n = 77 records" in page
    assert "We plan for n = 300 records" in researcher.get("/manage/surveys/board/ethics?n=300").text
    assert researcher.get("/manage/surveys/board/ethics?n=0").status_code == 400
    links = [link.replace("&amp;", "&") for link in re.findall(r'href="(/manage/surveys/board/ethics/[^"]+)"', page)]
    assert len(links) == 12  # three documents, four kinds
    for link in links:
        reply = researcher.get(link)
        assert reply.status_code == 200
        assert "attachment" in reply.headers["Content-Disposition"]
        if ".docx" in link:
            paragraphs = "\n".join(one.text for one in docx.Document(io.BytesIO(reply.data)).paragraphs)
            assert ("دراسة" if "-ar" in link else "A study") in paragraphs
        elif ".pdf" in link:
            document = pypdf.PdfReader(io.BytesIO(reply.data))
            assert document.metadata is not None
            assert ("دراسة" if "-ar" in link else "A study") in str(document.metadata.title)
            assert document.trailer["/Root"]["/Lang"] == ("ar" if "-ar" in link else "en")
        else:
            assert ("دراسة" if "-ar" in link else "A study") in reply.text
            assert ".html" not in link or f'lang="{"ar" if "-ar" in link else "en"}"' in reply.text
    assert survey.digest in researcher.get("/manage/surveys/board/ethics/protocol.md").text
    for name in ("protocol.odt", "protocol", "information-xx.md"):
        assert researcher.get(f"/manage/surveys/board/ethics/{name}").status_code == 404
    assert "Ethics documents" in researcher.get("/manage/surveys/board/questions").text


def test_short_words_of_the_protocols_tables_stay_whole_in_the_pdf(researcher: FlaskClient, store: Store) -> None:
    options = ["tea and coffee", "sleeping pills", "cannabis", "none of these at all"]
    question = {"id": "q", "text": "Which of these have you used in the last year?", "type": "multi_choice", "options": options}
    store.surveys.publish(Survey.from_dict({**KEYS, "questions": [{**question, "exclusive": options[-1:], "at_most": 2}]}), "ada")
    document = pypdf.PdfReader(io.BytesIO(researcher.get("/manage/surveys/board/ethics/protocol.pdf").data))
    assert "everyone" in " ".join(page.extract_text() for page in document.pages)


def test_the_documents_of_a_draft_are_marked(researcher: FlaskClient, store: Store) -> None:
    from deniable.survey.dump import to_yaml

    draft = store.drafts.begin("ada", to_yaml(KEYS))
    assert "These documents are of a draft" in researcher.get(f"/manage/drafts/{draft.id}/ethics").text
    for name in ("protocol", "information-en"):
        assert "DRAFT of" in researcher.get(f"/manage/drafts/{draft.id}/ethics/{name}.md").text
    assert f"/manage/drafts/{draft.id}/ethics" in researcher.get(f"/manage/drafts/{draft.id}/publish").text
    store.surveys.publish(Survey.from_dict(KEYS), "ada")  # the control
    for name in ("protocol", "information-en"):
        assert "DRAFT" not in researcher.get(f"/manage/surveys/board/ethics/{name}.md").text


def test_a_draft_with_mistakes_leads_to_its_form(researcher: FlaskClient, store: Store) -> None:
    draft = store.drafts.begin("ada", "{deniable: 1, id: board}")
    assert researcher.get(f"/manage/drafts/{draft.id}/ethics").location.endswith(f"/manage/drafts/{draft.id}")
    assert researcher.get(f"/manage/drafts/{draft.id}/ethics/protocol.md").status_code == 404
