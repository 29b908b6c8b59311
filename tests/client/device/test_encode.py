"""From answers to categories. What each spelling means is in `tests/vectors/answers.json`; here is the rest."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deniable
from deniable.device.encode import encode, encode_column
from deniable.errors import AnswerError, DeniableError
from deniable.mechanism import Channel
from deniable.survey.question import Question
from deniable.survey.rules import allowed
from deniable.survey.types import TYPES
from deniable.survey.types.base import QuestionType, printable
from deniable.survey.types.choice import Choice
from deniable.survey.types.yes_no import YesNo


def question(name: str, kind: QuestionType, required: bool = True) -> Question:
    return Question(name, "?", kind, 1.0, Channel.for_epsilon(1.0, len(kind.categories) + (not required)), required)


COLOURS = Choice(("red", "1", "None", "nan", "Ünï", "7.0"))
YES_NO, COLOUR = question("smokes", YesNo()), question("colour", COLOURS)
CANARY = "canary-4711"


@pytest.mark.parametrize("question", [YES_NO, COLOUR], ids=lambda q: q.type)
@pytest.mark.parametrize("answer", [CANARY, [CANARY], {CANARY: CANARY}, CANARY.encode(), (CANARY,), 47114711, -4711.5], ids=repr)
def test_a_refused_answer_is_quoted_nowhere(question: Any, answer: Any) -> None:
    with pytest.raises(AnswerError) as refusal:
        encode(question, answer)
    told = "".join(traceback.format_exception(refusal.value)[-1:]) + repr(refusal.value.__dict__)
    assert refusal.value.__cause__ is None
    assert refusal.value.__context__ is None
    assert "4711" not in told
    assert f"{question.id}: the answer must be one of" in told


def test_pandas_own_mark_of_a_missing_answer_is_none_in_any_column() -> None:
    optional = question("colour", COLOURS, required=False)
    pd = pytest.importorskip("pandas")
    assert encode(optional, pd.NA) == encode(optional, None)
    with pytest.raises(AnswerError):
        encode(COLOUR, pd.NA)


@pytest.mark.parametrize("missing", [None, float("nan"), np.nan, "", " ", [], {}, object()], ids=lambda value: type(value).__name__)
def test_a_missing_answer_is_refused(missing: Any) -> None:
    for question in (YES_NO, COLOUR):
        with pytest.raises(AnswerError):
            encode(question, missing)
        assert encode_column(question, [missing, missing]).tolist() == [-1, -1]


@pytest.mark.parametrize(
    ("answer", "category"),
    [(np.True_, 0), (np.False_, 1), (np.int64(1), 0), (np.int8(0), 1), (1.0, 0), (0.0, 1), (np.float64(1), 0), (np.str_("No"), 1)],
    ids=repr,
)
def test_numbers_and_truths_of_a_data_frame_answer_yes_or_no(answer: Any, category: int) -> None:
    assert encode(YES_NO, answer) == category


@pytest.mark.parametrize(
    ("answer", "category"),
    [(1, 1), (1.0, 1), ("1.0", 1), (np.float64(1), 1), (np.int64(1), 1), (np.uint8(1), 1), (np.str_("red"), 0), ("None", 2), ("nan", 3)],
    ids=repr,
)
def test_an_integer_stands_for_the_option_written_so(answer: Any, category: int) -> None:
    assert encode(COLOUR, answer) == category


@pytest.mark.parametrize("answer", [True, np.True_, 1.5, 0.0, np.float64(8), None, float("nan"), float("inf")], ids=repr)
def test_a_fraction_a_truth_or_nothing_stands_for_no_option(answer: Any) -> None:
    with pytest.raises(AnswerError):
        encode(COLOUR, answer)


def test_a_column_means_what_its_answers_mean_one_by_one() -> None:
    answers = [True, 1, "1", 1.0, "red", " red ", "RED", None, "yes", False, 0, "0", np.int64(1), float("nan"), [], b"yes", 7, "7.0"] * 3
    for question in (YES_NO, COLOUR):
        column = encode_column(question, answers)
        assert column.dtype == np.int64
        assert column.tolist() == [one_by_one(question, answer) for answer in answers]


def one_by_one(question: Any, answer: Any) -> int:
    try:
        return encode(question, answer)
    except DeniableError:
        return -1


def test_an_empty_column_has_no_categories() -> None:
    assert encode_column(YES_NO, []).shape == (0,)


def test_a_message_lists_a_few_of_many_categories() -> None:
    many = question("q", Choice(tuple(f"o{n}" for n in range(1024))))
    assert allowed(many) == "one of o0, o1, o2, o3, o4, o5, o6, o7, … (1,024 in all)"
    eight = question("q", Choice(tuple("abcdefgh")))
    nine = question("q", Choice(tuple("abcdefghi")))
    assert allowed(eight) == "one of a, b, c, d, e, f, g, h"
    assert allowed(nine) == "one of a, b, c, d, e, f, g, h, … (9 in all)"


@pytest.mark.slow
def test_printable_text_has_line_breaks_but_no_other_control_characters() -> None:
    assert printable("a\n\tb é 🙂 \u2028")
    refused = {code for code in range(0x110000) if not printable(chr(code))}
    assert refused == {*range(9), *range(11, 32), *range(127, 160), *range(0xD800, 0xE000)}


def test_the_browser_knows_the_same_types() -> None:
    twin = Path(str(deniable.__file__)).parent / "browser" / "types.mjs"
    registry = twin.read_text(encoding="utf-8").split("export const TYPES = ")[1].split(";")[0]
    assert [name for name in TYPES if f'["{name}",' in registry] == list(TYPES)
    assert registry.count("[") == 1 + len(TYPES)
