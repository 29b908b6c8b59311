"""Protection in words: what the page says of a level is what respondents will read, and one press applies it."""

from __future__ import annotations

import html
import re
from collections.abc import Callable

import pytest
from flask import Flask
from flask.testing import FlaskClient
from tests.kit.drafts import EXAMPLE

from deniable.plan.levels import level_of_survey, precision_curve, propose_level, proposed_levels
from deniable.plan.proposals import widest
from deniable.privacy.claims import protection_of
from deniable.survey import Survey
from deniable.survey.document import parse
from deniable_server.drafts import levels
from deniable_server.drafts.precision_chart import SIZES, precision_chart
from deniable_server.store.drafts import Draft
from deniable_server.store.protocol import Store


@pytest.fixture
def ada(app: Flask, logged_in: Callable[[Flask], FlaskClient]) -> FlaskClient:
    app.config["WTF_CSRF_ENABLED"] = False
    return logged_in(app)


@pytest.fixture
def draft(store: Store) -> Draft:
    return store.drafts.begin("ada", "# mine\n" + EXAMPLE)


@pytest.mark.parametrize("level", proposed_levels())
def test_the_box_is_the_one_that_respondents_will_read(ada: FlaskClient, store: Store, draft: Draft, level: str) -> None:
    path = f"/manage/drafts/{draft.id}/protection"
    page = html.unescape(ada.get(f"{path}?level={level}&n=800").text)
    proposal = propose_level(parse(EXAMPLE).value, level, 800)
    box = protection_of(proposal.survey)
    assert f"<strong>{box.name}</strong> {box.promise} {box.advice}" in page
    for words, people in box.rows:
        assert f"<dt>{words}</dt><dd>{people}</dd>" in page
    assert f"<strong>± {100 * proposal.half_width:.1f} points</strong>" in page.replace("\N{NO-BREAK SPACE}", " ")
    reply = ada.post(path, data={"revision": draft.revision, "level": level, "n": "800"})
    assert (reply.status_code, reply.headers["Location"]) == (302, f"/manage/drafts/{draft.id}?n=800")
    text = store.drafts.draft(draft.id).text
    survey = Survey.from_text(text)
    assert (level_of_survey(survey), widest(survey, 800), text.partition("\n")[0]) == (level, proposal.half_width, "# mine")
    assert f"Protection is {level} now." in ada.get(reply.headers["Location"]).text


def test_a_page_that_promises_another_level_is_noticed(ada: FlaskClient, draft: Draft, monkeypatch: pytest.MonkeyPatch) -> None:
    """Control: with the box of another survey, the comparison above fails."""
    weak = protection_of(propose_level(parse(EXAMPLE).value, "weak", 800).survey)
    monkeypatch.setattr(levels, "_box", lambda *_: weak)
    page = html.unescape(ada.get(f"/manage/drafts/{draft.id}/protection?level=strong&n=800").text)
    assert f"<strong>{protection_of(propose_level(parse(EXAMPLE).value, 'strong', 800).survey).name}</strong>" not in page


def test_answers_that_are_compared_need_two_questions_for_each_person(ada: FlaskClient, store: Store) -> None:
    questions = "".join(f"  - {{id: q{number}, text: Q?, type: yes_no}}\n" for number in range(8))
    draft = store.drafts.begin("ada", EXAMPLE.split("  - ")[0] + questions)
    path = f"/manage/drafts/{draft.id}/protection"
    assert "cannot be compared" in ada.get(f"{path}?level=strong&n=800").text
    assert "cannot be compared" not in ada.get(f"{path}?level=strong&n=800&together=y").text
    ada.post(path, data={"revision": draft.revision, "level": "strong", "n": "800", "together": "y"})
    assert Survey.from_text(store.drafts.draft(draft.id).text).ask == 2


@pytest.mark.parametrize("fields", [{"level": "none"}, {"level": ""}, {"n": "0"}, {"n": "x"}])
def test_a_level_or_a_number_that_is_none_changes_nothing(ada: FlaskClient, store: Store, draft: Draft, fields: dict[str, str]) -> None:
    path = f"/manage/drafts/{draft.id}/protection"
    assert ada.post(path, data={"revision": draft.revision, "level": "strong", "n": "800", **fields}).status_code in (200, 422)
    assert store.drafts.draft(draft.id) == draft


def test_a_page_that_is_out_of_date_applies_nothing(ada: FlaskClient, store: Store, draft: Draft) -> None:
    reply = ada.post(f"/manage/drafts/{draft.id}/protection", data={"revision": "another", "level": "strong", "n": "800"})
    assert (reply.status_code, "Nothing was applied" in reply.text, store.drafts.draft(draft.id)) == (409, True, draft)


def test_a_draft_with_problems_leads_back_to_its_fields(ada: FlaskClient, store: Store) -> None:
    draft = store.drafts.begin("ada", "deniable: 1\n")
    for reply in (ada.get(f"/manage/drafts/{draft.id}/protection"), ada.post(f"/manage/drafts/{draft.id}/protection")):
        assert (reply.status_code, reply.headers["Location"]) == (302, f"/manage/drafts/{draft.id}")


def test_the_table_has_the_figures_of_the_chart(ada: FlaskClient, draft: Draft) -> None:
    page = html.unescape(ada.get(f"/manage/drafts/{draft.id}/protection?n=800").text).replace("\N{NO-BREAK SPACE}", " ")
    survey = propose_level(parse(EXAMPLE).value, "medium", 800).survey
    for size in (50, 1_000, 100_000):
        assert re.search(rf'>{size:,}</th>.*?data-name="Medium">± {100 * widest(survey, size):.1f}<', page)


def test_a_chart_falls_with_the_number_of_people_and_marks_the_planned_one() -> None:
    survey = Survey.from_text(EXAMPLE)
    chart = precision_chart([precision_curve(survey, "medium", SIZES)], 1_000)
    (line,) = chart.lines
    assert len(line.segments) == len(SIZES) - 1
    assert all(x1 < x2 and y1 <= y2 for x1, y1, x2, y2 in line.segments)  # down the page is more precise
    assert chart.planned is not None
    assert chart.left < chart.planned < chart.right
    assert precision_chart([precision_curve(survey, "medium", SIZES)], 10**6).planned is None
