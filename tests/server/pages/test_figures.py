"""Figures as researchers read them."""

from __future__ import annotations

import pytest

from deniable.estimate import MeanRow
from deniable.plan import private
from deniable.plan.precision import normal_half_width
from deniable.survey import Survey
from deniable_server.pages import figures
from deniable_server.pages.figures import Figure, Unit

YES_NO = {"id": "q", "text": "?", "type": "yes_no"}


def survey(epsilon: object = "ln 3", questions: int = 1, **keys: object) -> Survey:
    items = [{**YES_NO, "id": f"q{i}"} for i in range(questions)]
    return Survey.from_dict({"deniable": 1, "id": "s", "title": "t", "about": "a", "epsilon": epsilon, "questions": items, **keys})


def test_levels_are_written_with_the_digits_that_tell_them_apart() -> None:
    number = {"id": "q", "text": "?", "type": "number", "low": -20_000, "high": 1_000_000, "levels": 40}
    (income,) = Survey.from_dict({"deniable": 1, "id": "s", "title": "t", "about": "a", "epsilon": 1, "questions": [number]}).questions
    names = figures.level_names(income)
    assert [*names.values()][:3] == ["−20,000", "6,154", "32,308"]
    assert [*names] == [*income.categories[:40]]
    assert figures.level_names(survey().questions[0]) == {}


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.2736, "27.4%"), (-0.5, "−50.0%"), (12.3456, "1,234.6%"), (-0.0004, "0.0%"), (0.0, "0.0%"), (1.0, "100.0%"), (None, "–")],
)
def test_a_share_is_written_as_english_writes_it_and_zero_has_no_sign(share: float | None, text: str) -> None:
    assert figures.percent(share) == text


@pytest.mark.parametrize(
    ("difference", "texts"),
    [
        ((0.017, -0.0771, 0.112), ("+1.7", "−7.7 to +11.2")),
        ((-0.0004, -0.05, 0.05), ("0.0", "−5.0 to +5.0")),
        ((0.03, 0.0002, 0.06), ("+3.00", "+0.02 to +6.00")),  # a limit that is not 0 never reads as 0: "differs" stands above it
        ((-0.03, -0.06, -0.00031), ("−3.00", "−6.00 to −0.03")),
        ((0.0, 0.0, 0.0), ("0.0", "0.0 to 0.0")),
        ((0.01, 1e-12, 0.02), ("+1.00000", "0.00000 to +2.00000")),
    ],
)
def test_a_difference_has_its_sign_and_its_limits_are_told_from_0(difference: tuple[float, float, float], texts: tuple[str, str]) -> None:
    text = figures.text(Figure(*difference, Unit.POINTS))
    assert (text.value, text.interval) == texts


@pytest.mark.parametrize(
    ("row", "texts"),
    [
        ((7.0912, 6.872, 7.31), ("7.1", "6.9", "7.3")),
        ((7.0912, 6.961, 7.221), ("7.09", "6.96", "7.22")),  # half the interval begins with a 1: two digits of it
        ((3.5512, 3.5501, 3.5523), ("3.5512", "3.5501", "3.5523")),
        ((193837.2, 164819.0, 222855.4), ("193,837", "164,819", "222,855")),
        ((-9.86, -10.24, -10.0), ("−9.86", "−10.24", "−10.00")),
        ((-0.004, -0.3, 0.3), ("0.0", "−0.3", "0.3")),
        ((2.0, 2.0, 2.0), ("2.00", "2.00", "2.00")),
    ],
)
def test_a_mean_has_the_digits_that_its_interval_bears_out(row: tuple[float, float, float], texts: tuple[str, str, str]) -> None:
    mean, low, high = row
    figure = figures.of_mean(MeanRow("q", 10, mean, 0.1, low, high, 1.0, 0.95, "population", -1e6, 1e6))
    assert figures.text(figure) == texts


@pytest.mark.parametrize(
    ("value", "text"),
    [(1.118, "1.12"), (-0.5, "−0.50"), (1e-9, "0.00"), (3932.4, "3,932"), (3.9e6, "over 1,000,000"), (float("inf"), "over 1,000,000"),
     (-2e6, "under −1,000,000")],
)  # fmt: skip
def test_a_coefficient_has_no_more_digits_than_anybody_reads(value: float, text: str) -> None:
    assert figures.coefficient(value) == text


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("2,060 respondents · log-likelihood -4,902.89", "2,060 respondents · log-likelihood −4,902.89"),
        ("-20,000 – 1,000", "−20,000 – 1,000"),
        ("from 2026-12-03, age-group, x -1", "from 2026-12-03, age-group, x −1"),
    ],
)
def test_a_line_of_the_librarys_has_minus_signs_in_front_of_numbers_alone(line: str, shown: str) -> None:
    assert figures.minus_signs(line) == shown


def test_a_privacy_budget_has_no_digits_that_say_nothing() -> None:
    assert [figures.epsilon(value) for value in (8.0, 2.4, 1.0986123, 0.0004)] == ["8", "2.4", "1.099", "0.0004"]


def test_a_mean_that_does_not_exist_is_a_dash() -> None:
    figure = figures.of_mean(MeanRow("q", 0, None, None, None, None, 1.0, 0.95, "population", 0.0, 1.0))
    assert figure is None
    assert (figures.text(figure).value, figures.text(figure).interval) == ("–", "–")


@pytest.mark.parametrize(
    ("low", "high", "words"), [(0.1, 0.5, "0.1 to 0.5"), (-0.5, -0.1, "0.1 to 0.5"), (-6.0, -0.0003, "0.0003 to 6.0000")]
)
def test_a_rise_and_a_fall_have_their_size_without_signs(low: float, high: float, words: str) -> None:
    assert figures.size(Figure((low + high) / 2, low, high, Unit.SCORE_DIFFERENCE)) == words


def test_a_share_a_mean_and_a_coefficient_have_their_own_units() -> None:
    texts = [figures.text(Figure(0.2736, -0.0102, 0.35, unit)) for unit in (Unit.SHARE, Unit.SCORE, Unit.COEFFICIENT)]
    assert [text.value for text in texts] == ["27.4%", "0.27", "0.27"]
    assert [text.interval for text in texts] == ["−1.0 to 35.0%", "−0.01 to 0.35", "−0.01 to 0.35"]


@pytest.mark.parametrize(
    ("value", "step", "text"),
    [
        (14, 1e-9, "14"),
        (-20000, 1e-9, "−20,000"),
        (9 / 13, 1 / 39, "0.692"),
        (-17.5, 2.5, "−17.5"),
        (100, 25, "100"),
        (0.0, 0.1, "0"),
        (1e9, 1e-9, "1,000,000,000"),
    ],
)
def test_a_level_has_the_digits_that_tell_it_from_its_neighbours(value: float, step: float, text: str) -> None:
    assert figures.plain(value, step) == text


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.2689, "27 of 100 people"),
        (0.25, "25 of 100 people"),
        (0.004, "4 of 1,000 people"),
        (4.5e-5, "4 of 100,000 people"),
        (0.0, "0 of 100 people"),
        (0.9999, "9,999 of 10,000 people"),
    ],
)
def test_a_chance_is_told_as_people_and_never_as_nobody_where_it_is_not(share: float, text: str) -> None:
    assert figures.of_people(share) == text


def test_chances_that_differ_are_told_from_the_least_to_the_most() -> None:
    assert figures.chance_words([0.25, 0.251]) == "25 of 100 people"
    assert figures.chance_words([0.25, 0.004, 0.09]) == "Between 4 of 1,000 and 25 of 100 people"


@pytest.mark.parametrize("epsilon", ["ln 3", 0.3, 5])
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_as_many_people_are_needed_as_make_ten_points_either_way(epsilon: object, confidence: float) -> None:
    asked = survey(epsilon)
    needed, design = figures.needed(asked, confidence), private(asked.items[0].channel)
    assert normal_half_width(design, needed, confidence=confidence) <= 0.10
    assert normal_half_width(design, needed - 1, confidence=confidence) > 0.10


def test_of_more_people_than_anybody_looks_at_that_is_said() -> None:
    assert figures.needed(survey(0.000002), 0.95) is None
    assert figures.about(None) == "more than 1,000,000,000,000"
    assert figures.about(4_000) == "about 4,000"


def test_where_everybody_is_asked_a_part_of_the_questions_more_people_are_needed() -> None:
    everything, sample = survey("ln 9", 2), survey("ln 3", 2, ask=1)
    assert everything.items[0].channel == sample.items[0].channel
    assert figures.needed(sample, 0.95) == 2 * figures.needed(everything, 0.95)


def test_the_question_that_needs_most_decides() -> None:
    questions = [{**YES_NO, "id": "a", "epsilon": 3}, {**YES_NO, "id": "b", "epsilon": 0.5}]

    def of(*asked: dict[str, object]) -> int:
        return figures.needed(Survey.from_dict({"deniable": 1, "id": "s", "title": "t", "about": "a", "questions": list(asked)}), 0.95)

    assert of(*questions) == of(*reversed(questions)) == of(questions[1]) > of(questions[0])


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (0.182, 0.268, "between 18 and 27 of 100"),
        (0.0, 0.004, "between 0 and 1 of 100"),
        (0.996, 1.0, "between 99 and 100 of 100"),
        (0.29, 0.29, "between 29 and 29 of 100"),  # 100 * 0.29 is 28.999999999999996
    ],
)
def test_people_of_a_hundred_are_rounded_outwards_so_that_the_sentence_is_no_surer_than_its_interval(
    low: float, high: float, words: str
) -> None:
    assert figures.in_words(Figure(low, low, high, Unit.SHARE)) == words
