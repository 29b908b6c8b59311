"""The builders of cross tables and models: the library's figures, by an address that says what it shows, and bounded in what they take."""

from __future__ import annotations

import contextlib
import html
import os
import re
import shlex
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flask import Flask
from flask.testing import FlaskClient
from tests.kit.patience import PATIENCE
from werkzeug.datastructures import MultiDict

from deniable.device.entropy import os_words
from deniable.device.randomize import randomize
from deniable.errors import EstimateError, ModelError
from deniable.estimate import analyse
from deniable.estimate.tables import conditional_share, cramers_v, independence
from deniable.survey import Survey
from deniable.wire.record import pack
from deniable.wire.submission import Submission
from deniable_server.researchers import models
from deniable_server.researchers.crosstabs import cross_of
from deniable_server.researchers.models import fit_of
from deniable_server.researchers.question_menu import question_menu
from deniable_server.results import analysis, model_fits
from deniable_server.results.analysis import categorical
from deniable_server.results.model_fits import Model, fit_model
from deniable_server.store import open_store
from deniable_server.store.life import Settings
from deniable_server.store.protocol import Store

SURVEY = Survey.from_text("""
deniable: 1
id: built
title: Built
about: Who asks, and why.
epsilon: 8
groups: [North, South]
questions:
  - {id: smokes, text: Do you smoke?, type: yes_no}
  - {id: party, text: "Which party, <b>really</b>?", type: choice, options: [Red, Green, Blue]}
  - {id: mood, text: Your mood?, type: scale, options: [bad, so so, good]}
  - {id: used, text: What do you drink?, type: multi_choice, options: [tea, coffee]}
  - {id: hours, text: Hours?, type: number, low: 0, high: 14}
""")
PAGE = "/manage/surveys/built"


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with much else to do leaves little to a process that gives way to all others."""
    monkeypatch.setattr(model_fits, "_LONGEST", PATIENCE)
    monkeypatch.setattr(model_fits, "_WAIT", PATIENCE)


@pytest.fixture(scope="module")
def reports() -> dict[str, bytes]:
    """Of people in two groups: those who smoke are for Red more often, with an odds ratio of 6; tea has nothing to do with it."""
    chance = np.random.default_rng(7)

    def of(n: int) -> bytes:
        smokes = chance.random(n) < 0.4
        party = np.where(chance.random(n) < np.where(smokes, 0.6, 0.2), 0, chance.integers(1, 3, n))
        answers = [1 - smokes.astype(int), party, *(chance.integers(0, size, n) for size in (3, 2, 2, 2))]
        return pack(SURVEY, [randomize(item.channel, np.asarray(one), os_words) for item, one in zip(SURVEY.items, answers, strict=True)])

    return {"North": of(1500), "South": of(900)}


@pytest.fixture
def store(tmp_path: Path, reports: dict[str, bytes]) -> Iterator[Store]:
    store = open_store(tmp_path / "deniable.db")
    store.surveys.publish(SURVEY)
    for group, raw in reports.items():
        store.submissions.add("built", Submission(os.urandom(16), SURVEY.digest, len(raw) // SURVEY.record.bytes, raw, group))
    yield store
    store.close()


@pytest.fixture
def ada(app: Flask, logged_in: Callable[[Flask], FlaskClient]) -> FlaskClient:
    return logged_in(app)


def text_of(reply: Any) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", reply.text.split("</header>")[1])).split())


# Cross tables.


@pytest.mark.parametrize("percent", ["row", "column", "all"])
def test_every_cell_is_the_librarys_with_its_interval(store: Store, reports: dict[str, bytes], percent: str) -> None:
    table = analyse(SURVEY, b"".join(reports.values())).crosstab("smokes", "party")
    found = cross_of(store, "built", {"rows": "smokes", "columns": "party", "percent": percent})
    assert found is not None
    for i, row in enumerate(("yes", "no")):
        for j, column in enumerate(("Red", "Green", "Blue")):
            given = {"row": {"smokes": row}, "column": {"party": column}}.get(percent)
            both = {"smokes": row, "party": column}
            own = conditional_share(table, {k: v for k, v in both.items() if k not in given}, given) if given else table.share(both)
            cell = found.layers[0].cells[i][j]
            assert cell is not None
            assert (cell.estimate, cell.low, cell.high) == (own.estimate, own.low, own.high)
    sums = np.array([[cell.estimate for cell in cells if cell] for cells in found.layers[0].cells])
    assert np.allclose({"row": sums.sum(axis=1), "column": sums.sum(axis=0), "all": sums.sum()}[percent], 1)
    assert found.test == independence(table)
    assert found.association == cramers_v(table)


def test_the_page_says_whether_they_are_associated_and_how_strongly(ada: FlaskClient) -> None:
    page = ada.get(f"{PAGE}/crosstab?rows=smokes&columns=party")
    assert "a link this strong would appear by chance in fewer than 0.1% of surveys" in text_of(page)
    assert re.search(r"Cramér's V is 0\.\d\d, between 0\.\d\d and 0\.\d\d", text_of(page))
    assert "<b>" not in page.text
    assert page.text.count('<td role="cell"') == 6
    told = "The files give each cell's share of all people."
    assert told in text_of(page)
    assert told not in text_of(ada.get(f"{PAGE}/crosstab?rows=smokes&columns=party&percent=all")), "as the page has them, too"


def test_layers_are_computed_from_the_records(store: Store, ada: FlaskClient, reports: dict[str, bytes]) -> None:
    table = analyse(SURVEY, b"".join(reports.values())).crosstab("smokes", "party", "used[tea]")
    found = cross_of(store, "built", {"rows": "smokes", "columns": "party", "layer": "used[tea]", "percent": "all"})
    assert found is not None
    assert [layer.option for layer in found.layers] == ["yes", "no"]
    own = conditional_share(table, {"smokes": "no", "party": "Blue"}, {"used[tea]": "yes"})
    cell = found.layers[0].cells[1][2]
    assert cell is not None
    assert (cell.estimate, cell.low) == (own.estimate, own.low)
    assert ada.get(f"{PAGE}/crosstab?rows=smokes&columns=party&layer=mood").text.count('<td role="cell"') == 18


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("rows=smokes&columns=smokes", "must be different questions"),
        ("rows=smokes&columns=party&layer=party", "must be different questions"),
        ("rows=hours", "rows must be the id of a question of survey built that is no rounded number"),
        ("rows=<script>", "rows must be the id of a question"),
        ("percent=half", "percent must be row, column, all"),
        ("confidence=7", "confidence must be above 0 and below 1"),
        ("group=West", "group must be one of the groups"),
    ],
)
def test_what_makes_no_table_is_told_above_the_controls_that_mend_it(ada: FlaskClient, query: str, told: str) -> None:
    page = ada.get(f"{PAGE}/crosstab?{query}")
    assert (page.status_code, told.lower() in text_of(page).lower(), '<select name="rows">' in page.text) == (400, True, True)
    assert "<script>" not in page.text.replace('<script type="module"', "")


# Models.


@pytest.mark.slow
def test_odds_ratios_are_the_librarys_and_stand_beside_those_of_records_taken_at_face_value(
    store: Store, ada: FlaskClient, reports: dict[str, bytes]
) -> None:
    own = analyse(SURVEY, b"".join(reports.values())).regress("smokes ~ party")
    found = fit_of(store, "built", MultiDict([("outcome", "smokes"), ("predictor", "party")]))
    assert found is not None
    assert found.fit.regression == own.to_dict()
    assert [line.figure.value for line in found.lines] == pytest.approx(np.exp(own.params.iloc[1:]).tolist(), rel=1e-12)
    for line in found.lines:
        ratio, naive = line.figure, line.naive
        assert ratio.low < 1 / 6 < ratio.high or abs(np.log(ratio.value * 6)) < 2
        if naive:
            assert abs(np.log(naive.value)) < abs(np.log(ratio.value)), "coins pull it towards 1"
            assert naive.high / naive.low < ratio.high / ratio.low, "and it looks surer than it is"
    page, ratio = text_of(ada.get(f"{PAGE}/model?outcome=smokes&predictor=party")), found.lines[0].figure
    assert f"{ratio.value:.2f} {ratio.low:.2f} to {ratio.high:.2f}" in page
    assert "deniable regress" in page
    assert "'smokes ~ party'" in page
    assert [line.name for line in found.lines] == ["party: Green", "party: Blue"]
    assert "95% intervals ε = 1.6 and 1.6 party : compared with Red" in page


@pytest.mark.slow
def test_a_mean_is_modelled_by_slopes_and_an_item_of_a_multiple_choice_can_predict(store: Store, reports: dict[str, bytes]) -> None:
    options = MultiDict([("outcome", "mean:hours"), ("predictor", "used[tea]"), ("group", "South")])
    found = fit_of(store, "built", options)
    assert found is not None
    own = analyse(SURVEY, reports["South"]).regress("hours ~ `used[tea]`", model="linear", scored=["hours"])
    assert found.fit.regression == own.to_dict()
    assert not found.odds


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("outcome=smokes&predictor=smokes", "predictor must be another question than outcome"),
        ("outcome=smokes&predictor=hours", "predictor must be the id of a question of survey built that is no rounded number"),
        ("outcome=hours&predictor=smokes", "outcome must be one of the outcomes"),
        ("outcome=smokes&predictor=__import__('os')", "predictor must be the id of a question"),
        ("outcome=exec('1')&predictor=party", "outcome must be one of the outcomes"),
    ],
)
def test_a_formula_is_made_of_the_surveys_own_ids_only(ada: FlaskClient, query: str, told: str) -> None:
    """A formula can call functions."""
    page = ada.get(f"{PAGE}/model?{query}")
    assert (page.status_code, told.lower() in text_of(page).lower(), '<select name="outcome">' in page.text) == (400, True, True)


HOSTILE = "tea]` + I(__import__('pathlib').Path({mark!r}).touch()) + `used[tea"
"""An option that ends the name in a formula, and goes on with a call."""


@pytest.fixture
def hostile(tmp_path: Path) -> Survey:
    option = HOSTILE.format(mark=str(tmp_path / "called"))
    return Survey.from_dict(
        {
            "deniable": 1,
            "id": "hostile",
            "title": "H",
            "about": "A",
            "epsilon": 8,
            "questions": [
                {"id": "smokes", "text": "S?", "type": "yes_no"},
                {"id": "used", "text": "U?", "type": "multi_choice", "options": ["tea", option, "it's ~ 2 cups"]},
            ],
        }
    )


def records(survey: Survey, n: int = 400) -> bytes:
    """Of people whose answers to different questions have nothing to do with each other."""
    return pack(survey, [randomize(item.channel, (np.arange(n) >> place) % 2, os_words) for place, item in enumerate(survey.items)])


def test_an_option_that_would_end_its_name_in_a_formula_is_neither_offered_nor_taken(
    hostile: Survey, store: Store, ada: FlaskClient, tmp_path: Path
) -> None:
    store.surveys.publish(hostile)
    item = hostile.items[2].id
    for query in ({"outcome": "smokes", "predictor": item}, {"outcome": item, "predictor": "smokes"}):
        assert ada.get("/manage/surveys/hostile/model", query_string=query).status_code == 400
    page = ada.get("/manage/surveys/hostile/model").text
    assert "used[tea]" in page
    assert "__import__" not in page
    assert not (tmp_path / "called").exists()


@pytest.mark.slow
def test_what_is_no_name_in_a_formula_is_not_computed_wherever_it_comes_from(hostile: Survey, tmp_path: Path) -> None:
    """The control is the library, whose formulas are their writer's own and may call functions."""
    formula = f"smokes ~ `{hostile.items[2].id}`"
    for one in (formula, "smokes ~ I(smokes)", "smokes ~ {1 + 1}", "smokes ~ log(smokes)"):
        with pytest.raises(EstimateError, match="a formula on this page must have only questions"):
            fit_model(hostile, records(hostile), Model(one))
    assert not (tmp_path / "called").exists()
    with contextlib.suppress(EstimateError):  # what it comes to does not matter
        analyse(hostile, records(hostile)).regress(formula)
    assert (tmp_path / "called").exists()


@pytest.mark.slow
def test_any_other_option_of_a_multiple_choice_can_predict_and_be_the_outcome(hostile: Survey, store: Store, ada: FlaskClient) -> None:
    store.surveys.publish(hostile)
    raw, odd = records(hostile), hostile.items[3].id
    store.submissions.add("hostile", Submission(os.urandom(16), hostile.digest, 400, raw))
    for outcome, predictor in (("smokes", odd), (odd, "smokes"), ("used[tea]", odd)):
        found = fit_of(store, "hostile", MultiDict([("outcome", outcome), ("predictor", predictor)]))
        assert found is not None
        left, right = (name if name == "smokes" else f"`{name}`" for name in (outcome, predictor))
        assert found.fit.regression == analyse(hostile, raw).regress(f"{left} ~ {right}").to_dict()
        page = html.unescape(ada.get("/manage/surveys/hostile/model", query_string={"outcome": outcome, "predictor": predictor}).text)
        command = page.split("On the command line: <code>")[1].split("</code>")[0]
        assert shlex.split(command)[5] == f"{left} ~ {right}", "a shell reads what was meant"


def test_nothing_is_fitted_before_something_is_chosen(ada: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "fit_model", None)
    for query in ("", "?outcome=smokes", "?predictor=party"):
        assert "Choose an outcome" in text_of(ada.get(f"{PAGE}/model{query}"))


# What a page may cost.


def test_more_records_than_a_page_reads_are_refused_before_they_are_read(
    store: Store, ada: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(analysis, "MOST_BYTES", 2399 * SURVEY.record.bits)
    monkeypatch.setattr(type(store.submissions), "reports", None)
    for page in ("model?outcome=smokes&predictor=party", "crosstab?layer=mood"):
        reply = ada.get(f"{PAGE}/{page}")
        assert "a page reads up to 2,399 records of this survey, and 2,400 are counted" in text_of(reply).lower()
        assert reply.status_code == 400


@pytest.mark.slow
def test_a_model_that_a_busy_server_cannot_compute_is_ended_and_the_next_one_is_computed(
    ada: FlaskClient, reports: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_fits, "_LONGEST", 0.5)
    begun = time.monotonic()
    with pytest.raises(EstimateError, match="this server is too busy"):
        fit_model(SURVEY, reports["North"], Model("smokes ~ party"))
    assert time.monotonic() - begun < 30
    busy = ada.get(f"{PAGE}/model?outcome=smokes&predictor=party"), ada.get(f"{PAGE}/model.json?outcome=smokes&predictor=party")
    assert [(reply.status_code, reply.headers["Retry-After"]) for reply in busy] == [(503, "2")] * 2
    monkeypatch.setattr(model_fits, "_LONGEST", PATIENCE)
    assert fit_model(SURVEY, reports["North"], Model("smokes ~ party")).nobs == 1500


def test_a_model_that_takes_too_much_computing_says_so(reports: dict[str, bytes], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A process that the kernel ends as one whose time is over."""
    spent = tmp_path / "spent"
    spent.write_text("#!/bin/sh\nkill -XCPU $$\n", encoding="ascii")
    spent.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(spent))
    with pytest.raises(EstimateError, match="takes longer than the 15 seconds"):
        fit_model(SURVEY, reports["North"], Model("smokes ~ party"))


def test_one_model_is_computed_at_a_time(reports: dict[str, bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_fits, "_WAIT", 0.01)
    with model_fits._TURN, pytest.raises(EstimateError, match="another model is being computed"):
        fit_model(SURVEY, reports["North"], Model("smokes ~ party"))


def test_before_anybody_has_answered_the_builders_say_so_and_blame_no_choice(store: Store, ada: FlaskClient) -> None:
    store.surveys.publish(Survey.from_dict({**SURVEY.to_dict(), "id": "empty"}), "ada")
    for page in ("crosstab?rows=smokes&columns=party", "crosstab?layer=mood", "model?outcome=smokes&predictor=party"):
        reply = ada.get(f"/manage/surveys/empty/{page}")
        told = "No records are counted yet" in text_of(reply)
        assert (reply.status_code, told, 'class="problem"' in reply.text) == (200, True, False), page


def test_below_the_number_that_is_set_neither_builder_shows_anything(store: Store, ada: FlaskClient) -> None:
    store.life.keep("built", Settings(least=2401))
    for page in ("crosstab", "crosstab?layer=mood", "model?outcome=smokes&predictor=party"):
        assert "shown from 2,401 records on" in text_of(ada.get(f"{PAGE}/{page}"))
    for page in ("crosstab.json", "crosstab.csv", "model.json?outcome=smokes&predictor=party"):
        assert ada.get(f"{PAGE}/{page}").status_code == 403


@pytest.fixture
def split(store: Store) -> str:
    """The page of a survey in which all of Red smoke and are in a good mood, and others differ."""
    survey = Survey.from_dict({**SURVEY.to_dict(), "id": "split"})
    store.surveys.publish(survey)
    party, other = np.arange(300) % 3, np.arange(300) // 3
    answers = [np.where(party == 0, 0, other % 2), party, np.where(party == 0, 2, other % 3), *(other % 2 for _ in range(3))]
    *kept, hours = survey.items
    bits = [np.eye(item.k, dtype=bool)[one] for item, one in zip(kept, answers, strict=False)]
    raw = pack(survey, [*bits, randomize(hours.channel, answers[-1], os_words)])
    store.submissions.add("split", Submission(os.urandom(16), survey.digest, 300, raw, "North"))
    return "/manage/surveys/split"


def test_a_model_without_an_estimate_is_explained_in_plain_words_with_links_that_lead_on(ada: FlaskClient, split: str) -> None:
    reply = ada.get(f"{split}/model?outcome=mood&predictor=party&predictor=smokes&group=North")
    assert reply.status_code == 400
    words = text_of(reply)
    assert "No result for this model" in words
    assert "The model has no estimate: these reports say too little about party = Green, party = Blue" in words
    assert "Collect more answers." in words
    assert "interior maximum" not in words.split("In statistics")[0], "not before the words for statisticians"
    links = [html.unescape(link) for link in re.findall(r'<li><a href="([^"]*)"', reply.text.split('id="no-model"')[1])]
    assert [re.sub(r".*/", "", link) for link in links] == [
        "model?outcome=mean:mood&predictor=party&predictor=smokes&group=North",
        "crosstab?rows=party&columns=mood&group=North",
        "crosstab?rows=smokes&columns=mood&group=North",
        "model?outcome=mood&predictor=smokes&group=North",
        "model?outcome=mood&predictor=party&group=North",
    ]
    tables = [ada.get(link) for link in links if "crosstab" in link]
    assert [reply.status_code for reply in tables] == [200, 200]


def test_the_page_and_the_library_explain_a_model_without_an_estimate_in_the_same_words(store: Store, split: str) -> None:
    records = analysis.records_of(store, "split", MultiDict())
    with pytest.raises(ModelError) as library:
        analyse(records.survey, analysis.reports_of(records)).regress("smokes ~ party")
    with pytest.raises(ModelError) as page:
        fit_of(store, "split", MultiDict([("outcome", "smokes"), ("predictor", "party")]))
    assert str(page.value) == str(library.value)
    assert vars(page.value) == vars(library.value)
    assert "among people with party = Red" in str(page.value)


def test_the_menu_of_questions_marks_the_chosen_one_alone_whatever_texts_say() -> None:
    texts = ['value="q1" dir=', "<b>&", 'A " quote']
    questions = [{"id": f"q{number}", "text": text, "type": "yes_no"} for number, text in enumerate(texts)]
    survey = Survey.from_dict({"deniable": 1, "id": "menu", "title": "T", "about": "A.", "epsilon": 3, "questions": questions})
    for chosen, selected in (("q0", ["q0"]), ("q2", ["q2"]), (None, []), ("", []), ('q0" dir="auto">x', []), ("nowhere", [])):
        menu = question_menu(survey, categorical, chosen)
        assert re.findall(r'<option value="([^"]+)" selected dir="auto">', menu) == selected
        assert re.sub(" selected", "", menu) == question_menu(survey, categorical, None)
    assert [html.unescape(text) for text in re.findall(r">([^<]*)</option>", menu)] == texts
