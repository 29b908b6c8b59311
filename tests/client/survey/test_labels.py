"""Labels of groups that look like persons, and groups too small, are pointed out before a survey is published."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from deniable.cli import main
from deniable.survey.labels import personal_data_in, warnings

SURVEY = {"deniable": 1, "id": "s", "title": "T", "about": "A", "epsilon": 1, "questions": [{"id": "q", "text": "Q?", "type": "yes_no"}]}


@pytest.mark.parametrize(
    ("label", "kind"),
    [
        *((label, "a name") for label in ("Ada Lovelace", "Lovelace, Ada", "Anna-Maria Müller", "Ludwig van Beethoven", "Conan O'Brien")),
        *((label, "a name") for label in ("Dr. House", "Frau Schmidt", "Ángela Ruiz Robles", "Ada K. Lovelace", "Jean-Luc Picard")),
        *((label, "an e-mail address") for label in ("ada@example.org", "Ada <ada.l@dept.example.org>")),
        *((label, "a person's number") for label in ("0049 170 1234567", "1990-01-02", "4711081", "3f2a91bc", "8f14e45f-ceea-467f-a8d2")),
    ],
)
def test_labels_that_look_like_persons_are_known(label: str, kind: str) -> None:
    assert personal_data_in(label) == kind
    assert list(warnings([label, "North"])) == [f"the group {label} looks like {kind}: labels are public, and sent openly with each record"]


@pytest.mark.parametrize(
    "label",
    [
        *("Clinic A", "North", "South West", "New York", "St. Mary Hospital", "Class 7b", "Ward 12", "Team Blue", "2023/2024", "US", "IT"),
        *("18 to 25", "under 40", "Süd & West", "Sales EMEA", "HR", "a", "Berlin", "control group", "مستشفى الشمال"),
    ],
)
def test_labels_of_places_and_units_are_not(label: str) -> None:
    assert personal_data_in(label) is None
    assert list(warnings([label])) == []


def test_many_bare_numbers_are_pointed_out_together_and_a_few_are_not() -> None:
    assert list(warnings([f"P-{number:03}" for number in range(11)])) == [
        "11 groups are bare numbers: if each is one person's, each record carries the number of its person"
    ]
    assert list(warnings([str(number) for number in range(1, 11)])) == []


def test_more_groups_than_a_tenth_of_the_respondents_are_pointed_out() -> None:
    groups = [f"Clinic {letter}" for letter in "ABCDEFGHIJK"]
    assert list(warnings(groups, 110)) == []
    (found,) = warnings(groups, 109)
    assert found.startswith("11 groups are more than a tenth of 109 respondents: in a group of fewer than 10 people")
    assert list(warnings([], 1)) == []


def check(folder: Path, *words: str, **keys: object) -> str:
    file = folder / "survey.yaml"
    file.write_text(json.dumps({**SURVEY, **keys}), encoding="utf-8")
    result = CliRunner().invoke(main, ["check", str(file), *words])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_check_says_so_and_accepts_the_survey_all_the_same(tmp_path: Path) -> None:
    told = check(tmp_path, "--n", "19", groups=["Ada Lovelace", "Clinic A"])
    assert "warning: the group Ada Lovelace looks like a name: labels are public, and sent openly with each record\n" in told
    assert "warning: 2 groups are more than a tenth of 19 respondents" in told
    assert "warning" not in check(tmp_path, "--n", "20", groups=["Clinic A", "Clinic B"])
    assert json.loads(check(tmp_path, "--json", groups=["Ada Lovelace", "Clinic A"]))["warnings"] == [
        "the group Ada Lovelace looks like a name: labels are public, and sent openly with each record"
    ]
