"""Every test that is printed: its p-value follows from what stands beside it, or the sentence says what it is by."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from deniable.estimate import Analysis, HypothesisTest, Sample, analyse, difference
from deniable.estimate.checks import known_prevalence
from deniable.estimate.indirect import list_experiment
from deniable.estimate.tables import compare_groups, independence
from deniable.survey import Survey

GROUPS = [f"C{number}" for number in range(9)]
SURVEY = Survey.from_dict(
    {
        "deniable": 1,
        "id": "tests",
        "title": "T",
        "about": "A test.",
        "epsilon": 8,
        "groups": GROUPS,
        "questions": [
            {"id": "y", "text": "?", "type": "yes_no"},
            {"id": "s", "text": "?", "type": "scale", "options": ["low", "middle", "high"]},
        ],
    }
)
CLUSTERS = Sample(clusters="group")


@cache
def reports(n: int, seed: int, rare: float = 0.3) -> Any:
    """The bits of n people: y by chance, s a little with y."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) > rare).astype(int)
    s = np.where(rng.random(n) < 0.2, y, rng.choice(3, n, p=[1 - rare, rare / 2, rare / 2]))
    parts = []
    for item, answers in zip(SURVEY.items, (y, s), strict=True):
        kept = rng.random(n) < float(item.channel.theta)
        parts.append(np.eye(item.k, dtype=bool)[np.where(kept, answers, (answers + rng.integers(1, item.k, n)) % item.k)][:, :-1])
    return np.hstack(parts)


def people(n: int = 300, seed: int = 1, rare: float = 0.3) -> Analysis:
    return analyse(SURVEY, reports(n, seed, rare))


def sample(seed: int = 1, groups: tuple[str, ...] = tuple(GROUPS)) -> Analysis:
    tallies = {group: people(60, 10 * seed + number).tally for number, group in enumerate(groups)}
    return analyse(SURVEY, tallies, sample=CLUSTERS)


def model() -> Any:
    data = pd.DataFrame({"group": np.repeat(GROUPS, 50)})
    return people(450, 3).regress("y ~ s", data, clusters="group").wald_test("s")


TESTS: dict[str, Callable[[], HypothesisTest]] = {
    "a mean": lambda: people().mean("s").test(0.5),
    "a cell": lambda: people().crosstab("y", "s").share({"y": "yes", "s": "low"}).test(0.2),
    "a difference": lambda: difference(people().results["y", "yes"], people(seed=2).results["y", "yes"]).test(),
    "two questions": lambda: people().between("y", "yes", "s", "low").test(),
    "two groups of two options": lambda: people().compare(people(seed=2), "y").test,
    "two groups of three options": lambda: people().compare(people(seed=2), "s").test,
    "two small groups": lambda: people(30, rare=0.05).compare(people(25, 2, 0.05), "s").test,
    "all groups": lambda: compare_groups(SURVEY, {"A": people().tally, "B": people(seed=2).tally}, "s").test or pytest.fail("no test"),
    "independence": lambda: independence(people(3000).crosstab("y", "s")),
    "independence of few": lambda: independence(people(60, rare=0.05).crosstab("y", "s")),
    "independence in clusters": lambda: independence(sample().crosstab("y", "s")),
    "independence of people drawn alone": lambda: independence(
        analyse(SURVEY, {"C0": people().tally, "C1": people(seed=2).tally}, sample=Sample(strata="group")).crosstab("y", "s")
    ),
    "two samples": lambda: sample(1, tuple(GROUPS[:5])).compare(sample(2, tuple(GROUPS[5:])), "s").test,
    "a share in clusters": lambda: sample().mean("s").test(1.0),
    "a known share": lambda: known_prevalence(SURVEY, people(12).tally, "y", "yes", 0.4),
    "a list experiment": lambda: list_experiment([20, 30, 40, 10], [25, 18, 30, 20, 7]).tests[0],
    "coefficients in clusters": model,
}
SENTENCE = re.compile(r": chi-squared (?P<statistic>\S+) with (?P<df>\d+) df, p (?P<p>(?:< )?[\d.e-]+)(?: by (?P<by>[^;]+))?(?:;|$)")
BY: list[tuple[str, Callable[..., float]]] = [
    (r"t (\S+) with (\S+) df", lambda t, df: float(2 * stats.t.sf(t, df))),
    (r"F (\S+) with (\S+) and (\S+) df", lambda f, first, second: float(stats.f.sf(f, first, second))),
    (r"chi-squared (\S+) with (\S+) df", lambda value, df: float(stats.chi2.sf(value, df))),
]
NAMED = ("999 resamples", "the exact binomial distribution", "the lower tail of the normal distribution times")


def follows(p: str, by: str, statistic: str, df: str) -> bool:
    """Whether a printed p-value is that of the printed figures, as far as their digits go; or has a reference that is none of these."""
    if by.startswith(NAMED):
        return True
    for form, chance in [*BY, (r"", lambda: float(stats.chi2.sf(float(statistic), int(df))))]:
        if found := re.fullmatch(form, by):
            expected = chance(*map(float, found.groups()))
            return expected < 1.2e-4 if p.startswith("<") else abs(float(p) - expected) <= 0.02 * expected + 2e-4
    return False


@pytest.mark.parametrize("name", TESTS)
def test_a_printed_p_value_follows_from_what_stands_beside_it_or_says_what_it_is_by(name: str) -> None:
    test = TESTS[name]()
    found = SENTENCE.search(str(test))
    assert found, str(test)
    assert follows(found["p"], found["by"] or "", found["statistic"], found["df"]), str(test)
    assert (found["by"] or "") == test.reference


@pytest.mark.parametrize("name", TESTS)
def test_every_other_form_of_a_test_says_it_too(name: str) -> None:
    test = TESTS[name]()
    by = test.reference or "chi-squared"
    assert by in test.to_table()
    assert by.replace("'", "&#x27;") in test._repr_html_()
    assert test.to_dict()["test"][0]["reference"] == test.reference
    assert test.reference in test.to_csv()


def test_a_sentence_that_contradicts_itself_is_found() -> None:
    for statistic, p, by in (("7.389", "0.238", ""), ("3.3e-31", "0.534", ""), ("1.88", "0.179", ""), ("1.88", "0.18", "t 5 with 59 df")):
        assert not follows(p, by, statistic, "1" if by or statistic != "3.3e-31" else "4")


def test_each_kind_of_reference_is_among_the_tests() -> None:
    references = [TESTS[name]().reference for name in TESTS]
    assert "" in references
    assert all(any(re.fullmatch(form, by) for by in references) for form, _ in BY)
    assert all(any(by.startswith(name) for by in references) for name in NAMED)
