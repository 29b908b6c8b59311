"""Names of columns that R, Python, SPSS and Stata take, whatever the survey calls its questions and options."""

from __future__ import annotations

import keyword
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.client.bundle.conftest import ASKED, EVERY

from deniable.bundle.variables import LONGEST, options, variables
from deniable.survey import Survey
from deniable.survey.lookalikes import problems

LEGAL = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)*")
RESERVED = {
    "in",
    "if",
    "using",
    "with",
    "byte",
    "int",
    "str12",
    "by",
    "to",
    "ne",
    "all",
    "function",
    "next",
    "TRUE",
    "NA",
    "class",
    "lambda",
    "None",
}


def survey_of(*questions: dict[str, Any]) -> Survey:
    return Survey.from_dict({"deniable": 1, "id": "s", "title": "T", "about": "A.", "epsilon": 8, "questions": list(questions)})


def names(survey: Survey) -> list[str]:
    return [one.name for one in variables(survey)]


def wrong(found: list[str]) -> list[str]:
    """Names that some program refuses, or takes for one that is there."""
    bad = [name for name in found if not LEGAL.fullmatch(name) or len(name) > LONGEST or re.fullmatch(r"str\d+", name)]
    bad += [name for name in found if name.lower() in {word.lower() for word in (*RESERVED, *keyword.kwlist)}]
    lower = [name.lower() for name in found]
    return bad + [name for name in set(lower) if lower.count(name) > 1]


def test_an_item_of_a_multiple_choice_has_a_name_of_its_question_and_its_option() -> None:
    survey = survey_of(
        {"id": "drugs", "text": "?", "type": "multi_choice", "options": ["cannabis", "sleeping pills", "Café crème", "القنب"]}
    )
    assert names(survey) == ["mode", "drugs_cannabis", "drugs_sleeping_pills", "drugs_Cafe_creme", "drugs_4"]


def test_words_that_a_program_keeps_for_itself_get_a_number() -> None:
    ids = ["in", "if", "With", "str12", "by", "ne", "TRUE", "class", "mode", "MODE", "t"]
    survey = survey_of(*({"id": name, "text": "?", "type": "yes_no"} for name in ids))
    assert names(survey) == ["mode", "in_2", "if_2", "With_2", "str12_2", "by_2", "ne_2", "TRUE_2", "class_2", "mode_2", "MODE_3", "t_2"]


def test_names_that_would_be_cut_alike_differ() -> None:
    long = "a" * 64
    survey = survey_of({"id": long, "text": "?", "type": "yes_no"}, {"id": f"{long[:-1]}b", "text": "?", "type": "yes_no"})
    assert names(survey) == ["mode", "a" * 32, f"{'a' * 30}_2"]


@pytest.mark.parametrize("source", [EVERY, ASKED])
def test_the_surveys_of_these_tests_have_legal_names(source: Any) -> None:
    assert wrong(names(Survey.from_dict(source))) == []


LABELS = st.lists(st.text(min_size=1, max_size=40).map(str.strip), min_size=2, max_size=6, unique=True)


@pytest.mark.slow
@given(st.lists(st.from_regex(r"[A-Za-z][A-Za-z0-9_]{0,40}", fullmatch=True), min_size=1, max_size=5, unique=True), LABELS)
def test_whatever_a_survey_is_called_by_its_names_are_legal_and_different(ids: list[str], labels: list[str]) -> None:
    choices = [label for label in labels if label.isprintable() and label]
    if len(choices) < 2 or list(problems(choices, "options")):
        choices = ["a", "b"]
    kinds = ("multi_choice", "choice")
    asked = ({"id": name, "text": "?", "type": kinds[i % 2], "options": choices} for i, name in enumerate(ids))
    assert wrong(names(survey_of(*asked))) == []


@pytest.mark.parametrize("name", ["drugs[x]", "1a", "a__b", "a_", "_a", "in", "str7", "é", "a.b", "a" * 33, ""])
def test_an_illegal_name_is_found(name: str) -> None:
    assert wrong([name]) == [name]
    assert wrong(["a", "A"]) == ["a"]


def test_every_option_has_one_place_and_no_two_have_the_same() -> None:
    for source in (EVERY, ASKED):
        survey = Survey.from_dict(source)
        found = options(variables(survey))
        assert [(one.item.id, one.label) for one in found] == [(item.id, option) for item in survey.items for option in item.recorded]
        assert len({(one.variable, one.code) for one in found}) == len(found)
