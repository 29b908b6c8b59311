"""A copy of a survey is the same survey under another id, and reads as its author wrote it."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path

import pytest

from deniable.errors import SurveyError
from deniable.survey import Survey, copies
from deniable.survey.copies import file_of_definition, next_ids, survey_file, with_id
from deniable.survey.document import parse
from deniable.topics import TOPICS, Topic

VECTORS = Path(__file__).parents[2] / "vectors"
ENTRIES = [entry for name in ("definitions", "window_definitions") for entry in json.loads((VECTORS / f"{name}.json").read_text())]
SURVEYS = [(entry["name"], Survey.from_definition(entry["text"].encode())) for entry in ENTRIES if entry["accepted"]]
ISSUER = "g" + "A" * 340 + "Q"


EVERY_KEY = """\
deniable: 1
id: all
title: "Yes: no"
about: |
  One.

  Two.
institution: University
contact: a@b.org
ethics: "12"
thanks: Bye
closed: Shut
return_link: https://a.org/x
logo: data:image/png;base64,iVBORw0KGgoAAAA=
ask: 2
groups: [North, "007"]
access: invited
layout: steps
release: daily
batch: 3
accept_small_batches: true
language: de
translations: {fr: {title: Tout, questions: {q: {text: Quoi?, section: {title: Un}}}}}
epsilon: 4
questions:
  - {id: q, text: Q, type: yes_no, section: {title: S, note: N}, help: H, weight: 2}
  - {id: r, text: R, type: choice, options: ["yes", "1.10", "null"], required: false}
  - {id: s, text: S, type: multi_choice, options: [a, b, none], none: none}
  - {id: t, text: T, type: scale, options: [low, high], scores: [0, 5]}
  - {id: u, text: U, type: number, low: 0, high: 10, bins: [{name: few, from: 0}, {name: many, from: 5}]}
  - {id: v, text: V, type: number, low: 0, high: 1, show_if: {any: [{question: q, is: ["yes"]}, {question: u, at_least: 5}]}}
"""


@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic.name)
def test_a_file_with_another_id_keeps_its_comments_and_layout(topic: Topic) -> None:
    copy = with_id(topic.text, "another-2")
    assert Survey.from_text(copy).id == "another-2"
    lines = list(zip(topic.text.split("\n"), copy.split("\n"), strict=True))
    assert [one for one, other in lines if one != other] == [f"id: {Survey.from_text(topic.text).id}"]


@pytest.mark.parametrize(
    ("text", "copy"),
    [
        ("id: a # why\ntitle: id\n", "id: b # why\ntitle: id\n"),
        ("{id: 'a', title: a}", "{id: 'b', title: a}"),
        ('{"title": "id", "id": "a"}', '{"title": "id", "id": "b"}'),
        ("id: &x a\ntitle: *x\n", "id: b\ntitle: a\n"),  # an alias refers to the id
        ("title: T\n", "title: T\nid: b\n"),
        ("id:\n  a\ntitle: größer 😀\n", "id:\n  b\ntitle: größer 😀\n"),
        ("sub: {id: a}\nid: c\n", "sub: {id: a}\nid: b\n"),
    ],
)
def test_only_the_id_changes(text: str, copy: str) -> None:
    assert with_id(text, "b") == copy
    assert parse(copy).value["id"] == "b"


def test_without_the_check_of_aliases_a_copy_would_be_another_survey(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copies, "_has_value", lambda text, wanted: True)
    with pytest.raises(SurveyError):
        parse(with_id("id: &x a\ntitle: *x\n", "b"))


@pytest.mark.parametrize("survey", [survey for _, survey in SURVEYS], ids=[name for name, _ in SURVEYS])
def test_a_file_from_a_definition_is_the_same_survey(survey: Survey) -> None:
    text = survey_file(survey)
    assert Survey.from_text(text).is_same_as(survey)
    for definition in (survey.definition.decode(), json.dumps(json.loads(survey.definition), indent=4)):
        assert Survey.from_text(file_of_definition(definition) or "").is_same_as(survey)


def test_a_file_from_a_definition_has_every_key_but_the_servers_own() -> None:
    survey = Survey.from_text(EVERY_KEY).with_issuer(ISSUER)
    text = survey_file(survey)
    assert Survey.from_text(text).is_same_as(survey)
    document, original = parse(text).value, parse(EVERY_KEY).value
    assert "issuer" not in document
    assert set(original) - set(document) <= {"epsilon"}
    by_hand = json.loads(survey.definition)
    assert Survey.from_text(file_of_definition(json.dumps(by_hand)) or "").is_same_as(survey)
    assert file_of_definition(json.dumps({**by_hand, "ask": 99})) is not None, "with a mistake, which the draft will name"


def test_epsilons_are_written_as_a_person_writes_them() -> None:
    questions = [{"id": name, "text": "?", "type": "yes_no"} for name in "abc"]
    top = {"deniable": 1, "id": "s", "title": "T", "about": "A."}
    for epsilon in ("ln 9", "ln 27", "3", "2.5", "0.1"):
        text = survey_file(Survey.from_dict({**top, "epsilon": epsilon, "questions": questions}))
        assert (f"\nepsilon: {epsilon}\n" in text, text.count("epsilon")) == (True, 1)
    own = [{**question, "epsilon": epsilon} for question, epsilon in zip(questions, ("ln 3", "ln 2.5", "0.3"), strict=True)]
    text = survey_file(Survey.from_dict({**top, "questions": own}))
    assert [line.split(": ")[1] for line in text.split("\n") if "epsilon" in line] == ["ln 3", "ln 2.5", "0.3"]


@pytest.mark.parametrize(
    "text", ["", "deniable: 1", "{}", "[]", '{"questions": 3}', '{"questions": [3]}', '{"questions": [{"id": "q"}]}', "[" * 9999]
)
def test_other_texts_are_no_definitions(text: str) -> None:
    assert file_of_definition(text) is None


@pytest.mark.parametrize(
    ("arguments", "ids"),
    [
        (("smoking",), ["smoking-2", "smoking-3"]),
        (("smoking-2",), ["smoking-3", "smoking-4"]),
        (("smoking-2026",), ["smoking-2027", "smoking-2028"]),
        (("covid-19x",), ["covid-19x-2", "covid-19x-3"]),
        (("2",), ["2-2", "2-3"]),
        (("a" * 64,), ["a" * 62 + "-2", "a" * 62 + "-3"]),
        (("smoking", "copy"), ["smoking-copy", "smoking-copy-2"]),
        (("smoking-copy", "copy"), ["smoking-copy", "smoking-copy-2"]),
        (("b" * 64, "copy"), ["b" * 59 + "-copy", "b" * 59 + "-co-2"]),
    ],
)
def test_ids_of_copies_count_on(arguments: tuple[str, ...], ids: list[str]) -> None:
    assert list(islice(next_ids(*arguments), 2)) == ids
