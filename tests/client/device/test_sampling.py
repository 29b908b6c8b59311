"""Asking a sample: the device draws blocks of questions, says which, and spends all of epsilon on them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from deniable.device.encode import encode_column
from deniable.device.entropy import os_words
from deniable.device.randomize import randomize
from deniable.device.sampling import draw
from deniable.errors import SubmissionError, SurveyError
from deniable.estimate import crosstab, estimate
from deniable.survey import Survey
from deniable.wire.record import pack, unpack
from deniable.wire.tally import Tally

PEOPLE = 40_000


def survey_of(ask: int | None = 2, **keys: Any) -> Survey:
    questions: list[dict[str, Any]] = [{"id": name, "text": "?", "type": "yes_no"} for name in "abcd"]
    questions[1]["show_if"] = {"question": "a", "is": ["yes"]}
    questions.append({"id": "e", "text": "?", "type": "multi_choice", "options": ["x", "y"]})
    source = {"deniable": 1, "id": "s", "title": "t", "about": "a", "epsilon": 4, "questions": questions, **keys}
    return Survey.from_dict(source if ask is None else {**source, "ask": ask})


def reports_of(survey: Survey, answers: dict[str, list[Any]]) -> bytes:
    n = len(answers["a"])
    categories = [encode_column(item, answers[item.id]) for item in survey.items]
    bits = [randomize(item.channel, column, os_words) for item, column in zip(survey.items, categories, strict=True)]
    return pack(survey, bits, draw(survey, n, os_words))


def some_answers(n: int) -> dict[str, list[Any]]:
    """Three in ten say yes to a, and of these everybody to c; a third of the others too."""
    a = [i % 10 < 3 for i in range(n)]
    c = [yes or i % 3 == 0 for i, yes in enumerate(a)]
    no = [False] * n
    return {"a": a, "b": [None] * n, "c": c, "d": no, "e[x]": no, "e[y]": a}


def test_a_question_and_what_depends_on_it_are_one_block() -> None:
    assert survey_of().blocks == ((0, 1), (2,), (3,), (4,))


def test_each_question_has_an_equal_part_of_epsilon_and_who_is_asked_most_spends_all_of_it() -> None:
    survey = survey_of(2)
    assert [q.declared_epsilon for q in survey.questions] == [4 / 3] * 5
    assert survey.epsilon == pytest.approx(4, abs=1e-8)
    assert survey.epsilon <= 4
    assert survey_of(1).questions[2].declared_epsilon == 2
    assert survey_of(None).questions[2].declared_epsilon == pytest.approx(0.8, abs=1e-15)


def test_a_survey_that_asks_a_sample_is_the_same_after_publishing() -> None:
    survey = survey_of()
    assert Survey.from_definition(survey.definition) == Survey.from_dict(survey.to_dict()) == survey


@pytest.mark.parametrize("ask", [0, 4, 5, -1, 1.5, "x", None, True])
def test_it_must_ask_fewer_blocks_than_there_are(ask: Any) -> None:
    with pytest.raises(SurveyError, match="ask: must be a whole number from 1 to 3"):
        Survey.from_dict({**survey_of().to_dict(), "ask": ask})


def test_every_block_is_drawn_equally_often_and_whole() -> None:
    asked = draw(survey_of(2), PEOPLE, os_words)
    assert asked is not None
    assert (asked[:, 0] == asked[:, 1]).all()
    assert (asked[:, [0, 2, 3, 4]].sum(axis=1) == 2).all()
    assert np.abs(asked.mean(axis=0) - 0.5).max() < 5 * 0.5 / math.sqrt(PEOPLE)
    assert draw(survey_of(None), 5, os_words) is None


def test_estimates_are_of_those_who_were_asked() -> None:
    survey, answers = survey_of(2), some_answers(PEOPLE)
    tally = Tally.from_bits(unpack(survey, reports_of(survey, answers), PEOPLE))
    rows = {(row.question, row.option): row for row in estimate(survey, tally).rows}
    for name in ("a", "c", "d", "e[x]", "e[y]"):
        row, truth = rows[name, "yes"], np.mean(answers[name])
        assert abs(row.n - PEOPLE / 2) < 5 * math.sqrt(PEOPLE / 4)
        assert abs((row.estimate or 0) - truth) < 5 * (row.std_error or 0)
    assert abs((rows["b", "no answer"].estimate or 0) - 1) < 5 * (rows["b", "no answer"].std_error or 0)


def test_cross_tables_are_of_those_who_were_asked_both() -> None:
    survey, answers = survey_of(2), some_answers(PEOPLE)
    table = crosstab(survey, Tally.from_bits(unpack(survey, reports_of(survey, answers), PEOPLE)), "a", "c")
    assert abs(table.n - PEOPLE / 6) < 5 * math.sqrt(PEOPLE * 5 / 36)
    both = np.mean([a and c for a, c in zip(answers["a"], answers["c"], strict=True)])
    cell = table.share({"a": "yes", "c": "yes"})
    assert abs(cell.estimate - both) < 5 * cell.std_error


def test_a_record_says_what_was_asked_and_nothing_of_the_rest() -> None:
    survey = survey_of(1)
    bits = unpack(survey, reports_of(survey, some_answers(1000)), 1000)
    assert bits.shape == (1000, survey.record.bits) == (1000, 5 + 1 + 2 + 1 + 1 + 2)
    for row in bits[:50]:
        asked, rest = row[:5], row[5:]
        inside = np.repeat(asked, [1, 2, 1, 1, 2])
        assert not rest[~inside].any()


@pytest.mark.parametrize(
    ("mask", "rule"),
    [("10000", "mask"), ("11110", "mask"), ("00000", "mask"), ("10100", "mask"), ("00100", "mask"), ("11010", ""), ("00110", "")],
)
def test_a_mask_that_cannot_be_drawn_is_refused(mask: str, rule: str) -> None:
    survey = survey_of(2)
    record = np.packbits([[*(int(bit) for bit in mask), *[0] * 7]]).tobytes()  # no `yes` anywhere, which any coin can say
    if not rule:
        unpack(survey, record, 1)
        return
    with pytest.raises(SubmissionError) as refusal:
        unpack(survey, record, 1)
    assert refusal.value.rule == rule


def test_an_answer_to_what_was_not_asked_is_refused() -> None:
    survey = survey_of(2)
    record = np.packbits([[0, 0, 1, 1, 0, 1, 0, 0, 0, 0, 0, 0]]).tobytes()  # a says yes and was not asked
    with pytest.raises(SubmissionError, match="question a: "):
        unpack(survey, record, 1)
