"""What published tables and rows give away about one person: never less than they do, and more than a sum of what is known."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from dataclasses import replace
from typing import Any

import pytest

from deniable.privacy import published, question_shuffling_bound, shuffling_bound
from deniable.survey import Survey


def survey_of(*kinds: dict[str, object], **settings: object) -> Survey:
    questions = [{"id": f"q{i}", "text": "?", **kind} for i, kind in enumerate(kinds)]
    return Survey.from_dict({"deniable": 1, "id": "s", "title": "T", "about": "A", "epsilon": 1.0, "questions": questions, **settings})


YES_NO: dict[str, object] = {"type": "yes_no"}
TWO = survey_of(YES_NO, YES_NO)


def worst_delta(survey: Survey, n: int, epsilon: float) -> float:
    """What the counts of yes to each of two questions give away, by enumeration of all answers of n people and all reports."""
    theta = float(survey.items[0].channel.theta)
    person = list(itertools.product((0, 1), repeat=2))

    def counts(people: tuple[tuple[int, ...], ...]) -> dict[tuple[int, int], float]:
        table = {(0, 0): 1.0}
        for answers in people:
            grown: dict[tuple[int, int], float] = defaultdict(float)
            for (a, b), chance in table.items():
                for x, y in person:
                    both = [theta if bit == answer else 1 - theta for bit, answer in zip((x, y), answers, strict=True)]
                    grown[a + x, b + y] += chance * math.prod(both)
            table = grown
        return table

    worst = 0.0
    for others in itertools.combinations_with_replacement(person, n - 1):
        tables = [counts((own, *others)) for own in person]
        for p, q in itertools.permutations(tables, 2):
            worst = max(worst, sum(max(0.0, p[key] - math.exp(epsilon) * q[key]) for key in p))
    return worst


def test_tables_of_two_questions_give_away_no_more_than_is_said_by_enumeration() -> None:
    """At n = 5 and a delta of one in ten, which `published` would not promise anybody. Control: one question's bound for both fails."""
    one = question_shuffling_bound(TWO.items[0].channel, 5, 0.05)
    assert one < TWO.items[0].epsilon
    assert worst_delta(TWO, 5, 2 * one) <= 0.1
    assert worst_delta(TWO, 5, 0.5 * one) > 0.1


def test_tables_give_away_less_than_rows_and_rows_less_than_a_record() -> None:
    found = published(TWO, 1_000)
    assert found.tables == pytest.approx(2 * question_shuffling_bound(TWO.items[0].channel, 1_000, 0.5e-6))
    assert found.rows == shuffling_bound(TWO.epsilon, 1_000)
    assert found.tables < found.rows < found.record == TWO.epsilon


def test_a_few_reports_hide_nobody_and_the_words_say_so() -> None:
    found = published(survey_of(YES_NO, epsilon=8), 1)
    assert found.tables == pytest.approx(found.record)
    assert found.tables <= found.rows <= found.record
    assert "no smaller bound is known" in replace(found, rows=found.record).words
    with pytest.raises(ValueError, match="n must be"):
        published(TWO, 0)


@pytest.mark.slow
def test_where_a_sample_of_questions_is_asked_those_that_give_away_most_add() -> None:
    every = [YES_NO, {"type": "choice", "options": list("abc")}, YES_NO]
    asked = published(survey_of(*every, ask=1), 500)
    all_alike = published(survey_of(YES_NO), 500)
    assert asked.tables < 1.2 * all_alike.tables, "one question's, at a third of delta"
    assert published(survey_of(*every), 500).record == pytest.approx(asked.record)


def test_a_promise_that_would_fail_for_somebody_is_not_made() -> None:
    assert published(TWO, 20_000).delta * 20_000 <= 0.01
    assert published(TWO, 10).delta == 1e-6


def test_the_words_have_both_bounds_rounded_up_and_who_they_are_about() -> None:
    found = published(TWO, 1_000)
    for bound in (found.tables, found.rows):
        said = math.ceil(1000 * bound) / 1000
        assert said >= bound
        assert f"epsilon = {said:.3f}" in found.words
    assert "1,000 reports" in found.words


@pytest.mark.parametrize("known", [1, 500, 999])
def test_reports_that_a_reader_knows_hide_nobody(known: int) -> None:
    found, fewer = published(TWO, 1_000, known), published(TWO, 1_000 - known)
    assert (found.tables, found.rows) == (fewer.tables, fewer.rows)
    assert published(TWO, 1_000).rows <= found.rows
    assert f"at most {known} of the other reports" in replace(found, tables=0.1).words


def test_who_sent_all_other_reports_sees_the_record_as_it_was_sent() -> None:
    found = published(TWO, 1_000, 999)
    assert found.tables == pytest.approx(found.record, abs=1e-5)
    assert found.rows == pytest.approx(found.record, abs=1e-5)


def test_the_words_say_that_the_reader_sent_none_and_whether_anybody_can_say_so() -> None:
    words = published(TWO, 1_000).words
    assert words.count("sent and knows none of the other reports, learns") == 2
    assert "Anyone may answer this survey" in words
    invited = Survey.from_dict({**TWO.to_dict(), "access": "invited"})
    assert "Anyone may answer" not in published(invited, 1_000).words


@pytest.mark.parametrize("known", [-1, 1_000, 1.5, True])
def test_the_reports_that_a_reader_knows_are_fewer_than_all(known: Any) -> None:
    with pytest.raises(ValueError, match="known_reports must be a whole number from 0 to n - 1"):
        published(TWO, 1_000, known)
