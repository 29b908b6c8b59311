"""A survey's results with a handful of reports, of which anything can come out: figures or none, never a failure."""

from __future__ import annotations

import numpy as np
import pytest

from deniable.errors import EstimateError
from deniable.estimate import analyse
from deniable.estimate.tables import conditional_share, cramers_v, odds_ratio, phi_coefficient
from deniable.survey import Survey
from deniable.wire.tally import Tally

SURVEY = {
    "deniable": 1,
    "id": "few",
    "title": "T",
    "about": "A",
    "questions": [
        {"id": "yes", "text": "Q", "type": "yes_no", "required": False},
        {"id": "one", "text": "Q", "type": "choice", "options": list("abcdefg")},
        {"id": "two", "text": "Q", "type": "yes_no"},
        {"id": "step", "text": "Q", "type": "scale", "options": list("abcde"), "required": False},
        {"id": "many", "text": "Q", "type": "multi_choice", "options": list("abc"), "required": False},
        {"id": "size", "text": "Q", "type": "number", "low": -5, "high": 5, "levels": 4},
        {
            "id": "sort",
            "text": "Q",
            "type": "number",
            "low": 0,
            "high": 9,
            "bins": [{"name": "few", "from": 0}, {"name": "more", "from": 4}],
        },
    ],
}


def reports(survey: Survey, n: int, rng: np.random.Generator) -> Tally:
    """Records that every coin can make, whatever the answers: as unlike one another as they can be."""
    bits = []
    for item in survey.items:
        set_bits = np.zeros((n, item.k), dtype=np.bool_)
        for row in set_bits:
            row[rng.choice(item.k, item.d, replace=False)] = True
        bits.append(set_bits[:, :-1])
    return Tally.from_bits(np.hstack(bits))


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [1.0, 7.0, 40.0])
@pytest.mark.parametrize("target", ["population", "respondents"])
def test_every_figure_of_a_results_page_is_there_or_left_out(epsilon: float, target: str) -> None:
    survey = Survey.from_dict({**SURVEY, "epsilon": epsilon} if epsilon <= 10 else with_each(10.0))
    rng = np.random.default_rng(5)
    for n in (1, 2, 3, 4, 7, 12):
        for _ in range(15):
            results = analyse(survey, reports(survey, n, rng), target=target).results
            for row in results.rows:
                assert row.low is not None
                assert row.high is not None
                assert row.low < row.high
            assert all(row.mean is None or (row.low is not None and row.high is not None and row.low < row.high) for row in results.means)


def with_each(epsilon: float) -> dict[str, object]:
    return {**SURVEY, "accept_high_epsilon": True, "questions": [{**question, "epsilon": epsilon} for question in SURVEY["questions"]]}  # type: ignore[attr-defined]


@pytest.mark.slow
def test_what_joins_two_questions_gives_figures_or_a_reason() -> None:
    survey = Survey.from_dict({**SURVEY, "epsilon": 9, "accept_high_epsilon": True})
    rng = np.random.default_rng(6)
    given = 0
    for n in (1, 2, 4, 9, 40):
        for _ in range(25):
            table = analyse(survey, reports(survey, n, rng)).crosstab("two", "sort")
            for figure in (phi_coefficient, cramers_v, odds_ratio, lambda t: conditional_share(t, {"two": "yes"}, among={"sort": "few"})):
                try:
                    found = figure(table)
                except EstimateError:
                    continue
                given += 1
                assert found.low < found.high
    assert given > 20
