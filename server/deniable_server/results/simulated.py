"""Simulated answers: the results of a survey before its records are released, and the records of trials.

The people are simulated and their shares invented; questions, coins and formulas are the survey's own. So the figures are as precise
as the real ones will be.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from deniable.errors import EstimateError
from deniable.estimate import Results, analyse
from deniable.estimate.limits.interval import Interval
from deniable.simulate import Shares, simulate
from deniable.survey import Survey
from deniable.survey.question import Question
from deniable.wire.access_codes import ID_BYTES
from deniable.wire.submission import Submission
from deniable.wire.tally import Tally
from deniable_server.results.result_cache import compute_once
from deniable_server.results.results import interval_of

ItemShares = Mapping[str, Shares]
"""The shares of the answers to each item, by its id."""
MOST = 20_000  # simulated people
WIDEST = 512  # bits of a record
_ALONE = 0.1  # the part of people who choose an exclusive option


def simulated_results(survey: Survey, n: int, options: Mapping[str, str]) -> Results | None:
    """Returns the results of simulated people, the same for the same number; None for a survey that is too wide.

    Args:
        survey: The survey.
        n: How many people, at least 1; no more than MOST are simulated.
        options: confidence, method and target, as in `results_of`.

    Raises:
        EstimateError: An option is invalid.
    """
    if survey.record.bits > WIDEST:
        return None
    interval = interval_of(options)
    people = min(n, MOST)
    return compute_once(("simulated results", survey.digest, people, interval), lambda: _results(survey, people, interval))


def _results(survey: Survey, n: int, interval: Interval) -> Results:
    tally = _tally(survey.definition, n)
    results = analyse(survey, tally, confidence=interval.confidence, method=interval.method, target=interval.target).results
    return replace(results, made_up=None)


def simulated_submissions(survey: Survey, people: Sequence[tuple[int, ItemShares]]) -> list[Submission]:
    """Returns the records of simulated people, each kind of people and each group in one submission.

    The people of each kind are spread evenly over the survey's groups.

    Args:
        survey: The survey, open to all.
        people: For each kind of people, how many they are, and the shares of the answers by item; `uniform` for items without.

    Raises:
        EstimateError: No people can have these shares, there are more people than MOST, or the survey is too wide.
    """
    if survey.record.bits > WIDEST:
        raise EstimateError(f"a survey must have at most {WIDEST:,} bits to be simulated, got {survey.record.bits:,}")
    if not 1 <= (n := sum(number for number, _ in people)) <= MOST:
        raise EstimateError(f"the number of simulated people must be from 1 to {MOST:,}, got {n:,}")
    submissions = []
    for number, shares in people:
        truth = {**uniform(survey), **shares}
        for index, group in enumerate(survey.groups or [None]):
            count = len(range(index, number, max(1, len(survey.groups))))
            if count:
                reports = simulate(survey, truth, count).reports
                submissions.append(Submission(secrets.token_bytes(ID_BYTES), survey.digest, count, reports, group))
    return submissions


def uniform(survey: Survey) -> dict[str, Shares]:
    """Returns equal shares for each item's options; of a multiple choice, as in the preview, which its rules allow."""
    return {
        item.id: shares if question.labels else np.full(item.k, 1 / item.k)
        for question in survey.questions
        for item, shares in _shares(question)
    }


@lru_cache(maxsize=32)  # so that reloading the page shows the same figures
def _tally(definition: bytes, n: int) -> Tally:
    survey = Survey.from_definition(definition)
    return simulate(survey, {item.id: shares for question in survey.questions for item, shares in _shares(question)}, n).tally


def _shares(question: Question) -> list[tuple[Question, Shares]]:
    """Returns invented shares for each item of a question: the first options are the most frequent."""
    if question.labels:
        return [(item, _chosen(question, label)) for item, label in zip(question.items, question.labels, strict=True)]
    weights = 1 / np.arange(2, question.k + 2)
    return [(question, weights / weights.sum())]


def _chosen(question: Question, label: str) -> dict[str, float]:
    """Returns the shares of one option of a multiple choice: possible together with all others, within its rules."""
    exclusive, others = len(question.exclusive), len(question.labels) - len(question.exclusive)
    yes = _ALONE / exclusive if label in question.exclusive else min(0.9, max(0.3, 0.95 / others))
    if question.limits and label not in question.exclusive:
        least, most = ((1 - _ALONE * (exclusive > 0)) * limit / others for limit in question.limits)
        yes = yes if least <= yes <= most else (least + most) / 2
    return {"yes": yes, "no": 1 - yes}
