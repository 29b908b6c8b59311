"""The page of waves: two surveys of one's own side by side, with the figures of the library, for whoever may see both."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from click.testing import CliRunner
from flask import Flask
from flask.testing import FlaskClient
from tests.kit.servers.tallies import tally_of

from deniable.cli import main
from deniable.device.entropy import os_words
from deniable.device.randomize import randomize
from deniable.estimate import MeanRow, Row, analyse
from deniable.estimate.tables import Waves
from deniable.survey import Survey
from deniable.wire.record import pack
from deniable.wire.submission import Submission
from deniable_server.pages import figures
from deniable_server.pages.figures import Unit
from deniable_server.researchers.waves import changed_questions
from deniable_server.store.protocol import Store
from deniable_server.store.roles import Role

SMOKES = {"id": "smokes", "text": "Do you smoke?", "type": "yes_no"}
MOOD = {"id": "mood", "text": "Mood?", "type": "scale", "options": ["bad", "so so", "good"]}
TOOK = {"id": "took", "text": "Took?", "type": "multi_choice", "options": ["tea", "coffee"], "required": False}
HOURS = {"id": "hours", "text": "Hours?", "type": "number", "low": 0, "high": 14, "levels": 4}
PAGE = "/manage/surveys/w26/waves"


def survey_of(name: str, *questions: dict[str, object]) -> Survey:
    return Survey.from_dict(
        {
            "deniable": 1,
            "batch": 1,
            "accept_small_batches": True,
            "id": name,
            "title": f"Wave {name}",
            "about": "A.",
            "epsilon": 8,
            "questions": list(questions),
        }
    )


FIRST = survey_of("w26", SMOKES, MOOD, TOOK, HOURS, {"id": "gone", "text": "?", "type": "yes_no"})
SECOND = survey_of("w27", SMOKES, MOOD, TOOK, HOURS)
OTHER = survey_of("other", {"id": "else", "text": "?", "type": "yes_no"})


@pytest.fixture
def ada(app: Flask, logged_in: Callable[[Flask], FlaskClient]) -> FlaskClient:
    return logged_in(app)


@pytest.fixture
def waves(ada: FlaskClient, store: Store) -> Waves:
    """Two surveys of ada's with 2,000 people each, of whom fewer give the first answer in the second; and one about something else."""
    for survey, share in ((FIRST, 0.6), (SECOND, 0.3)):
        store.surveys.publish(survey, "ada")
        answers = (np.arange(2000) >= 2000 * share).astype(int)
        bits = [randomize(item.channel, answers, os_words) for item in survey.items]
        store.submissions.add(survey.id, Submission(os_words(4).tobytes(), survey.digest, 2000, pack(survey, bits)))
    store.surveys.publish(OTHER, "ada")
    first, second = (analyse(survey, tally_of(store, survey.id)) for survey in (FIRST, SECOND))
    return first.compare_waves(second)


def test_the_page_shows_the_figures_of_the_library_for_each_question_that_both_have(waves: Waves, ada: FlaskClient) -> None:
    page = html.unescape(ada.get(f"{PAGE}?with=w27").text)
    assert re.findall(r'<h2 id="q-(\w+)"', page) == ["smokes", "mood", "took", "hours"]
    levels = page.split('<details class="levels">')[1].split("</details>")[0]
    assert re.findall(r'role="rowheader"><bdi>([^<]*)<', levels) == ["0", "4.7", "9.3", "14"]
    changes = {(change.question, change.option): change for change in waves.changes}
    found = changes["smokes", "yes"]
    assert found.difference is not None
    assert f"<bdi>yes</bdi>: {found.words}." in page
    assert ": a fall" in found.words
    one = found.difference
    cells = "<strong>{0.value}</strong><span>{0.interval}</span>".format(figures.text(figures.of_difference(one, Unit.POINTS)))
    assert page.count(cells) == 1
    assert all(
        f"{survey.title}</bdi>: 2,000 records, ε\xa0=\xa0{figures.epsilon(survey.epsilon)} in all" in page for survey in (FIRST, SECOND)
    )
    epsilons = (next(item.epsilon for item in survey.questions if item.id == "smokes") for survey in (FIRST, SECOND))
    assert "ε = {} and {}<".format(*map(figures.epsilon, epsilons)) in page.split('id="q-smokes"')[1].split("</section>")[0]
    assert "question left out" in page
    assert "<code>gone</code>: only the first survey has it." in page
    mean = changes["mood", ""].difference
    assert mean is not None
    places = figures.decimals(mean.low, mean.high)
    assert f"<strong>{figures.text(figures.of_difference(mean, Unit.SCORE_DIFFERENCE)).value}</strong>" in page
    back = html.unescape(ada.get("/manage/surveys/w27/waves?with=w26").text)
    for seen, kind in ((page, "rise"), (back, "fall")):
        (said,) = re.findall(r'<p class="said"><bdi>Mean</bdi>: (.*?)\.</p>', seen.split('id="q-mood"')[1].split("</section>")[0])
        assert said.endswith(f": a {kind} of {mean.low:.{places}f} to {mean.high:.{places}f}"), (
            "of a question with a mean, nothing of its options"
        )
    took = page.split('id="q-took"')[1].split("</section>")[0]
    assert re.findall(r'<th scope="row"[^>]*><bdi>(.*?)</bdi>', took) == ["tea", "coffee"]


def test_beside_a_survey_that_nobody_has_answered_no_change_is_shown_or_denied(waves: Waves, ada: FlaskClient, store: Store) -> None:
    store.surveys.publish(survey_of("w28", SMOKES), "ada")
    page = ada.get(f"{PAGE}?with=w28")
    assert (page.status_code, "No records of Wave w28 are counted yet" in page.text, 'class="said"' in page.text) == (200, True, False)


def test_where_no_option_has_changed_the_page_says_so_once_a_question(waves: Waves, ada: FlaskClient) -> None:
    page = ada.get(f"{PAGE}?with=w27&confidence=0.999999999").text
    card = page.split('id="q-took"')[1].split("</section>")[0]
    assert ("No change is shown in any option." in card) == (not re.findall(r'<p class="said"><bdi>', card))
    for name in ("mood", "took"):
        shown = [change for change in waves.changes if change.question.startswith(name) and change.excludes_zero]
        assert len(shown) >= 2, "the control: at 95% changes are shown"


def test_a_mean_whose_change_may_be_none_is_said_not_to_have_changed(waves: Waves) -> None:
    mean = next(change for change in waves.changes if change.question == "mood")
    assert mean.difference is not None
    assert mean.excludes_zero
    for low, said in ((-0.1, "no change is shown"), (0.1, "a rise of 0.1 to 0.9")):
        found = replace(mean, difference=replace(mean.difference, low=low, high=0.9))
        (one,) = changed_questions(FIRST.questions, replace(waves, changes=(found,)))
        ((name, words),) = one.sentences
        assert (name, words.partition(": ")[2]) == ("Mean", said)


def test_only_surveys_with_a_question_in_common_are_offered(waves: Waves, ada: FlaskClient) -> None:
    assert re.findall(r'<option value="([^"]+)" dir', ada.get(PAGE).text) == ["study", "w27"], "the study of all tests asks who smokes"
    assert "You have no such survey yet" in ada.get("/manage/surveys/other/waves").text
    reply = ada.get(f"{PAGE}?with=other")
    assert (reply.status_code, "share no question" in reply.text) == (400, True)
    assert ada.get(f"{PAGE}?with=w26").status_code == 400


def test_whoever_may_see_one_survey_only_learns_nothing_of_the_other(
    waves: Waves, store: Store, app: Flask, logged_in: Callable[..., FlaskClient]
) -> None:
    eve = logged_in(app, "eve")
    store.roles.grant("w26", "eve", Role.VIEWER)
    secret, missing = eve.get(f"{PAGE}?with=w27"), eve.get(f"{PAGE}?with=nothing")
    assert (secret.status_code, missing.status_code) == (404, 404)
    assert len({re.sub(r'name="csrf_token" value="[^"]*"', "", reply.text) for reply in (secret, missing)}) == 1
    assert "w27" not in eve.get(PAGE).text
    assert eve.get("/manage/surveys/w27/waves?with=w26").status_code == 404
    store.roles.grant("w27", "eve", Role.VIEWER)
    assert eve.get(f"{PAGE}?with=w27").status_code == 200


def test_a_survey_whose_estimates_are_withheld_is_withheld_here_too(waves: Waves, store: Store, ada: FlaskClient) -> None:
    store.life.keep("w27", replace(store.life.settings("w27"), least=3000))
    reply = ada.get(f"{PAGE}?with=w27")
    assert reply.status_code == 400
    assert "shown from 3,000 records on" in reply.text
    assert "<strong>" not in reply.text.split("</header>")[1]


def test_the_command_names_its_own_options() -> None:
    told = CliRunner().invoke(main, ["waves", "--help"])
    assert told.exit_code == 0
    assert "--second ID" in told.output


def share(row: Row) -> str:
    estimate, low, high = (100 * (value or 0.0) for value in (row.estimate, row.low, row.high))
    return f"{estimate:.1f}% ({low:.1f}% to {high:.1f}%)"


def test_the_chart_of_each_question_has_both_surveys_and_their_figures(waves: Waves, ada: FlaskClient) -> None:
    page = ada.get(f"{PAGE}?with=w27").text
    for name in ("smokes", "mood", "took", "hours"):
        (link,) = re.findall(rf'href="({PAGE}/{name}[.]svg[^"]*)"', page)
        assert "with=w27" in link
        reply = ada.get(html.unescape(link))
        assert reply.mimetype == "image/svg+xml"
        words = " ".join(ElementTree.fromstring(reply.data).itertext()).replace("−", "-")
        means = [row for change in waves.changes if change.question == name and not change.option for row in (change.first, change.second)]
        figured = [f"{row.mean:,.4g} ({row.low:,.4g} to {row.high:,.4g})" for row in means if isinstance(row, MeanRow)]
        for change in waves.changes:
            own = (change.question == name and name != "hours") or (change.question.startswith("took[") and name == "took")
            if own and (change.option == "yes" or name == "mood"):
                for row in (change.first, change.second):
                    figured += [share(row)] if isinstance(row, Row) else []
        assert len(figured) >= 2
        assert [figure for figure in figured if figure not in words] == []
    assert ada.get(f"{PAGE}/nothing.svg?with=w27").status_code == 404
    assert ada.get(f"{PAGE}.csv").status_code == 400
