"""A sample is one value: what is wrong with it is told at once, and it fits the survey or is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from deniable.errors import EstimateError
from deniable.estimate.samples.sample import Sample
from deniable.survey import Survey

GROUPS = ("Clinic 1", "Clinic 2", "Clinic 3", "Clinic 4")
REGION = dict(zip(GROUPS, ("north", "north", "south", "south"), strict=True))
SURVEY = Survey.from_dict(
    {
        "deniable": 1,
        "id": "clinics",
        "title": "Clinics",
        "about": "Who asks, and why.",
        "epsilon": 2,
        "groups": list(GROUPS),
        "questions": [
            {"id": "smokes", "text": "?", "type": "yes_no"},
            {"id": "party", "text": "?", "type": "choice", "options": ["a", "b"]},
        ],
    }
)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"clusters": "clinic"}, "clusters must be group or one of the attributes, got 'clinic'"),
        ({"strata": ["group"]}, r"strata must be group or one of the attributes, got \['group'\]"),
        ({"clusters": "group", "strata": "group"}, "strata must be another attribute than clusters"),
        ({"population": {"north": 5}}, "population must be one number where there are no strata"),
        ({"strata": "group", "population": 5}, "population must be a number for each stratum"),
        ({"population": 0}, "population must be whole numbers above 0"),
        ({"population": True}, "population must be whole numbers above 0"),
        ({"margins": {"region": {"north": 0}}}, "margins: the values of region must be finite numbers above 0"),
        ({"margins": {"region": {"north": float("nan")}}}, "margins: the values of region must be finite numbers above 0"),
        ({"margins": [1]}, "margins must be a mapping"),
        ({"margins": {"region": {"north": 0.2, "south": 0.3}}}, "the shares of region must add up to 1, got 0.5"),
        (
            {"margins": {"region": {"north": 1500, "south": 2500}, "kind": {"old": 700, "new": 500}}},
            "the same total in each margin, got 4,000 by region, 1,200 by kind",
        ),
        ({"attributes": {"group": {}}}, "group is each group by itself"),
        ({"scale": 1.0}, "scale must come with replicates"),
        ({"replicates": {"Clinic 1": 1.0}, "scale": 1.0}, "replicates must be a list"),
        ({"replicates": [{"Clinic 1": 1.0}], "scale": 1.0}, "replicates must be at least 2, got 1"),
        ({"replicates": [{"Clinic 1": -1.0}, {"Clinic 1": 1.0}], "scale": 1.0}, "replicates must be finite numbers, none below 0"),
        ({"replicates": [{"Clinic 1": 1.0}] * 2}, "scale must be a number above 0, or one for each"),
        ({"replicates": [{"Clinic 1": 1.0}] * 2, "scale": [1.0]}, "scale must be a number above 0, or one for each"),
        ({"replicates": [{"Clinic 1": 1.0}] * 2, "scale": 1.0, "clusters": "group"}, "leave these out"),
        ({"attributes": {"region": {"Clinic 1": 3}}}, "attributes: the values must be texts"),
        ({"attributes": 3}, "attributes must be a mapping"),
    ],
)
def test_what_breaks_a_rule_is_refused(given: dict[str, Any], told: str) -> None:
    with pytest.raises(EstimateError, match=told):
        Sample(**given)


@pytest.mark.parametrize(
    "margins",
    [
        {"region": {"north": 0.333, "south": 0.333, "west": 0.333}},
        {"region": {"north": 1500, "south": 2500}, "kind": {"old": 0.3, "new": 0.7}},
        {"region": {"north": 1500, "south": 2500}, "kind": {"old": 1000, "new": 2990}},
        {"region": {"north": 30, "south": 70}, "kind": {"old": 45.5, "new": 54.4}},
    ],
    ids=["rounded shares", "numbers and shares", "rounded numbers", "per cent"],
)
def test_shares_and_numbers_that_agree_but_for_rounding_are_margins(margins: dict[str, dict[str, float]]) -> None:
    assert Sample(margins=margins).margins == margins


def test_all_that_is_wrong_is_told_at_once() -> None:
    with pytest.raises(EstimateError) as refused:
        Sample(clusters="clinic", population=-1, margins={"region": {}})
    assert [part.split()[0] for part in str(refused.value).removeprefix("sample: ").split("; ")] == ["clusters", "population", "margins"]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"attributes": {"region": {"Clinic 1": "north"}}}, "region must have a value for each of the groups"),
        ({"margins": {"region": {"north": 1}}}, "'region' is neither an attribute nor a question of survey clinics"),
        ({"margins": {"smokes": {"yes": 1, "no": 2}, "party": {"a": 2, "b": 1}}}, "of one question at most"),
        ({"margins": {"smokes": {"yes": 1}}}, "smokes must have a number for each of no, yes"),
        (
            {"margins": {"region": {"north": 1, "east": 1}}, "attributes": {"region": REGION}},
            "region must have a number for each of north, south",
        ),
        ({"strata": "region", "population": {"north": 9}, "attributes": {"region": REGION}}, "a number for each of north, south"),
        ({"clusters": "region", "strata": "group", "attributes": {"region": REGION}}, "each must lie in one stratum"),
        ({"replicates": [{"Clinic 1": 1.0}] * 2, "scale": 1.0}, "each must have a number for every group, and one above 0"),
    ],
)
def test_what_does_not_fit_the_survey_is_refused(given: dict[str, Any], told: str) -> None:
    with pytest.raises(EstimateError, match=told):
        Sample(**given).check(SURVEY, GROUPS)


def test_a_sample_comes_back_from_its_dictionary() -> None:
    sample = Sample(clusters="group", strata="region", population={"north": 9, "south": 5}, attributes={"region": REGION})
    assert Sample.from_dict(json.loads(json.dumps(sample.to_dict()))) == sample
    assert Sample.from_text(json.dumps(sample.to_dict())) == sample
    for wrong in ("a: [", "clusters: group\nclusters: group", "strata: !!python/object x"):
        with pytest.raises(EstimateError, match="YAML or JSON"):
            Sample.from_text(wrong)
    with pytest.raises(EstimateError, match="none but the keys clusters, strata, population, margins, attributes"):
        Sample.from_dict({"cluster": "group"})
