"""The codebook says of every channel what the coins do, exactly, and of every column what it is."""

from __future__ import annotations

import csv
import io
import itertools
import json
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from tests.client.bundle.conftest import SURVEYS, Made

from deniable.bundle.codebook import channel, escape_markdown
from deniable.mechanism import Channel, Window


def enumerated(coins: Channel) -> list[list[Fraction]]:
    """The chance of each bit under each answer, over all subsets that the coins can name: from what they do, and no formula of theirs."""
    matrix = []
    for answer in range(coins.k):
        others = [one for one in range(coins.k) if one != answer]
        row = [Fraction(0)] * coins.k
        keep = Fraction(coins.keep_threshold, coins.coin)
        for size, own, chance in ((coins.d - 1, [answer], keep), (coins.d, [], 1 - keep)):
            subsets = list(itertools.combinations(others, size))
            for subset in subsets:
                for one in (*own, *subset):
                    row[one] += chance / len(subsets)
        matrix.append(row)
    return matrix


@pytest.mark.parametrize(("epsilon", "k"), [(math.log(3), 2), (1, 3), (0.5, 7), (2, 9), (0.1, 10)])
def test_a_channels_matrix_is_what_its_coins_do(epsilon: float, k: int) -> None:
    coins = Channel.for_epsilon(epsilon, k)
    told = channel(coins)
    exact = [[Fraction(cell, told["denominator"]) for cell in row] for row in told["matrix"]]
    assert exact == enumerated(coins)
    assert all(sum(row) == coins.d for row in exact)
    assert (told["own"]["probability"], told["other"]["probability"]) == (float(exact[0][0]), float(exact[0][1]))


@pytest.mark.parametrize("apart", [False, True])
def test_a_windows_matrix_is_what_its_coins_do(apart: bool) -> None:
    coins = Window.over_levels(2, 9, 4, apart=apart)
    told = channel(coins)
    assert [[Fraction(cell, told["denominator"]) for cell in row] for row in told["matrix"]] == [list(row) for row in coins.chances]
    assert all(sum(row) == told["denominator"] for row in told["matrix"])
    assert (told["own"]["numerator"], told["other"]["numerator"]) == (told["matrix"][0][0], told["matrix"][0][8])


def test_a_wrong_channel_is_found() -> None:
    coins = Channel.for_epsilon(1, 5)
    assert enumerated(Channel(5, coins.d, coins.keep_threshold - 1)) != enumerated(coins)


def test_many_categories_are_told_by_two_numbers() -> None:
    told = channel(Channel.for_epsilon(1, 400))
    assert told["matrix"] is None
    assert told["own"]["numerator"] + 399 * told["other"]["numerator"] == told["d"] * told["denominator"]


@pytest.mark.slow
@pytest.mark.parametrize("survey", SURVEYS)
def test_every_question_text_option_and_epsilon_is_in_all_three_forms(make: Callable[[str], Made], survey: str) -> None:
    made = make(survey)
    told = json.loads((made.folder / "codebook.json").read_text(encoding="utf-8"))
    markdown = (made.folder / "codebook.md").read_text(encoding="utf-8")
    lines = list(csv.DictReader(io.StringIO((made.folder / "codebook.csv").read_text(encoding="utf-8"), newline="")))
    asked = {question["id"]: question for question in told["questions"]}
    for question in made.survey.questions:
        own = asked[question.id]
        assert (own["text"], own["options"]) == (question.text, list(question.labels or question.categories))
        assert own["epsilon"] == question.epsilon
        assert escape_markdown(question.text) in markdown
        assert (own.get("help", ""), own.get("section")) == (question.help, question.section and question.section.to_dict())
        assert own["show_if"] == (question.show_if and question.show_if.to_dict())
        assert escape_markdown(question.help) in markdown
        assert f"epsilon {question.epsilon:.6f}" in markdown
        for item, one in zip(question.items, own["items"], strict=True):
            assert [recorded["option"] for recorded in one["recorded"]] == list(item.recorded)
            assert one["channel"]["threshold"] == item.keep_threshold
            rows = [line for line in lines if line["question"] == item.id and line["k"]]
            assert [line["option"] for line in rows] == [harmless(option) for option in item.recorded]
            assert {(line["k"], line["d"], line["threshold"]) for line in rows} == {
                tuple(map(str, (len(item.recorded), item.d, item.keep_threshold)))
            }
    names = [one["name"] for one in told["variables"]]
    assert all(f"`{name}`" in markdown for name in names)
    assert (made.folder / "rows.csv").read_text(encoding="ascii").splitlines()[0] == ",".join(names)


def harmless(text: str) -> str:
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text


@pytest.mark.parametrize("name", ["codebook.csv", "estimates.csv", "rows.csv"])
def test_no_cell_of_a_csv_can_be_a_formula_and_every_number_is_one(make: Callable[[str], Made], name: str) -> None:
    lines = list(csv.reader(io.StringIO((make("every").folder / name).read_text(encoding="utf-8"), newline="")))
    dangerous = [cell for line in lines for cell in line if cell.startswith(("=", "+", "-", "@", "\t", "\r")) and not is_number(cell)]
    assert dangerous == []
    apart = [cell for line in lines for cell in line if cell.startswith("'")]
    assert (len(apart) > 0) is (name != "rows.csv")
    if name == "estimates.csv":
        assert any(cell.startswith("-") for line in lines for cell in line), "a negative number stays one"


def is_number(cell: str) -> Any:
    try:
        return float(cell) is not None
    except ValueError:
        return False


def test_text_in_markdown_is_text() -> None:
    assert escape_markdown("a|b\n<b>*x*</b> [l](u) `c` # h") == r"a\|b \<b\>\*x\*\</b\> \[l\](u) \`c\` \# h"


def test_help_sections_and_conditions_are_said_in_words(make: Callable[[str], Made]) -> None:
    markdown = (make("every").folder / "codebook.md").read_text(encoding="utf-8")
    assert "A section begins here: About you: The last." in markdown
    assert r"In \*years\*." in markdown
    assert "Shown to people who answer 30+ to age or bad or good to mood; all others send a randomized “no answer”." in markdown
