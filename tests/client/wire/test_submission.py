"""Records and envelopes. The refusals of single bad records and bodies are in `tests/vectors`; here are many at once, and any survey."""

from __future__ import annotations

import base64
import json
import math
import re
import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from deniable.device.entropy import os_words
from deniable.device.randomize import randomize
from deniable.errors import SubmissionError
from deniable.survey import Survey
from deniable.survey.document import strict_json
from deniable.wire.record import pack, unpack
from deniable.wire.submission import MAX_COUNT, Submission


def survey_of(*sizes: int, epsilon: float = 1.0) -> Survey:
    """A survey with one question of each number of categories."""
    options = [[f"o{n}" for n in range(k)] for k in sizes]
    questions = [{"id": f"q{i}", "text": "?", "type": "choice", "options": o, "epsilon": epsilon} for i, o in enumerate(options)]
    return Survey.from_dict({"deniable": 1, "id": "s", "accept_high_epsilon": True, "title": "t", "about": "a", "questions": questions})


def reports(survey: Survey, categories: list[list[int]]) -> list[NDArray[np.bool_]]:
    return [randomize(q.channel, np.array(column), os_words) for q, column in zip(survey.questions, categories, strict=True)]


def without_last(bits: list[NDArray[np.bool_]]) -> NDArray[np.bool_]:
    return np.concatenate([question[:, :-1] for question in bits], axis=1)


@st.composite
def surveys_with_answers(draw: st.DrawFn) -> tuple[Survey, list[list[int]]]:
    sizes = draw(st.lists(st.integers(2, 40), min_size=1, max_size=8))
    survey = survey_of(*sizes, epsilon=draw(st.sampled_from([0.1, 0.5, 1.0, 3.0])))
    count = draw(st.integers(1, 20))
    return survey, [draw(st.lists(st.integers(0, k - 1), min_size=count, max_size=count)) for k in sizes]


@pytest.mark.slow
@settings(deadline=None, max_examples=150)
@given(surveys_with_answers())
def test_what_is_packed_unpacks_to_the_same_bits(case: tuple[Survey, list[list[int]]]) -> None:
    survey, categories = case
    bits = reports(survey, categories)
    count = len(categories[0])
    raw = pack(survey, bits)
    assert np.array_equal(unpack(survey, raw, count), without_last(bits))
    assert len(raw) == count * survey.record.bytes == count * math.ceil(survey.record.bits / 8)


@pytest.mark.slow
@settings(deadline=None, max_examples=150)
@given(surveys_with_answers(), st.data())
def test_whatever_unpacks_is_what_some_report_packs_to(case: tuple[Survey, list[list[int]]], data: st.DataObject) -> None:
    survey, _ = case
    raw = data.draw(st.binary(min_size=survey.record.bytes, max_size=survey.record.bytes))
    try:
        stored = unpack(survey, raw, 1)
    except SubmissionError:
        return
    full, start = [], 0
    for question in survey.questions:
        kept = stored[:, start : start + question.k - 1]
        start += question.k - 1
        full.append(np.column_stack([kept, kept.sum(axis=1) == question.d - 1]))
        assert full[-1].sum() == question.d
    assert pack(survey, full) == raw


@pytest.mark.parametrize("sizes", [(2,), (2, 2, 7), (9,), (10,), (33, 5), (1024,)], ids=str)
def test_a_record_has_one_length_whatever_the_answers(sizes: tuple[int, ...]) -> None:
    survey = survey_of(*sizes)
    last = [k - 1 for k in sizes]
    lengths = {len(pack(survey, reports(survey, [[c] for c in row]))) for row in ([0] * len(sizes), last) for _ in range(50)}
    assert lengths == {math.ceil((sum(sizes) - len(sizes)) / 8)}


def test_a_yes_or_no_is_one_bit_and_the_yes_bit() -> None:
    survey = survey_of(2)
    assert survey.record.bits == 1
    assert pack(survey, [np.array([[True, False], [False, True]])]) == bytes([0b10000000, 0])


def test_bits_fill_bytes_from_the_most_significant_one() -> None:
    survey = survey_of(2, 3, 9)
    bits = [np.array([[True, False]]), np.array([[False, True, False]]), np.zeros((1, 9), dtype=np.bool_)]
    bits[2][0, 0] = True
    assert pack(survey, bits) == bytes([0b10110000, 0])


@pytest.mark.parametrize("size", [-1, 0, 1])
def test_reports_of_another_length_than_count_records_are_refused(size: int) -> None:
    survey = survey_of(2, 3, 9)
    raw = pack(survey, reports(survey, [[0] * 5, [1] * 5, [2] * 5]))
    raw = raw + b"\0" if size == 1 else raw[:-1] if size == -1 else raw
    if size == 0:
        assert unpack(survey, raw, 5).shape == (5, 11)
        return
    with pytest.raises(SubmissionError, match=rf"^reports must be 5 records of 2 bytes, 10 in all, got {len(raw)}$") as refusal:
        unpack(survey, raw, 5)
    assert refusal.value.rule == "length"


def test_padding_that_is_set_is_refused_naming_the_record() -> None:
    survey = survey_of(2, 3)
    raw = bytearray(pack(survey, reports(survey, [[0] * 5, [1] * 5])))
    raw[3] |= 1
    with pytest.raises(SubmissionError, match=r"^record 3: the last 5 bits of a record are padding and must be zero$") as refusal:
        unpack(survey, bytes(raw), 5)
    assert refusal.value.rule == "padding"


def test_bits_that_the_coins_cannot_produce_are_refused_naming_record_and_question() -> None:
    survey = survey_of(2, 9, epsilon=0.5)
    (_, nine) = survey.questions
    assert nine.d == 3
    bits = reports(survey, [[0] * 5, [1] * 5])
    bits[1][2] = [True] * 9
    bits[1][4] = [True] * 9
    message = "record 2, question q1: exactly 3 of 9 bits must be set, so 2 or 3 of the 8 that are stored"
    with pytest.raises(SubmissionError, match=f"^{message}$") as refusal:
        unpack(survey, pack(survey, bits), 5)
    assert refusal.value.rule == "impossible"


@pytest.mark.parametrize("ones", range(9))
def test_only_d_or_one_less_of_the_stored_bits_can_be_set(ones: int) -> None:
    survey = survey_of(9, epsilon=0.5)
    raw = bytes([(1 << ones) - 1])
    if ones in (2, 3):
        assert unpack(survey, raw, 1).sum() == ones
    else:
        with pytest.raises(SubmissionError, match="exactly 3 of 9"):
            unpack(survey, raw, 1)


def test_an_envelope_comes_back_as_it_was_sent() -> None:
    sent = Submission(bytes(range(240, 256)), "ab" * 32, 3, b"\xfb\xff\xfe")
    assert Submission.from_json(sent.to_json()) == sent
    assert sent.to_json() == sent.to_json()
    parsed = json.loads(sent.to_json())
    assert list(parsed) == ["id", "digest", "count", "reports"]
    assert parsed["reports"] == "-__-"
    assert base64.urlsafe_b64decode(parsed["id"] + "==") == sent.id


def test_keys_of_an_envelope_may_come_in_any_order_and_with_spaces() -> None:
    sent = Submission(bytes(16), "0" * 64, 1, b"\x80")
    shuffled = json.dumps(dict(reversed(json.loads(sent.to_json()).items())), indent=2)
    assert Submission.from_json(shuffled.encode()) == sent


@pytest.mark.parametrize(("count", "accepted"), [(1, True), (MAX_COUNT, True), (MAX_COUNT + 1, False), (0, False)])
def test_a_submission_holds_one_to_a_hundred_thousand_records(count: int, accepted: bool) -> None:
    body = Submission(bytes(16), "0" * 64, count, b"").to_json()
    if accepted:
        assert Submission.from_json(body).count == count
    else:
        with pytest.raises(SubmissionError, match="count must be a whole number from 1 to 100,000"):
            Submission.from_json(body)


json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["id", "digest", "count", "reports"]), inner),
)


@pytest.mark.slow
@settings(deadline=None, max_examples=300)
@given(st.one_of(st.binary(max_size=200), st.text(max_size=100).map(str.encode), json_values.map(lambda value: json.dumps(value).encode())))
def test_any_body_is_an_envelope_or_refused_with_a_rule(body: bytes) -> None:
    with pytest.raises(SubmissionError) as refusal:
        Submission.from_json(body)
    assert refusal.value.rule in ("json", "keys", "count", "digest", "id", "reports")


@settings(deadline=None, max_examples=300)
@given(st.data())
def test_each_byte_string_has_one_spelling(data: st.DataObject) -> None:
    good: dict[str, Any] = json.loads(Submission(bytes(16), "0" * 64, 1, data.draw(st.binary(max_size=9))).to_json())
    text = data.draw(st.text(alphabet="ABgw09-_+/= \n", max_size=12))
    try:
        parsed = Submission.from_json(json.dumps({**good, "reports": text}).encode())
    except SubmissionError:
        return
    assert json.loads(parsed.to_json())["reports"] == text


def by_the_letter(body: bytes) -> Submission | str:
    """The same, by the json module and by base64 there and back: what an envelope means, without a thought for memory."""
    try:
        envelope = strict_json(body)
    except (ValueError, RecursionError):
        return "json"
    if not isinstance(envelope, dict) or not {"id", "digest", "count", "reports"} <= set(envelope) <= {*KEYS}:
        return "keys"
    if type(envelope["count"]) is not int or not 1 <= envelope["count"] <= MAX_COUNT:
        return "count"
    if not isinstance(envelope["digest"], str) or not re.fullmatch("[0-9a-f]{64}", envelope["digest"]):
        return "digest"
    for key in ("id", "group", "reports"):
        text = envelope.get(key, "")
        if not isinstance(text, str):
            return key
        if key != "group" and base64.urlsafe_b64encode(spelled(text)).rstrip(b"=").decode() != text:
            return key
        if key == "id" and len(spelled(text)) != 16:
            return key
    return Submission(spelled(envelope["id"]), envelope["digest"], envelope["count"], spelled(envelope["reports"]), envelope.get("group"))


def spelled(text: str) -> bytes:
    try:
        return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except ValueError:
        return b"\0"


GOOD = Submission(bytes(16), "0" * 64, 1, b"\xfb\xff\xfe\x80").to_json()
KEYS = ("id", "digest", "count", "reports", "group")
SPLICES = [b'"reports":"AAAA"', b'"reports"', b'{"reports":"AA"}', b'\\"', b"\\", b'"', b":", b",", b"AAA=", b" ", "é".encode(), b"\\u0041"]


@pytest.mark.slow
@settings(deadline=None, max_examples=400)
@given(st.lists(st.tuples(st.integers(0, len(GOOD) + 40), st.integers(0, 12), st.sampled_from([*SPLICES, b""])), max_size=3), st.data())
def test_an_envelope_means_what_its_json_means(changes: list[tuple[int, int, bytes]], data: st.DataObject) -> None:
    body = (
        GOOD[:-1]
        + data.draw(st.sampled_from([b"", b',"group":"a"', b',"group":{"reports":"AA"}', b',"group":"\\"reports\\":\\"AA\\""']))
        + b"}"
    )
    for place, length, splice in changes:
        body = body[:place] + splice + body[place + length :]
    try:
        found: Submission | str = Submission.from_json(body)
    except SubmissionError as refusal:
        found = refusal.rule
    assert found == by_the_letter(body)


@pytest.mark.slow
def test_a_large_envelope_is_read_in_little_more_memory_than_its_records_take() -> None:
    body = Submission(bytes(16), "0" * 64, 100_000, bytes(100_000 * 64)).to_json()
    tracemalloc.start()
    try:
        read = Submission.from_json(body)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(read.reports) == 6_400_000
    assert peak < 2 * len(read.reports) + (4 << 20)
