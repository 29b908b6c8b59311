"""The pages for people: what a survey has published, exactly and so that anybody can compute it; privacy; accessibility."""

from __future__ import annotations

import html
import math
import re
import shlex
import subprocess
import sys
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from flask.testing import FlaskClient

from deniable.cli import main
from deniable.mechanism import Window
from deniable.survey import Survey
from deniable_server import Config, create_app
from deniable_server.store.protocol import Store
from deniable_server.web.languages import LANGUAGES

QUESTIONS: list[dict[str, Any]] = [
    {"id": "smokes", "text": "Do you smoke <b>now</b>?", "type": "yes_no"},
    {"id": "often", "text": "How often?", "type": "scale", "options": ["never", "at times", "often"], "scores": [0, 1, 2]},
    {"id": "age", "text": "How old are you?", "type": "number", "low": 18, "high": 99, "levels": 10},
    {"id": "hours", "text": "How many hours?", "type": "number", "low": 0, "high": 80},
    {"id": "drinks", "text": "How many glasses?", "type": "number", "low": 0, "high": 40, "required": False},
    {"id": "towns", "text": "Where have you lived?", "type": "multi_choice", "options": ["Ulm", "Bern", "Graz"], "required": False},
    {
        "id": "why",
        "text": "Why?",
        "type": "choice",
        "options": list("abcdefg"),
        "show_if": {"any": [{"question": "smokes", "is": ["yes"]}, {"all": [{"question": "towns", "is": [o]} for o in ("Ulm", "Graz")]}]},
        "help": "The <b>main</b> reason.",
        "section": {"title": "Reasons", "note": "For what you said."},
    },
]


@pytest.fixture
def mixed(store: Store) -> Survey:
    """A survey of every type, with an epsilon for which no odds are round."""
    keys = {"deniable": 1, "id": "mixed", "title": "A study", "about": "Who asks, and why.", "epsilon": 7.3, "questions": QUESTIONS}
    survey = Survey.from_dict(keys)
    store.surveys.publish(survey)
    return survey


def section(page: str, question: str) -> str:
    found = re.search(rf'<section class="question" id="question-{question}".*?</section>', page, re.DOTALL)
    assert found
    return found[0]


def odds(page: str, question: str) -> dict[str, str]:
    return dict(re.findall(r'data-odds="(\w+)"><bdi dir="ltr">([^<]+)<', section(page, question)))


def texts(part: str) -> str:
    return html.unescape(" ".join(re.sub(r"<[^>]+>", " ", part).split()))


def blocks(page: str) -> list[str]:
    return [html.unescape(text) for text in re.findall(r"<pre[^>]*>(.*?)</pre>", page, re.DOTALL)]


# What is published.


def test_each_question_has_its_coins_as_exact_fractions(client: FlaskClient, mixed: Survey) -> None:
    page = client.get("/s/mixed/definition").text
    for question in mixed.questions:
        channel, shown = question.channel, odds(page, question.id)
        assert str(channel.keep_threshold) in texts(section(page, question.id))
        if isinstance(channel, Window):
            assert (Fraction(shown["own"]), Fraction(shown["other"])) == (
                channel.chances[0][0],
                channel.chances[0][channel.levels + channel.width - 2],
            )
            assert Fraction(shown["ratio"]) == Fraction(shown["own"]) / Fraction(shown["other"]) == channel.odds
            assert float(shown["epsilon"]) == question.epsilon <= float(shown["declared"])
            continue
        assert Fraction(shown["own"]) == Fraction(channel.keep_threshold, 2**32)
        assert Fraction(shown["other"]) == (channel.d - Fraction(channel.keep_threshold, 2**32)) / (channel.k - 1)
        own, none = Fraction(shown["own"]) / channel.d, (1 - Fraction(shown["own"])) / (channel.k - channel.d)
        assert Fraction(shown["ratio"]) == own / none  # of the chances of one subset with and without the own answer in it
        assert float(shown["epsilon"]) == question.epsilon <= float(shown["declared"]) == question.declared_epsilon
        items = len(question.labels) or 1
        assert float(shown["epsilon"]) == pytest.approx(items * math.log(Fraction(shown["ratio"])), rel=1e-15)


def test_each_question_is_shown_with_its_text_categories_and_items(client: FlaskClient, mixed: Survey) -> None:
    page = client.get("/s/mixed/definition").text
    for number, question in enumerate(mixed.questions, 1):
        part = section(page, question.id)
        assert f"Question {number} of 7 {question.text}" in texts(part)
        found = [html.unescape(text) for text in re.findall(r"<li>(?:<bdi[^>]*>)?([^<]+)(?:</bdi>)?</li>", part)]
        conditions = [option for one in question.show_if.conditions for option in one.options] if question.show_if else []
        told = question.categories[: len(question.scores or ())] if isinstance(question.channel, Window) else question.categories
        assert found == [{"yes": "Yes", "no": "No"}.get(text, text) for text in (*conditions, *question.labels, *told)]
    assert "<b>now</b>" not in page
    assert "(for all 3 together)" in texts(section(page, "towns"))
    why = texts(section(page, "why"))
    assert "At least one of these: One of these answers to the question 1: Yes All of these: One of these answers to" in why
    assert "Why? The <b>main</b> reason." in why
    assert "Reasons For what you said. Question 7 of 7" in texts(page)


def test_the_page_speaks_the_language_of_its_reader_and_the_survey_as_far_as_it_is_translated(client: FlaskClient, store: Store) -> None:
    german = {
        "title": "Eine Studie",
        "questions": {
            "smokes": {"text": "Rauchen Sie?"},
            "towns": {"options": ["Ulm", "Bern (CH)", "Graz"]},
            "often": {"options": ["nie", "mal", "oft"]},
        },
    }
    keys = {"deniable": 1, "id": "two", "title": "A study", "about": "Who asks.", "epsilon": 7.3, "questions": QUESTIONS}
    store.surveys.publish(Survey.from_dict({**keys, "translations": {"de": german}}))
    page = client.get("/s/two/definition?lang=de").text
    assert "Rauchen Sie?" in texts(section(page, "smokes"))
    assert "2 Kategorien: Ja Nein " in texts(section(page, "smokes"))
    assert "nie mal oft" in texts(section(page, "often"))
    assert "Ulm Bern (CH) Graz" in texts(section(page, "towns"))
    assert "3 Kategorien: Ja Nein keine Antwort " in texts(section(page, "towns"))
    assert '<bdi lang="en">a</bdi>' in section(page, "why")
    assert "auf die Frage 6: Ulm" in texts(section(page, "why"))
    assert "smokes" not in texts(page)


def test_the_page_has_the_digest_the_total_and_its_commands_the_address(client: FlaskClient, mixed: Survey) -> None:
    page = client.get("/s/mixed/definition").text
    assert f'id="digest">{mixed.digest}<' in page
    assert f'id="epsilon"><bdi dir="ltr">{mixed.epsilon!r}<' in page
    digest, verify, _, recompute = blocks(page)
    assert digest == "curl -s http://localhost/api/v1/surveys/mixed | sha256sum"
    assert verify == f"deniable verify 'http://localhost/s/mixed#digest={mixed.digest}'"
    assert recompute == "curl -s http://localhost/api/v1/surveys/mixed | python3 recompute.py"


def test_the_commands_name_the_public_address(tmp_path: Path, store: Store) -> None:
    app = create_app(Config(tmp_path / "deniable.db", "x" * 40, "https://survey.example.org/"), store)
    assert blocks(app.test_client().get("/s/study/definition").text)[0].startswith("curl -s https://survey.example.org/api/")


def test_a_survey_that_asks_a_sample_says_of_what_the_total_is(client: FlaskClient, store: Store) -> None:
    questions = [{"id": f"q{n}", "text": "Yes?", "type": "yes_no"} for n in range(5)]
    sampled = Survey.from_dict({"deniable": 1, "id": "sampled", "title": "A", "about": "B", "epsilon": 2, "ask": 2, "questions": questions})
    store.surveys.publish(sampled)
    page = client.get("/s/sampled/definition").text
    assert "2 of 5 blocks" in page
    assert f"{sampled.epsilon!r}<" in page


def test_a_closed_survey_still_says_what_it_had_published(client: FlaskClient, store: Store, survey: Survey) -> None:
    store.surveys.set_open("study", False)
    assert survey.digest in client.get("/s/study/definition").text


def test_an_unknown_survey_has_published_nothing(client: FlaskClient) -> None:
    assert client.get("/s/none/definition").status_code == 404


# Checking it.


def run_recompute(page: str, definition: bytes, folder: Path) -> list[str]:
    """Runs the lines that the page shows, as they stand, in an interpreter that has nothing of ours."""
    (folder / "recompute.py").write_text(blocks(page)[2], encoding="utf-8")
    words = [sys.executable, "-I", "-S", "recompute.py"]
    return subprocess.run(words, cwd=folder, input=definition, capture_output=True, check=True).stdout.decode().splitlines()


def test_the_lines_of_the_page_compute_what_the_page_says(client: FlaskClient, mixed: Survey, tmp_path: Path) -> None:
    page = client.get("/s/mixed/definition").text
    digest, *lines = run_recompute(page, client.get("/api/v1/surveys/mixed").data, tmp_path)
    assert digest == mixed.digest
    shown = [[question.id, *(odds(page, question.id)[key] for key in ("own", "other", "ratio"))] for question in mixed.questions]
    assert [line.split() for line in lines] == shown


def test_the_lines_of_the_page_notice_weaker_coins(client: FlaskClient, mixed: Survey, tmp_path: Path) -> None:
    page = client.get("/s/mixed/definition").text
    keep = str(mixed.questions[0].keep_threshold).encode()
    digest, first, *_ = run_recompute(page, mixed.definition.replace(keep, b"4294967295", 1), tmp_path)
    assert digest != mixed.digest
    assert first.split()[1:] != [odds(page, "smokes")[key] for key in ("own", "other", "ratio")]


def test_the_lines_of_the_page_use_whole_numbers_only(client: FlaskClient, mixed: Survey) -> None:
    lines = blocks(client.get("/s/mixed/definition").text)[2]
    assert re.search(r"\d\.|float|math|[^/]/[^/]", lines) is None
    assert len([line for line in lines.splitlines() if "import" not in line]) <= 8


def test_the_command_of_the_page_is_one_that_the_program_has(client: FlaskClient, mixed: Survey) -> None:
    program, command, link = shlex.split(blocks(client.get("/s/mixed/definition").text)[1])
    assert (program, link) == ("deniable", f"http://localhost/s/mixed#digest={mixed.digest}")
    assert "Compare a server's pages" in CliRunner().invoke(main, [command, "--help"]).output


# All three pages.

PAGES = ("/s/study/definition", "/privacy", "/accessibility")


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_pages_come_in_every_language(client: FlaskClient, path: str, language: str) -> None:
    reply = client.get(f"{path}?lang={language}")
    assert reply.status_code == 200
    assert reply.text.lstrip().startswith(f'<!doctype html>\n<html lang="{language}"')
    assert reply.headers["Content-Language"] == language


@pytest.mark.parametrize("path", PAGES)
def test_the_pages_set_no_cookie_load_nothing_from_elsewhere_and_run_nothing(client: FlaskClient, path: str) -> None:
    reply = client.get(path)
    assert {"Set-Cookie", "ETag", "Last-Modified"} & set(reply.headers.keys()) == set()
    assert "<script" not in reply.text
    assert {url for url in re.findall(r'(?:src|href)="([^"]+)"', reply.text) if url.startswith(("http", "//"))} == set()
    assert reply.headers["Content-Security-Policy"].endswith("form-action 'none'")


@pytest.mark.parametrize("path", [*PAGES, "/s/study", "/s/closed", "/s/coins/by-hand", "/s/study/by-hand", "/s/coins/withdraw"])
def test_privacy_and_accessibility_are_linked_from_every_page_of_respondents(client: FlaskClient, store: Store, path: str) -> None:
    for name in ("closed", "coins"):
        question = {"id": "q", "text": "Yes?", "type": "yes_no"}
        store.surveys.publish(
            Survey.from_dict({"deniable": 1, "id": name, "title": "A", "about": "B", "epsilon": "ln 3", "questions": [question]})
        )
    store.surveys.set_open("closed", False)
    page = client.get(f"{path}?lang=de").text
    links = re.findall(r'<a href="(/(?:privacy|accessibility)[^"]*)" target="_blank" rel="noopener">', page)
    assert links == ["/privacy?lang=de", "/accessibility?lang=de"]
    assert [client.get(link).status_code for link in links] == [200, 200]


def test_the_survey_links_to_what_it_has_published(client: FlaskClient) -> None:
    assert 'href="/s/study/definition' in client.get("/s/study").text


def test_ids_and_headings_are_in_order(client: FlaskClient, mixed: Survey) -> None:
    for path in ("/s/mixed/definition", *PAGES):
        page = client.get(path).text
        ids = re.findall(r' id="([^"]+)"', page)
        assert len(ids) == len(set(ids))
        levels = [int(level) for level in re.findall(r"<h(\d)", page)]
        assert levels[0] == 1
        assert all(later - earlier <= 1 for earlier, later in pairwise(levels))


PHQ = {"text": "?", "type": "scale", "options": ["never", "often"]}
ON_THE_DEVICE: list[dict[str, Any]] = [
    {**PHQ, "id": "p1", "scores": [0, 3]},
    {**PHQ, "id": "p2", "scores": [0, 5], "required": False},
    {"id": "town", "text": "Which town?", "type": "choice", "options": ["Ulm", "Bern"], "order": "random", "other": True},
    {"id": "sum", "text": "Do you like ${town|it}?", "type": "yes_no", "show_if": {"score": ["p1", "p2"], "at_least": 3, "below": 8}},
    {"id": "count", "text": "Which $${x}?", "type": "yes_no", "show_if": {"count": ["p1", "p2"], "is": ["often"], "below": 2}},
]


def test_orders_earlier_answers_and_sums_are_described(client: FlaskClient, store: Store) -> None:
    keys = {"deniable": 1, "id": "summed", "title": "A study", "about": "Who asks.", "epsilon": 5, "questions": ON_THE_DEVICE}
    store.surveys.publish(Survey.from_dict(keys))
    page = client.get("/s/summed/definition").text
    assert "Your device draws the order of some questions or options. It neither keeps nor sends this order." in texts(page)
    summed, counted = texts(section(page, "sum")), texts(section(page, "count"))
    assert "Do you like it? In this text your device shows earlier answers of yours. They stay on this device." in summed
    assert "The sum must be in the range below. question 1 ( 0 · 3 ) question 2 ( 0 · 5 ) at least 3 below 8" in summed
    assert "The count must be in the range below. question 1 question 2 often below 2" in counted
    assert "Which ${x}?" in counted
    assert "Other" in texts(section(page, "town"))


def test_a_survey_without_them_says_nothing_of_them(client: FlaskClient, mixed: Survey) -> None:
    page = client.get("/s/mixed/definition").text
    assert "draws the order" not in page
    assert "earlier answers" not in page
