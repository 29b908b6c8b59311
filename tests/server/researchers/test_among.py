"""Results among people with one true answer: the cross table's figures, withheld where it is, and bounded in what a page computes."""

from __future__ import annotations

import html
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flask import Flask
from flask.testing import FlaskClient

from deniable.device.entropy import os_words
from deniable.device.randomize import randomize
from deniable.estimate import Analysis
from deniable.survey import Survey
from deniable.wire.record import pack
from deniable.wire.submission import Submission
from deniable_server.pages.paging import Paging
from deniable_server.researchers import among
from deniable_server.researchers.among import TOO_LARGE, AmongPage, among_page, answer_filter
from deniable_server.researchers.crosstabs import cross_of
from deniable_server.store import open_store
from deniable_server.store.life import Settings
from deniable_server.store.protocol import Store

SURVEY = Survey.from_text("""
deniable: 1
id: built
title: Built
about: Who asks, and why.
epsilon: 10
accept_high_epsilon: true
groups: [North, South]
questions:
  - {id: smokes, text: Do you smoke?, type: yes_no}
  - {id: party, text: "Which party, <b>really</b>?", type: choice, options: [Red, Green, Blue]}
  - {id: mood, text: Your mood?, type: scale, options: [bad, so so, good], required: false}
  - {id: used, text: What do you drink?, type: multi_choice, options: [tea, coffee]}
  - {id: hours, text: Hours?, type: number, low: 0, high: 14}
  - {id: rooms, text: Rooms?, type: number, low: 0, high: 4, levels: 3}
""")
PAGE = "/manage/surveys/built"
SIZES = {"North": 1500, "South": 900}


def reports(survey: Survey, n: int, share: float = 0.5) -> bytes:
    """Of people of whom this share gives the first answer to each question, and all others are spread evenly."""
    chance = np.random.default_rng(n)
    every = (np.where(chance.random(n) < share, 0, chance.integers(1, item.k, n)) for item in survey.items)
    return pack(survey, [randomize(item.channel, one, os_words) for item, one in zip(survey.items, every, strict=True)])


def add(store: Store, survey: Survey, n: int, group: str | None = None, share: float = 0.5) -> None:
    store.submissions.add(survey.id, Submission(os.urandom(16), survey.digest, n, reports(survey, n, share), group))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = open_store(tmp_path / "deniable.db")
    store.surveys.publish(SURVEY)
    for group, n in SIZES.items():
        add(store, SURVEY, n, group)
    yield store
    store.close()


@pytest.fixture
def ada(app: Flask, logged_in: Callable[[Flask], FlaskClient]) -> FlaskClient:
    return logged_in(app)


def text_of(reply: Any) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", reply.text.split("</header>")[1])).split())


def look(store: Store, options: dict[str, str], survey: Survey = SURVEY) -> AmongPage:
    chosen = answer_filter(survey, options)
    assert chosen
    return among_page(store, survey.id, options, chosen, Paging.of(options.get("page"), len(survey.questions)))


@pytest.mark.parametrize("more", [{}, {"group": "North"}, {"confidence": "0.8", "target": "respondents"}], ids=str)
@pytest.mark.parametrize("option", ["Red", "Blue"])
def test_every_figure_is_in_a_row_of_the_cross_table(store: Store, option: str, more: dict[str, str]) -> None:
    people, seen = look(store, {"among": "party", "answer": option, **more}).people, 0
    for name in ("smokes", "mood", "used[tea]", "used[coffee]"):
        cross = cross_of(store, "built", {"rows": "party", "columns": name, "percent": "row", **more})
        assert cross
        cells = cross.layers[0].cells[SURVEY.questions[1].categories.index(option)]
        for cell, row in zip(cells, people[name], strict=True):
            assert cell
            assert (row.estimate, row.low, row.high, row.n) == (cell.estimate, cell.low, cell.high, cell.n)
            seen += 1
    assert seen == 10


def test_the_page_names_the_people_their_share_and_each_question_with_a_chart(ada: FlaskClient) -> None:
    page = ada.get(f"{PAGE}/among?among=smokes&answer=no")
    told = text_of(page)
    assert page.status_code == 200
    assert "<title>Built: among Do you smoke? no</title>" in page.text
    assert "Among people who answered Do you smoke? no n = 2,400 95% interval with each figure ε = 1.667 for this answer" in told
    assert re.search(
        r"An estimated \d\d\.\d% of people \(\d\d\.\d to \d\d\.\d%\) are in this subpopulation\. All 2,400 records are used", told
    )
    assert "Of twenty unrelated questions, about one looks different by chance." in told
    assert page.text.count('<section class="card question"') == 5
    assert page.text.count('<svg role="img"') == 3 + (1 + 4) + 2 + 1 + 1
    assert "<b>" not in page.text
    assert "deniable results http://localhost --survey built --among smokes=no --user ada" in told
    assert text_of(ada.get(f"{PAGE}/among?among=used&answer=tea")).count("people who chose What do you drink? tea") == 7
    group = text_of(ada.get(f"{PAGE}/among?among=used&answer=tea&group=South"))
    assert "South n = 900" in group


def test_nothing_is_computed_before_a_question_is_chosen(ada: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(among, "records_of", None)
    page = ada.get(f"{PAGE}/among")
    assert page.status_code == 200
    assert "No answer of a person is known, so there is no list of people to filter." in text_of(page)
    assert re.findall(r'<option value="(\w*)"[^>]*>[^<]*(?=<)', page.text)[:5] == ["", "smokes", "party", "mood", "used"]


def test_a_new_question_with_the_old_questions_answer_selects_its_first(ada: FlaskClient) -> None:
    page = ada.get(f"{PAGE}/among?among=party&answer=yes&of=smokes")
    assert "Among people who answered Which party, <b>really</b>? Red" in text_of(page)
    assert '<option value="Red" dir="auto" selected>' in page.text
    assert "of=" not in "".join(re.findall(r'href="([^"]*)"', page.text))


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("among=hours", "among must be the id of a question of survey built that is no rounded number"),
        ("among=rooms", "among must be the id of a question of survey built that is no rounded number"),
        ("among=<script>", "among must be the id of a question"),
        ("among=smokes&answer=maybe", "answer must be one of the answers to the question, such as yes"),
        ("among=mood&answer=no answer", "answer must be one of the answers to the question, such as bad"),
        ("among=smokes&confidence=7", "confidence must be above 0 and below 1"),
        ("among=smokes&group=West", "group must be one of the groups"),
    ],
)
def test_what_names_nobody_is_told_above_the_controls_that_mend_it(ada: FlaskClient, query: str, told: str) -> None:
    page = ada.get(f"{PAGE}/among?{query}")
    assert (page.status_code, told.lower() in text_of(page).lower(), '<select name="among">' in page.text) == (400, True, True)
    assert "<script>" not in page.text.replace('<script type="module"', "")
    for file in (f"among.csv?{query}", f"among/party.svg?{query}"):
        assert ada.get(f"{PAGE}/{file}").status_code == 400
    assert ada.get(f"{PAGE}/among/nothing.svg?among=smokes").status_code == 404
    assert ada.get(f"{PAGE}/among?among=smokes&page=2").status_code == 400


def test_below_the_number_that_is_set_nothing_is_shown_and_nothing_kept_is(store: Store, ada: FlaskClient) -> None:
    paths = ("among?among=smokes", "among.csv?among=smokes", "among.json?among=smokes", "among/mood.svg?among=smokes")
    before = [ada.get(f"{PAGE}/{path}").text for path in paths]
    store.life.keep("built", Settings(least=2401))
    assert "shown from 2,401 records on" in text_of(ada.get(f"{PAGE}/{paths[0]}"))
    assert "subpopulation" not in ada.get(f"{PAGE}/{paths[0]}").text
    assert [ada.get(f"{PAGE}/{path}").status_code for path in paths[1:]] == [403, 403, 403]
    store.life.keep("built", Settings(least=1000))
    withheld = {
        group: "estimates are shown from" in text_of(ada.get(f"{PAGE}/among?among=smokes&group={group}")).lower() for group in SIZES
    }
    crossed = {group: "estimates are shown from" in text_of(ada.get(f"{PAGE}/crosstab?group={group}")).lower() for group in SIZES}
    assert withheld == crossed == {"North": True, "South": True}, "North less all would be South"
    store.life.keep("built", Settings(least=20))
    assert [ada.get(f"{PAGE}/{path}").text[:200] for path in paths] == [text[:200] for text in before]


def test_it_reads_nothing_but_the_tally_that_a_cross_table_reads(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """No record and no group's counts: the same reads, so the same release."""
    reads: list[tuple[str, tuple[Any, ...]]] = []
    for name in ("tally", "reports_by_part", "reports"):
        real = getattr(store.submissions, name)

        def read(*args: Any, real: Callable[..., Any] = real, name: str = name) -> Any:
            reads.append((name, args))
            return real(*args)

        monkeypatch.setattr(store.submissions, name, read)
    for group in ({}, {"group": "North"}):
        cross_of(store, "built", {"rows": "smokes", "columns": "party", **group})
        crossed = reads[:]
        reads.clear()
        look(store, {"among": "smokes", "answer": "yes", **group})
        assert reads == crossed
        assert {name for name, _ in reads} == {"tally"}
        reads.clear()


def test_too_few_people_with_the_answer_are_told_once_and_no_figure_is_shown(store: Store, ada: FlaskClient) -> None:
    survey = wide(4, epsilon=4)
    store.surveys.publish(survey, "ada")
    for _ in range(20):
        add(store, survey, 60, share=0.0)
        page = ada.get("/manage/surveys/wide/among?among=q0&answer=o0")
        if "not clearly above 0" in page.text:
            break
    assert page.status_code == 200
    assert len(re.findall(r"Too few people who answered .* an estimated .*%.*, which is not clearly above 0", text_of(page))) == 1
    assert 'class="card question"' not in page.text
    assert ada.get("/manage/surveys/wide/among.csv?among=q0&answer=o0").status_code == 400


def test_before_anybody_has_answered_the_page_says_so(store: Store, ada: FlaskClient) -> None:
    store.surveys.publish(Survey.from_dict({**SURVEY.to_dict(), "id": "empty"}), "ada")
    reply = ada.get("/manage/surveys/empty/among?among=smokes")
    assert (reply.status_code, "No records are counted yet" in text_of(reply), 'class="problem"' in reply.text) == (200, True, False)
    numbers = {**SURVEY.to_dict(), "id": "numbers", "questions": SURVEY.to_dict()["questions"][4:]}
    store.surveys.publish(Survey.from_dict(numbers), "ada")
    assert "A filter needs a question with categories" in text_of(ada.get("/manage/surveys/numbers/among"))


def wide(n: int, options: int = 2, epsilon: float = 10) -> Survey:
    kind: dict[str, Any] = {"type": "choice", "options": [f"o{number}" for number in range(options)], "text": "Q"}
    source = {"deniable": 1, "id": "wide", "title": "Wide", "about": "A.", "epsilon": epsilon}
    source |= {"accept_high_epsilon": True} if epsilon > 8 else {}
    return Survey.from_dict({**source, "questions": [{**kind, "id": f"q{number}"} for number in range(n)]})


def test_a_page_of_a_wide_survey_computes_its_own_questions_only(store: Store, ada: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    survey = wide(250)
    store.surveys.publish(survey, "ada")
    add(store, survey, 40)
    monkeypatch.setattr("deniable.estimate.tables.subpopulation.require_present", lambda part, quantile: None)
    monkeypatch.setattr("deniable.estimate.analysis.require_present", lambda part, quantile: None)
    tables: list[tuple[str, ...]] = []
    real = Analysis._crosstab

    def counted(self: Analysis, a: str, b: str, *more: str) -> Any:
        tables.append((a, b))
        return real(self, a, b, *more)

    monkeypatch.setattr(Analysis, "_crosstab", counted)
    page = ada.get("/manage/surveys/wide/among?among=q0&answer=o1&page=3")
    assert [second for _, second in tables] == [f"q{number}" for number in range(200, 250)]
    assert "Questions 201 to 250 of 250" in text_of(page)
    assert "answer=o1&amp;page=2" in page.text
    tables.clear()
    ada.get("/manage/surveys/wide/among?among=q0&answer=o1&page=3")
    assert tables == []
    ada.get("/manage/surveys/wide/among?among=q0&answer=o1")
    assert len(tables) == 99  # of 100 questions, the filter's own left out


def test_tables_that_are_too_large_for_a_page_are_left_to_the_command_line(
    store: Store, ada: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    survey = wide(4, 21)
    store.surveys.publish(survey, "ada")
    add(store, survey, 4000, share=0.9)
    people = look(store, {"among": "q0"}, survey)
    assert [card.refusals for card in people.cards] == [(TOO_LARGE,)] * 3
    assert TOO_LARGE[1:] in text_of(ada.get("/manage/surveys/wide/among?among=q0"))
    assert ada.get("/manage/surveys/wide/among/q1.svg?among=q0").status_code == 400
    monkeypatch.setattr(among, "MOST_CELLS_OF_PAGE", 10)
    small = look(store, {"among": "smokes", "confidence": "0.9"})
    assert [card.question.id for card in small.cards if card.refusals != (TOO_LARGE,)] == ["party", "hours"]
