"""Results that everyone can read: only after a release, never below the floor, aggregates only, and computed again by a stranger."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from tests.kit.surveys import submission

from deniable.survey import Survey
from deniable_server import Config, create_app
from deniable_server.public import results_page
from deniable_server.public.citation import cite
from deniable_server.public.recompute import PROGRAM
from deniable_server.results import public_results as results_module
from deniable_server.results.public_results import PublicResults
from deniable_server.store.errors import UnavailableError
from deniable_server.store.protocol import Store
from deniable_server.web.languages import LANGUAGES

QUESTIONS: list[dict[str, Any]] = [
    {"id": "smokes", "text": "Do you smoke?", "type": "yes_no"},
    {"id": "party", "text": "Which party?", "type": "choice", "options": ["Red", "Green", "Blue"], "required": False},
    {"id": "drinks", "text": "Which drinks?", "type": "multi_choice", "options": ["tea", "coffee"]},
    {"id": "age", "text": "How old?", "type": "number", "low": 0, "high": 100, "levels": 5},
    {"id": "hours", "text": "How many hours?", "type": "number", "low": 0, "high": 24},
    {"id": "glasses", "text": "How many glasses?", "type": "number", "low": 0, "high": 24, "required": False},
    {"id": "often", "text": "How often?", "type": "scale", "options": ["never", "often"], "scores": [0, 1], "required": False},
]
KEYS: dict[str, Any] = {
    "deniable": 1,
    "id": "open-results",
    "title": "A study & more",
    "about": "Who asks, and why.",
    "institution": "Uni_X",
    "epsilon": 8,
    "results": "public",
    "release": "close",
    "questions": QUESTIONS,
}
ADDRESS = "/s/open-results/results"
Publish = Callable[..., Survey]


@pytest.fixture
def publish(store: Store) -> Publish:
    """Publishes a survey with public results, and sends it records in bulk: `publish(n, close=True, **keys)`, or n by group."""

    def make(n: int | dict[str, int], *, close: bool = True, **keys: Any) -> Survey:
        survey = Survey.from_dict(KEYS | keys)
        store.surveys.publish(survey)
        for group, count in n.items() if isinstance(n, dict) else [(None, n)]:
            for _ in range(count):
                store.submissions.add(survey.id, submission(survey, group=group))
        if close:
            store.surveys.set_open(survey.id, False)
        return survey

    return make


def content(client: FlaskClient) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(client.get(f"{ADDRESS}.json").text)
    return value


# When, and of whom.


def test_a_survey_without_the_key_has_no_such_page(client: FlaskClient, publish: Publish) -> None:
    publish(20, results="private")
    assert client.get(ADDRESS).status_code == client.get(f"{ADDRESS}.json").status_code == 404


def test_before_the_release_the_page_says_so_and_has_no_figure(client: FlaskClient, store: Store, publish: Publish) -> None:
    survey = publish(30, close=False)
    store.submissions.add(survey.id, submission(survey, 40, mode="organisation"))  # counted at once: large enough for a batch
    assert sum(store.submissions.counts(survey.id).values()) == 40
    assert "No results are shown yet" in client.get(ADDRESS).text
    assert content(client)["tables"] == []


def test_the_control_after_the_release_it_has_figures(client: FlaskClient, publish: Publish) -> None:
    publish(30)
    page = client.get(ADDRESS).text
    assert "No results are shown yet" not in page
    assert "Records: 30." in page
    assert page.count('class="question" data-question=') == len(QUESTIONS)
    assert [table["n"] for table in content(client)["tables"]] == [30]


def test_below_the_floor_nothing_is_shown(client: FlaskClient, store: Store, publish: Publish) -> None:
    publish(30)
    store.life.keep("open-results", replace(store.life.settings("open-results"), least=31))
    assert content(client)["tables"] == []
    assert "No results are shown yet" in client.get(ADDRESS).text


def test_a_small_group_is_hidden_and_so_is_the_one_that_gives_it_away(client: FlaskClient, publish: Publish) -> None:
    publish({"North": 40, "South": 20, "West": 12, "East": 3}, groups=["North", "South", "West", "East", "Nobody"])
    shown = {table["group"]: table["n"] for table in content(client)["tables"]}
    assert shown == {None: 75, "North": 40, "South": 20}
    page = client.get(ADDRESS).text
    assert "A group is shown from 10 records on" in page
    assert "East" not in page
    assert "West" not in page


def test_a_release_rule_that_hides_no_group_is_noticed(client: FlaskClient, publish: Publish, monkeypatch: pytest.MonkeyPatch) -> None:
    """The control."""
    monkeypatch.setattr(results_module.Release, "withheld", ())
    monkeypatch.setattr(results_module.Release, "require", lambda *_: None)
    monkeypatch.setattr(
        results_module.Release, "tally", lambda self, group=None: self.store.submissions.tally(self.survey.id, self.parts(group))
    )
    publish({"North": 40, "South": 20, "East": 3}, groups=["North", "South", "East"])
    assert "East" in {table["group"] for table in content(client)["tables"]}


def test_records_by_hand_are_counted_apart(client: FlaskClient, store: Store, publish: Publish) -> None:
    survey = publish(20, close=False, epsilon="ln 3", questions=QUESTIONS[:1])
    for _ in range(15):
        store.submissions.add(survey.id, submission(survey, mode="by_hand"))
    store.surveys.set_open(survey.id, False)
    assert [(table["by_hand"], table["n"]) for table in content(client)["tables"]] == [(False, 20), (True, 15)]
    assert "People who tossed real coins" in client.get(ADDRESS).text


def test_after_a_deletion_the_page_says_so(client: FlaskClient, store: Store, publish: Publish) -> None:
    publish(20)
    store.life.erase("open-results", "2026-11-26")
    assert "The records of this survey were deleted." in client.get(ADDRESS).text


def test_levels_of_a_number_are_written_as_people_write_numbers(client: FlaskClient, publish: Publish) -> None:
    publish(60, questions=[{"id": "pay", "text": "What do you earn?", "type": "number", "low": -20_000, "high": 1_000_000, "levels": 40}])
    labels = {tag: re.findall(r'<th scope="row">([^<]*)</th>', client.get(f"{ADDRESS}?lang={tag}").text) for tag in ("en", "de")}
    assert labels["en"][1:4] == ["-20,000", "6,154", "32,308"]
    assert labels["de"][1:4] == ["-20.000", "6.154", "32.308"]
    assert (labels["en"][40], labels["de"][40]) == ("1,000,000", "1.000.000")


# What is published.


def test_only_counts_of_single_questions_are_published(client: FlaskClient, publish: Publish) -> None:
    """No row, no pair of questions, no time finer than a day."""
    survey = publish(30)
    value = content(client)
    (table,) = value["tables"]
    assert set(value) == {"survey", "title", "definition", "digest", "epsilon", "released_on", "about", "tables"}
    assert set(table) == {"group", "by_hand", "n", "n_organisation", "items"}
    for item, line in zip(survey.items, table["items"], strict=True):
        assert set(line) == {"id", "n", "values", "recorded", "scores", "shares", "mean"}
        assert len(line["recorded"]) == len(item.recorded)
        assert sum(line["recorded"]) == 30 * item.d
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", value["released_on"])


@pytest.mark.parametrize(
    "questions", [QUESTIONS, [{**QUESTIONS[1], "options": [f"o{n}" for n in range(20)]}]], ids=["every type", "many options"]
)
def test_a_stranger_computes_every_estimate_again(
    client: FlaskClient, publish: Publish, tmp_path: Path, questions: list[dict[str, Any]]
) -> None:
    """As the page says: its program, the counts, the definition, and Python alone."""
    survey = publish(60, questions=questions)
    page = client.get(ADDRESS).text
    program = re.search(r'id="recompute">(.*?)</pre>', page, re.DOTALL)
    commands = re.search(r'id="commands">(.*?)</pre>', page, re.DOTALL)
    assert program
    assert commands
    assert unescape(program[1]).strip() == PROGRAM.strip()
    paths = re.findall(r"curl -s (?:http://localhost)?(\S+) -o (\S+)", unescape(commands[1]))
    assert [name for _, name in paths] == ["results.json", "definition.json"]
    for path, name in paths:
        (tmp_path / name).write_bytes(client.get(path).data)
    (tmp_path / "recompute.py").write_text(unescape(program[1]))
    last = unescape(commands[1]).splitlines()[-1].split()[1:]

    def run() -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, "-I", *last], cwd=tmp_path, capture_output=True, text=True, check=False)

    done = run()
    assert (done.returncode, done.stdout) == (0, "all estimates agree\n"), done.stderr
    wrong = json.loads((tmp_path / "results.json").read_text())
    for line in wrong["tables"][0]["items"]:  # the control: each published figure that is changed is noticed
        for place, figure in enumerate(
            [*line["shares"], *([line["mean"]] if line["mean"] and line["mean"]["estimate"] is not None else [])]
        ):
            before, figure["estimate"] = figure["estimate"], figure["estimate"] + 1e-6
            (tmp_path / "results.json").write_text(json.dumps(wrong))
            if place == 0:
                assert run().returncode == 1, line["id"]
            figure["estimate"] = before
    (tmp_path / "results.json").write_text(json.dumps({**wrong, "digest": survey.digest[::-1]}))
    assert "another definition" in run().stderr


def test_the_figures_are_those_of_the_results_page(
    client: FlaskClient, app: Flask, publish: Publish, logged_in: Callable[..., FlaskClient]
) -> None:
    publish(60)
    own = json.loads(logged_in(app).get("/manage/surveys/open-results/results.json").text)
    estimates = [row["estimate"] for row in own["rows"]]
    assert [share["estimate"] for item in content(client)["tables"][0]["items"] for share in item["shares"]] == estimates


# The page.


def test_the_page_is_the_same_for_everyone_and_sets_no_cookie(client: FlaskClient, publish: Publish) -> None:
    publish(30)
    first, second = (client.get(ADDRESS, headers={"Cookie": cookie}) for cookie in ("", "session=x"))
    assert first.data == second.data
    assert "Set-Cookie" not in first.headers
    assert first.headers["Cache-Control"] == "public, max-age=60"
    assert first.headers["Content-Security-Policy"] == client.get("/s/open-results/definition").headers["Content-Security-Policy"]
    assert "<script" not in first.text
    again = client.get(ADDRESS, headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")
    assert client.get(f"{ADDRESS}?lang=de").headers["ETag"] != first.headers["ETag"]
    assert client.get("/s/open-results").headers["Cache-Control"] == "no-store"  # the control: other pages are not kept


@pytest.mark.parametrize("tag", LANGUAGES)
def test_the_page_is_in_the_reader_s_language(client: FlaskClient, publish: Publish, tag: str) -> None:
    publish(20, translations={"de": {"title": "Eine Studie", "questions": {"party": {"options": ["Rot", "Grün", "Blau"]}}}})
    page = client.get(f"{ADDRESS}?lang={tag}").text
    assert f'<html lang="{tag}"' in page
    assert ("Rot" in page) is (tag == "de")
    assert ("95% interval" in page) is (tag == "en")
    assert LANGUAGES[tag].texts.gettext("Cite these results") in page


def test_the_closed_page_leads_to_it(client: FlaskClient, publish: Publish) -> None:
    publish(20)
    assert f'href="{ADDRESS}?lang=en"' in client.get("/s/open-results").text
    private = Survey.from_dict({**KEYS, "id": "shut", "results": "private"})
    assert "results" not in private.to_dict()


def test_results_are_computed_once_a_minute_and_by_one_request_at_a_time(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    now, calls = [0.0], list[str]()
    monkeypatch.setattr(results_page, "_compute", lambda survey_id, previous: calls.append(survey_id) or PublicResults(least=len(calls)))
    cache = results_page.Cache(lambda: now[0])
    assert [cache.get("a").least for _ in range(3)] == [1, 1, 1]
    now[0] = 61.0
    assert cache.get("a").least == 2
    now[0] = 200.0
    with cache._turn:  # another request computes
        assert cache.get("a").least == 2
        monkeypatch.setattr(results_page, "WAIT", 0.01)
        with pytest.raises(UnavailableError):
            cache.get("b")
    for number in range(results_page.MOST_SURVEYS + 5):
        cache.get(f"s{number}")
    assert len(cache._entries) == results_page.MOST_SURVEYS


def test_a_computation_that_fails_gives_its_turn_back(monkeypatch: pytest.MonkeyPatch) -> None:
    cache = results_page.Cache()

    def fail(_: str, previous: bytes) -> PublicResults:
        raise UnavailableError("no")

    monkeypatch.setattr(results_page, "_compute", fail)
    with pytest.raises(UnavailableError):
        cache.get("a")
    monkeypatch.setattr(results_page, "_compute", lambda *_: PublicResults(least=7))
    thread = threading.Thread(target=cache.get, args=["a"])
    thread.start()
    thread.join(5)
    assert cache.get("a").least == 7


# The citation.


def test_a_citation_has_the_institution_the_day_and_the_digest() -> None:
    survey = Survey.from_dict(KEYS)
    citation = cite(survey, 1234, "2026-11-26", "https://x.test/s/open-results/results")
    assert citation.text.startswith(
        "Uni_X (2026). A study & more [Data set]. https://x.test/s/open-results/results. 1,234 perturbed records"
    )
    assert survey.digest in citation.text
    assert "released 2026-11-26" in citation.text
    assert "author = {{Uni\\_X}}" in citation.bibtex
    assert "title = {{A study \\& more}}" in citation.bibtex
    without = cite(Survey.from_dict({key: value for key, value in KEYS.items() if key != "institution"}), 12, "", "https://x.test")
    assert without.text.startswith("A study & more (n.d.) [Data set].")
    assert "year" not in without.bibtex


def test_the_text_of_a_rating_block_is_a_heading_before_its_items_in_each_table(client: FlaskClient, publish: Publish) -> None:
    items = [{"id": "tired", "text": "I was tired"}, {"id": "glad", "text": "I was glad"}]
    block = {"id": "felt", "type": "rating", "text": "How often?", "options": ["never", "often"], "items": items}
    words = {"questions": {"felt": {"text": "Wie oft?"}}}
    publish({"North": 20, "South": 20}, questions=[QUESTIONS[0], block], groups=["North", "South"], translations={"de": words})
    for tag, stem in (("en", "How often?"), ("de", "Wie oft?")):
        page = client.get(f"{ADDRESS}?lang={tag}").text
        headings = [re.sub("<[^>]+>", "", heading) for heading in re.findall(r"<h[23]>(?:<span lang).*?</h[23]>", page)]
        assert headings == ["Do you smoke?", stem, "I was tired", "I was glad"] * 3


# Consent.


def test_respondents_read_it_before_they_start(client: FlaskClient, tmp_path: Path, store: Store, publish: Publish) -> None:
    survey = publish(0, close=False, epsilon="ln 3", questions=QUESTIONS[:1])
    assert "The results will be public" in client.get(f"/s/{survey.id}/by-hand").text
    other = Survey.from_dict({**KEYS, "id": "shut", "results": "private", "epsilon": "ln 3", "questions": QUESTIONS[:1]})
    store.surveys.publish(other)
    assert "The results will be public" not in client.get("/s/shut/by-hand").text  # the control
    assert create_app(Config(tmp_path / "deniable.db", "x" * 40), store)
    assert other.digest != survey.digest


def test_the_key_must_be_one_of_two_words_and_is_left_out_of_the_definition_if_private() -> None:
    from deniable.errors import RefusedError, SurveyError

    with pytest.raises(SurveyError, match="results: must be private or public, got 'shown'"):
        Survey.from_dict({**KEYS, "results": "shown"})
    private = Survey.from_dict({**KEYS, "results": "private"})
    assert b'"results"' not in private.definition
    public = Survey.from_dict(KEYS)
    assert b'"results":"public"' in public.definition
    assert Survey.from_definition(public.definition) == public
    with pytest.raises(RefusedError):
        Survey.from_definition(public.definition.replace(b'"public"', b'"private"'))
