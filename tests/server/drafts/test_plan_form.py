"""The Plan page: what is compared, in groups, clusters and a model, by the library's figures; and every mistake beside its field."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.datastructures import MultiDict

from deniable.cli import main
from deniable.plan import Clusters, SlopeOf, plan
from deniable.survey import Survey
from deniable_server.drafts.block_rows import by_block, plan_by_block
from deniable_server.drafts.plan_form import PlanForm
from deniable_server.store.protocol import Store

FILE = """\
deniable: 1
id: habits
title: Habits
about: Who asks, and why.
epsilon: 4
questions:
  - {id: smokes, text: Do you smoke?, type: yes_no}
  - {id: drinks, text: Do you drink?, type: yes_no}
  - {id: party, text: Which party?, type: choice, options: [Red, Green, Blue]}
"""
SLOPE = {"outcome": "smokes", "predictor": "drinks", "without": "0.3", "with_it": "0.45", "having": "0.4"}


@pytest.fixture
def ada(app: Flask, logged_in: Callable[[Flask], FlaskClient]) -> FlaskClient:
    return logged_in(app)


@pytest.fixture
def habits(store: Store) -> Survey:
    survey = Survey.from_text(FILE)
    store.surveys.publish(survey)
    return survey


def said(page: str) -> dict[str, str]:
    """The mistakes, by the field that names each as its description."""
    found = dict(re.findall(r'<p class="problem" id="(\w+)-problem">(.*?)</p>', html.unescape(page)))
    assert set(re.findall(r'aria-describedby="(\w+)-problem"', page)) == found.keys()
    return found


@pytest.mark.slow
def test_page_command_and_library_print_the_same_figures_of_groups_clusters_and_a_slope(
    ada: FlaskClient, habits: Survey, tmp_path: Path
) -> None:
    reply = ada.get(
        "/manage/surveys/habits/plan", query_string={"n": 900, "first": 700, "second": 60, "clusters": 20, "rho": "0.05", **SLOPE}
    )
    (tmp_path / "habits.yaml").write_text(FILE)
    words = "--n 900 --groups 700,60 --clusters 20 --rho 0.05 --slope smokes,drinks --outcome-shares 0.3,0.45 --predictor-share 0.4"
    command = CliRunner().invoke(main, ["plan", str(tmp_path / "habits.yaml"), *words.split()]).stdout
    made = plan(habits, n=900, groups=(700, 60), clusters=Clusters(20, 0.05), slope=SlopeOf("smokes", "drinks", (0.3, 0.45), 0.4))
    cells = [cell for table in made.tables()[1:-1] for row in table.rows for cell in row]
    assert (reply.status_code, len(made.tables()), command) == (200, 8, made.to_table())
    assert [cell for cell in cells if f">{cell}</" not in html.unescape(reply.text)] == []


def test_every_mistake_is_told_at_once_beside_its_field_and_what_was_typed_stays(ada: FlaskClient, habits: Survey) -> None:
    wrong = {
        "n": "10",
        "first": "9",
        "second": "8",
        "clusters": "11",
        "rho": "5",
        **SLOPE,
        "predictor": "smokes",
        "without": "0",
        "having": "",
    }
    reply = ada.get("/manage/surveys/habits/plan", query_string=wrong)
    assert (reply.status_code, said(reply.text)) == (
        400,
        {
            "second": "The two groups together must have at most 10 people.",
            "clusters": "Enter a number of clusters from 2 to 10.",
            "rho": "Enter a number from 0 to 1, such as 0.05.",
            "predictor": "Choose another question than the outcome.",
            "without": "Enter a number above 0 and below 1, such as 0.05.",
            "having": "Fill in this field, too.",
        },
    )
    for name in ("n", "first", "second", "clusters", "rho", "without"):
        assert re.search(rf'name="{name}"[^>]* value="{wrong[name]}"', reply.text)
    assert "<table" not in reply.text


@pytest.mark.parametrize(
    ("wrong", "field", "message"),
    [
        ({"second": "5"}, "first", "Fill in this field, too"),
        ({"clusters": "5"}, "rho", "Fill in this field, too"),
        ({"clusters": "1", "rho": "0.1"}, "clusters", "from 2 to 1,000"),
        ({"first": "1.5", "second": "5"}, "first", "whole number of people"),
        ({"rho": "nan", "clusters": "5"}, "rho", "from 0 to 1"),
        ({**SLOPE, "with_it": "0,45"}, "with_it", "above 0 and below 1"),
        ({**SLOPE, "outcome": "party"}, "outcome", "Choose one of the questions"),
        ({**SLOPE, "n": "20"}, "n", "N must be larger, got 20: of so few people's reports"),
    ],
)
def test_one_mistake_is_told_at_its_field_alone(wrong: dict[str, str], field: str, message: str) -> None:
    habits = Survey.from_text(FILE)
    form = PlanForm.of(MultiDict(wrong), habits)
    assert (form.planned(habits), list(form.errors)) == (None, [field])
    assert message in form.errors[field][-1]


def test_what_was_not_asked_for_is_folded_and_a_survey_without_two_such_questions_has_no_slope(ada: FlaskClient, habits: Survey) -> None:
    pages = [ada.get(f"/manage/surveys/habits/plan{asked}").text for asked in ("", "?n=500&clusters=&rho=&outcome=drinks&predictor=smokes")]
    assert [(page.count('<details class="card">'), 'name="having"' in page) for page in pages] == [(3, True)] * 2
    alone = Survey.from_dict({**habits.to_dict(), "questions": habits.to_dict()["questions"][1:]})
    assert not PlanForm.of(MultiDict(), alone).has_slopes
    assert PlanForm.of(MultiDict(), Survey.from_dict({**alone.to_dict(), "groups": ["north", "south"]})).has_slopes


BLOCK = """
  - id: mood
    type: rating
    text: How often?
    options: [never, sometimes, often]
    items: [{id: low, text: Low}, {id: tense, text: Tense}, {id: tired, text: Tired}]
"""


def test_a_rating_block_is_one_row_of_the_plan_and_of_the_comparison_in_the_editor(ada: FlaskClient, store: Store) -> None:
    survey = Survey.from_text(FILE + BLOCK)
    whole = plan(survey, n=500)
    page = html.unescape(ada.get(f"/manage/drafts/{store.drafts.begin('ada', FILE + BLOCK).id}/plan?n=500").text)
    rows = re.findall(r'<th scope="row"[^>]*>(?:<bdi>)?(.*?)(?:</bdi>)?</th>', page)
    assert set(rows) >= {"smokes", "drinks", "party", "mood (3 items)"}
    assert not {"low", "tense", "tired"} & set(rows)
    folded = plan_by_block(whole, survey)
    assert [row.question for row in folded.rows] == ["smokes", "drinks", "party", "mood (3 items)"]
    assert replace(folded.rows[-1], question="tired") == whole.rows[-1]
    assert [folded.coins[-1], *folded.coins[:3]] == [whole.coins[-1], *whole.coins[:3]]
    assert folded.least_precise.question in {"party", "mood (3 items)"}
    compared = ada.get(f"/manage/drafts/{store.drafts.begin('ada', FILE + BLOCK).id}").text
    assert re.findall(r'<dt><span dir="auto">(How often.*?)</span>', compared) == ["How often? (3 items)"]


def test_items_whose_figures_differ_keep_a_row_each() -> None:
    survey = Survey.from_text(FILE + BLOCK)
    whole = plan(survey, n=500)
    rows = (*whole.rows[:-1], replace(whole.rows[-1], respondents=7))
    assert by_block(survey, rows) == rows
