"""Records that no coins can produce are refused, alone and among many, as a reader of single bits would."""

from __future__ import annotations

import os
import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable.errors import SubmissionError
from deniable.survey import Survey
from deniable.wire.possible import FEW, check

SIZES = [(2, 2, 2), (9,), (10, 2), (33, 5, 2, 17), (2,) * 24, (300, 3)]
MB = 1 << 20


def survey_of(sizes: tuple[int, ...], ask: int | None = None, chained: bool = False) -> Survey:
    """A question of each number of categories; chained: the second is shown after an answer to the first."""
    asked: list[dict[str, Any]] = [
        {"id": f"q{i}", "text": "?", "type": "choice", "options": [f"o{n}" for n in range(k)], "epsilon": 1} for i, k in enumerate(sizes)
    ]
    if chained:
        asked[1]["show_if"] = {"question": "q0", "is": ["o0"]}
    head = {"deniable": 1, "id": "s", "title": "t", "about": "a", "accept_high_epsilon": True}
    return Survey.from_dict({**head, "questions": asked, **({} if ask is None else {"ask": ask})})


SURVEYS = [*map(survey_of, SIZES), survey_of((2, 9, 2, 4), ask=2), survey_of((2, 9, 2, 4), ask=1, chained=True)]


def broken_rule(survey: Survey, record: bytes) -> str | None:
    """The first rule that a record breaks: a reader of single bits, which shares nothing with the code."""
    bits = "".join(f"{octet:08b}" for octet in record)
    if "1" in bits[survey.record.bits :]:
        return "padding"
    mask = bits[: len(survey.questions)] if survey.ask else "1" * len(survey.questions)
    marks = ["".join(mask[i] for i in block) for block in survey.blocks]
    if survey.ask and (any("1" in mark and "0" in mark for mark in marks) or sum("1" in mark for mark in marks) != survey.ask):
        return "mask"
    at = len(survey.questions) if survey.ask else 0
    for question, was_asked in zip(survey.questions, mask, strict=True):
        ones = bits[at : at + question.k - 1].count("1")
        at += question.k - 1
        if ones not in ((question.d - 1, question.d) if was_asked == "1" else (0,)):
            return "impossible"
    return None


def refusal(survey: Survey, reports: bytes, count: int) -> tuple[str, str] | None:
    try:
        check(survey, reports, count)
    except SubmissionError as error:
        return error.rule, str(error)
    return None


@st.composite
def records(draw: st.DrawFn) -> tuple[Survey, bytes]:
    """A record of some survey that is possible, or nearly."""
    survey = draw(st.sampled_from(SURVEYS))
    drawn = draw(st.sampled_from(range(len(survey.blocks)))) if survey.ask else 0
    asked = [survey.ask is None or any(i in survey.blocks[(drawn + n) % len(survey.blocks)] for n in range(survey.ask)) for i in range(4)]
    bits = [str(int(one)) for one in asked[: len(survey.questions)]] if survey.ask else []
    for number, question in enumerate(survey.questions):
        ones = question.d - draw(st.sampled_from([0, 1])) if survey.ask is None or asked[number] else 0
        mixed = draw(st.permutations("1" * ones + "0" * (question.k - 1 - ones))) if question.k < 40 else "1" * ones + "0" * (299 - ones)
        bits += mixed
    bits += "0" * (survey.record.bytes * 8 - len(bits))
    for place in draw(st.lists(st.integers(0, len(bits) - 1), max_size=2)):
        bits[place] = "10"[int(bits[place])]
    return survey, int("".join(bits), 2).to_bytes(survey.record.bytes)


@pytest.mark.slow
@settings(deadline=None, max_examples=100)
@given(records())
def test_a_record_is_refused_exactly_when_a_reader_of_single_bits_refuses_it(case: tuple[Survey, bytes]) -> None:
    survey, record = case
    told = refusal(survey, record, 1)
    assert (told and told[0]) == broken_rule(survey, record)
    assert told is None or told[1].startswith("record 0")


@pytest.mark.slow
@settings(deadline=None, max_examples=100)
@given(records(), st.integers(0, 3 * FEW - 1))
def test_among_many_a_record_is_refused_as_alone_and_by_its_number(case: tuple[Survey, bytes], place: int) -> None:
    survey, record = case
    alone = refusal(survey, record, 1)
    good = record if alone is None else possible_record(survey)
    many = refusal(survey, good * place + record + good * (3 * FEW - 1 - place), 3 * FEW)
    assert many == (alone and (alone[0], alone[1].replace("record 0", f"record {place}", 1)))


def possible_record(survey: Survey) -> bytes:
    """The one whose every set bit stands as far to the left as it can."""
    blocks = survey.blocks[: survey.ask or len(survey.blocks)]
    asked = [any(i in block for block in blocks) for i in range(len(survey.questions))]
    bits = "".join("1" if one else "0" for one in asked) if survey.ask else ""
    for question, one in zip(survey.questions, asked, strict=True):
        bits += ("1" * question.d if one else "").ljust(question.k - 1, "0")[: question.k - 1]
    return int(bits.ljust(survey.record.bytes * 8, "0"), 2).to_bytes(survey.record.bytes)


@pytest.mark.parametrize("survey", SURVEYS, ids=lambda s: f"{len(s.questions)} questions of {s.record.bits} bits")
def test_every_single_bit_that_is_turned_is_judged_as_by_hand(survey: Survey) -> None:
    good = possible_record(survey)
    assert refusal(survey, good, 1) is None
    for place in range(len(good) * 8):
        turned = (int.from_bytes(good) ^ 1 << place).to_bytes(len(good))
        told = refusal(survey, turned, 1)
        assert (told and told[0]) == broken_rule(survey, turned), place


def test_a_record_far_into_a_large_submission_is_named() -> None:
    survey = survey_of((9, 9))
    good = possible_record(survey)
    reports = bytearray(good * 600_000)
    reports[2 * 599_999] = 0xFF
    assert refusal(survey, bytes(reports), 600_000) == (
        "impossible",
        "record 599999, question q0: exactly 2 of 9 bits must be set, so 1 or 2 of the 8 that are stored",
    )


@pytest.mark.slow
def test_a_large_submission_is_checked_in_little_memory() -> None:
    survey = survey_of((2,) * 2048)
    reports = os.urandom(100_000 * survey.record.bytes)
    tracemalloc.start()
    try:
        check(survey, reports, 100_000)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 8 * MB < len(reports)
    assert np.frombuffer(reports, np.uint8).any()
