"""Which questions are shown depends on true answers. What that gives away is at most what a survey states, computed answer by answer."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from deniable.device.branching import apply_skip_logic
from deniable.mechanism import Channel, exp_below
from deniable.survey import Survey

Skipping = Callable[[Survey, NDArray[np.int64]], NDArray[np.int64]]
SCALE = 192
NOBODY = Fraction(10**9)  # stands for a ratio without end


@cache
def chances(channel: Channel) -> dict[tuple[int, ...], tuple[Fraction, ...]]:
    """For each report that the coins can make, as the categories that it names, its chance after each category."""
    own = Fraction(channel.keep_threshold, channel.coin)
    with_own, without = math.comb(channel.k - 1, channel.d - 1), math.comb(channel.k - 1, channel.d)
    return {
        named: tuple(own / with_own if category in named else (1 - own) / without for category in range(channel.k))
        for named in itertools.combinations(range(channel.k), channel.d)
    }


def ratio(channel: Channel, one: int, other: int) -> Fraction:
    """The largest ratio of the chances of a report after two categories."""
    return max(after[one] / after[other] for after in chances(channel).values())


def every_answer(survey: Survey) -> NDArray[np.int64]:
    """All that people can answer, shape (items, people), in categories."""
    of_question = []
    for question in survey.questions:
        whole = itertools.product(range(2), repeat=len(question.items)) if question.labels else ((c,) for c in range(question.k))
        left = [(question.k - 1,) * len(question.items)] if question.labels and not question.required else []
        of_question.append([*whole, *left])
    people = [tuple(itertools.chain.from_iterable(person)) for person in itertools.product(*of_question)]
    return np.array(people, dtype=np.int64).T


def masks(survey: Survey) -> list[tuple[int, ...]]:
    """The questions of each sample that a device can draw; drawn by chance alone, so a mask says nothing by itself."""
    if survey.ask is None:
        return [tuple(range(len(survey.questions)))]
    return [tuple(itertools.chain.from_iterable(drawn)) for drawn in itertools.combinations(survey.blocks, survey.ask)]


def largest_ratio(survey: Survey, skipping: Skipping = apply_skip_logic, open_about_hidden: bool = False) -> Fraction:
    """The largest ratio of the chances of a whole record after the answers of two people, over all people and all records.

    Coins are independent, so the record that tells most is made of the reports that do. open_about_hidden: of a device that tosses no
    coin for what it does not show.
    """
    sent = {tuple(person) for person in skipping(survey, every_answer(survey)).T.tolist()}
    numbers = [number for number, question in enumerate(survey.questions) for _ in question.items]
    most = Fraction(0)
    for mask in masks(survey):
        asked = [place for place, number in enumerate(numbers) if number in mask]
        people = {tuple(person[place] for place in asked) for person in sent}
        for one, other in itertools.product(people, people):
            whole = Fraction(1)
            for place, a, b in zip(asked, one, other, strict=True):
                item = survey.items[place]
                hidden = open_about_hidden and not item.required and (a == item.k - 1) != (b == item.k - 1)
                whole *= NOBODY if hidden else ratio(item.channel, a, b) if a != b else 1
            most = max(most, whole)
    return most


# --- surveys whose every answer can be listed -----------------------------------------------------------------------------


def condition(draw: st.DrawFn, earlier: list[dict[str, Any]]) -> dict[str, Any]:
    asked = draw(st.sampled_from(earlier))
    known = asked.get("options") or [one["name"] for one in asked.get("bins", ())] or ["yes", "no"]
    if "bins" in asked and draw(st.booleans()):
        return {"question": asked["id"], draw(st.sampled_from(["at_least", "below"])): 5}
    options = draw(st.lists(st.sampled_from(known), min_size=1, max_size=2, unique=True))
    if draw(st.integers(0, 2)) == 0:
        return counted(draw, earlier, asked, options)
    return {"question": asked["id"], "is": options}


def counted(draw: st.DrawFn, earlier: list[dict[str, Any]], asked: dict[str, Any], options: list[str]) -> dict[str, Any]:
    """A condition on the sum of scores, if there are any, or on a count."""
    ends = {"at_least": draw(st.integers(-1, 4)), "below": draw(st.integers(5, 7))}
    ends = {key: ends[key] for key in draw(st.sampled_from([["at_least"], ["below"], ["at_least", "below"]]))}
    if scales := [one["id"] for one in earlier if one["type"] == "scale"]:
        return {"score": scales, **ends, **({"below": draw(st.integers(0, 5))} if "at_least" not in ends else {})}
    alike = [one["id"] for one in earlier if one["type"] == asked["type"] and one.get("options") == asked.get("options")]
    return {"count": alike, "is": options, "at_least": draw(st.integers(0, 2))}


def show_if(draw: st.DrawFn, earlier: list[dict[str, Any]]) -> dict[str, Any]:
    shape = draw(st.sampled_from(["one", "list", "lists"]))
    if shape == "one":
        return condition(draw, earlier)
    word, other = draw(st.permutations(["all", "any"]))
    parts: list[dict[str, Any]] = [condition(draw, earlier) for _ in range(draw(st.integers(2, 3)))]
    if shape == "lists":
        parts[0] = {other: [condition(draw, earlier), condition(draw, earlier)]}
    return {word: parts}


KINDS: list[dict[str, Any]] = [
    {"type": "yes_no"},
    {"type": "yes_no", "required": False},
    {"type": "choice", "options": ["a", "b", "c"]},
    {"type": "multi_choice", "options": ["x", "y"]},
    {"type": "scale", "options": ["a", "b"], "scores": [1, 3]},
    {"type": "scale", "options": ["a", "b"], "scores": [-1, 2], "required": False},
    {"type": "number", "low": 0, "high": 9, "bins": [{"name": "few", "from": 0}, {"name": "many", "from": 5}]},
]


@st.composite
def surveys(draw: st.DrawFn) -> Survey:
    questions: list[dict[str, Any]] = []
    for index in range(draw(st.integers(2, 4))):
        one = {"id": f"q{index}", "text": "?", **draw(st.sampled_from(KINDS))}
        if questions and draw(st.integers(0, 3)):
            one = {key: value for key, value in one.items() if key != "required"} | {"show_if": show_if(draw, questions)}
        if draw(st.booleans()):
            one["weight"] = draw(st.sampled_from([0.5, 2]))
        questions.append(one)
    source = {"deniable": 1, "id": "s", "title": "T", "about": "A", "epsilon": draw(st.sampled_from([0.5, 3, "ln 9"]))}
    survey = Survey.from_dict({**source, "questions": questions})
    if len(survey.blocks) > 1 and draw(st.booleans()):
        return Survey.from_dict({**source, "questions": questions, "ask": draw(st.integers(1, len(survey.blocks) - 1))})
    return survey


def of_branches() -> Survey:
    """A question, its follow-up, and one that is shown after either of two answers or both of two others."""
    follow = {"any": [{"question": "b", "is": ["a"]}, {"all": [{"question": "a", "is": ["no"]}, {"question": "n", "at_least": 5}]}]}
    bins = [{"name": "few", "from": 0}, {"name": "many", "from": 5}]
    questions = [
        {"id": "a", "text": "?", "type": "yes_no"},
        {"id": "b", "text": "?", "type": "choice", "options": ["a", "b"], "show_if": {"question": "a", "is": ["yes"]}},
        {"id": "n", "text": "?", "type": "number", "low": 0, "high": 9, "bins": bins},
        {"id": "c", "text": "?", "type": "yes_no", "show_if": follow},
    ]
    return Survey.from_dict({"deniable": 1, "id": "s", "title": "T", "about": "A", "epsilon": 4, "questions": questions})


def test_each_question_is_shown_after_the_answers_that_it_names_and_no_others() -> None:
    """yes: 0, no: 1; a: 0, b: 1, no answer: 2; few: 0, many: 1."""
    survey = of_branches()
    people = {
        (0, 0, 0, 0): (0, 0, 0, 0),
        (0, 1, 1, 0): (0, 1, 1, 2),
        (1, 0, 0, 0): (1, 2, 0, 2),  # `b` is hidden, so what stands there is no answer to it
        (1, 0, 1, 1): (1, 2, 1, 1),
        (-1, 0, 1, 1): (-1, 2, 1, 2),
        (1, -1, -1, 0): (1, -1, -1, 2),
    }
    sent = apply_skip_logic(survey, np.array(list(people)).T)
    assert [tuple(person) for person in sent.T.tolist()] == list(people.values())


def test_a_record_gives_away_exactly_what_is_stated_where_two_people_differ_in_every_question() -> None:
    survey = of_branches()
    assert largest_ratio(survey) == survey.odds
    assert survey.odds <= Fraction(exp_below(4), 1 << SCALE)


@pytest.mark.slow
@settings(max_examples=60, deadline=None, derandomize=True)
@given(surveys())
def test_no_two_people_are_told_apart_better_than_is_stated_whatever_is_shown(survey: Survey) -> None:
    most = largest_ratio(survey)
    assert most <= survey.odds
    every = [item.channel.odds for item in survey.items]
    assert survey.ask or survey.odds == math.prod(every)  # a hidden question costs what an answered one costs
    for block in survey.blocks:  # what a condition looks at is asked wherever its question is
        ids = {survey.questions[number].id for number in block}
        asked = [name for number in block if (own := survey.questions[number].show_if) for name in own.questions]
        assert set(asked) <= ids


def test_the_control_a_device_that_tosses_no_coin_for_hidden_questions_tells_more() -> None:
    assert largest_ratio(of_branches(), open_about_hidden=True) > of_branches().odds


def test_the_control_the_dearest_path_alone_is_less_than_can_be_told() -> None:
    """Who says yes is asked `b` and who says no `c`, so nobody answers more than two; but a record tells both from each other in three."""
    follow = [{"id": i, "text": "?", "type": "yes_no", "show_if": {"question": "a", "is": [o]}} for i, o in (("b", "yes"), ("c", "no"))]
    source = {"deniable": 1, "id": "s", "title": "T", "about": "A", "epsilon": 3}
    survey = Survey.from_dict({**source, "questions": [{"id": "a", "text": "?", "type": "yes_no"}, *follow]})
    dearest = max(math.prod(survey.items[place].channel.odds for place in path) for path in ((0, 1), (0, 2)))
    assert dearest < largest_ratio(survey) == survey.odds


def test_branches_that_exclude_each_other_give_away_less_than_is_stated() -> None:
    """Two of three follow-ups are hidden from anybody, so no pair of people differs in all of them: the sum is an upper bound."""
    follow = [{"id": f"f{o}", "text": "?", "type": "yes_no", "show_if": {"question": "a", "is": [o]}} for o in "xyz"]
    questions = [{"id": "a", "text": "?", "type": "choice", "options": ["x", "y", "z"]}, *follow]
    survey = Survey.from_dict({"deniable": 1, "id": "s", "title": "T", "about": "A", "epsilon": 4, "questions": questions})
    assert largest_ratio(survey) == math.prod(item.channel.odds for item in survey.items[:3]) < survey.odds
