"""The Python code gives what the vectors say. `tests/browser/test_vectors.py` runs the same files in Chromium."""

from __future__ import annotations

import base64
import hashlib
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from deniable.device.branching import apply_skip_logic
from deniable.device.encode import encode
from deniable.device.entropy import os_words
from deniable.device.items import each_answer
from deniable.device.perturb import perturb_one
from deniable.device.randomize import randomize
from deniable.device.sources import as_rows
from deniable.device.tables import batches
from deniable.errors import AnswerError, RefusedError, SubmissionError
from deniable.mechanism import Channel, Window
from deniable.privacy.posterior import odds_of_sum, people, posterior_bound
from deniable.survey import Survey
from deniable.survey.layout import Layout
from deniable.survey.piping import pipe_problem, without_answers
from deniable.survey.types import TYPES
from deniable.wire import access_codes
from deniable.wire.public import Public
from deniable.wire.record import pack, unpack
from deniable.wire.six_words import WORDS, six_words
from deniable.wire.submission import Submission, _decode64
from deniable.wire.tokens import Token

FOLDER = Path(__file__).parents[1] / "vectors"
SHARED = (
    "thresholds",
    "coins",
    "packing",
    "bad_records",
    "definitions",
    "answers",
    "submissions",
    "codes",
    "six_words",
    "bounds",
    "exclusive",
)
WINDOWS = ("windows", "window_definitions", "window_submissions")
DEVICE = ("orders", "pipes", "device_definitions", "device_submissions", "question_orders")
Vectors = Callable[[str], list[dict[str, Any]]]


class Stream:
    """A source of words that gives those of a vector, and is then empty."""

    def __init__(self, words: list[int]) -> None:
        self.left = words

    def __call__(self, count: int) -> NDArray[np.uint32]:
        given, self.left = self.left[:count], self.left[count:]
        assert len(given) == count, "asked for more words than the vector has"
        return np.array(given, dtype=np.uint32)


def shaped(questions: list[list[int]]) -> Any:
    """The part of a survey that packing needs."""
    items = [SimpleNamespace(id=f"q{i}", channel=Channel(k, d, 1)) for i, (k, d) in enumerate(questions)]
    for item in items:
        item.items = [item]
    questions: Any = items
    return SimpleNamespace(items=items, questions=items, ask=None, record=Layout.of(questions, masked=False))


def test_there_are_a_thousand_vectors_and_fifty_bad_ones(vectors: Vectors) -> None:
    shared = [vector for name in SHARED for vector in vectors(name)]
    bad = [v for v in shared if "rule" in v or v.get("accepted") is False or None in (v.get("category", 0), v.get("secret", 0))]
    print(f"{len(shared)} vectors run in both languages, {len(bad)} of them bad; {len(vectors('bad_envelopes'))} bad ones for servers")
    assert len(shared) >= 1000
    assert len(bad) >= 50


def test_there_are_a_thousand_vectors_of_windows(vectors: Vectors) -> None:
    assert sum(len(vectors(name)) for name in WINDOWS) >= 1000


@pytest.mark.slow
def test_the_vectors_are_what_their_scripts_write(tmp_path: Path) -> None:
    subprocess.run([sys.executable, FOLDER / "make_twin_vectors.py", tmp_path], check=True)
    for script in ("make_window_vectors", "make_grid_vectors", "make_device_vectors"):
        subprocess.run([sys.executable, "-m", f"tests.vectors.{script}", tmp_path], check=True, cwd=FOLDER.parents[1])
    for made in tmp_path.iterdir():
        assert made.read_bytes() == (FOLDER / made.name).read_bytes(), made.name
    assert {made.stem for made in tmp_path.iterdir()} == {*SHARED, *WINDOWS, *DEVICE, "bad_envelopes", "grid_definitions"}


def test_every_threshold_is_the_one_of_exact_arithmetic(vectors: Vectors) -> None:
    for case in vectors("thresholds"):
        assert Channel.for_epsilon(case["epsilon"], case["k"]) == Channel(case["k"], case["d"], case["keep_threshold"]), case


def test_every_report_has_its_bits_from_its_words_and_uses_all_of_them(vectors: Vectors) -> None:
    for case in vectors("coins"):
        words = Stream(case["words"])
        bits = randomize(Channel(case["k"], case["d"], case["keep_threshold"]), np.array([case["category"]]), words)
        assert np.flatnonzero(bits[0]).tolist() == case["ones"]
        assert words.left == []


def window_of(case: dict[str, Any]) -> Window:
    return Window.over_levels(case["epsilon"], case["levels"], case["window"], apart=case["apart"])


def test_every_window_has_its_coin_and_its_people_and_reports_its_output_from_its_words(vectors: Vectors) -> None:
    for case in vectors("windows"):
        channel, words = window_of(case), Stream(case["words"])
        assert (channel.keep_threshold, channel.outputs) == (case["keep_threshold"], case["outputs"]), case
        assert [*people(channel)] == case["people"], case
        bits = randomize(channel, np.array([case["category"]]), words)
        assert (bits.shape, np.flatnonzero(bits[0]).tolist(), words.left) == ((1, channel.outputs), [case["output"]], []), case


def test_every_record_packs_to_its_bytes_and_back(vectors: Vectors) -> None:
    for case in vectors("packing"):
        survey = shaped(case["questions"])
        bits = [np.array([[bit == "1" for bit in question]]) for question in case["bits"]]
        assert pack(survey, bits).hex() == case["hex"]
        stored = np.concatenate([question[:, :-1] for question in bits], axis=1)
        assert np.array_equal(unpack(survey, bytes.fromhex(case["hex"]), 1), stored)


def test_every_bad_record_is_refused_by_its_rule(vectors: Vectors) -> None:
    for case in vectors("bad_records"):
        with pytest.raises(SubmissionError) as refusal:
            unpack(shaped(case["questions"]), bytes.fromhex(case["hex"]), 1)
        assert refusal.value.rule == case["rule"]


def test_every_bad_envelope_is_refused_by_its_rule(vectors: Vectors) -> None:
    for case in vectors("bad_envelopes"):
        with pytest.raises(SubmissionError) as refusal:
            Submission.from_json(case["body"].encode())
        assert refusal.value.rule == case["rule"], case["body"][:200]


def test_every_answer_means_its_category_or_is_refused(vectors: Vectors) -> None:
    for case in vectors("answers"):
        categories = tuple(case["categories"])
        options = categories if case["required"] else categories[:-1]
        kind = TYPES[case["type"]].parse({"options": options, **case.get("source", {})}, 1.0)
        question: Any = SimpleNamespace(id="q", kind=kind, required=case["required"], categories=categories)
        if case["category"] is None:
            with pytest.raises(AnswerError):
                encode(question, case["answer"], Stream(case.get("words", [])))
        else:
            assert encode(question, case["answer"], Stream(case.get("words", []))) == case["category"], case


def taken(case: dict[str, Any]) -> Survey | None:
    """The survey of a vector, or None where a client must refuse it: its bytes, its pin or its cap."""
    try:
        survey = Survey.from_definition(case["text"].encode() if "text" in case else base64.b64decode(case["base64"]))
    except RefusedError:
        return None
    pinned = case.get("pin", survey.digest) == survey.digest
    return survey if pinned and survey.epsilon <= case.get("max_epsilon", np.inf) * (1 + 1e-12) else None


def test_every_definition_is_accepted_or_refused(vectors: Vectors) -> None:
    cases = [(case, taken(case)) for name in ("definitions", "window_definitions", "device_definitions") for case in vectors(name)]
    assert [case["name"] for case, survey in cases if case["accepted"] != bool(survey)] == []
    for case, survey in cases:
        if survey:
            assert survey.digest == case["digest"]
            assert survey.epsilon == pytest.approx(case["epsilon"], rel=1e-12, abs=1e-15)
            assert str(posterior_bound(survey.odds)) == case["bound"]


def test_every_definition_with_a_rating_block_is_accepted_or_refused_and_keeps_its_items_in_one_block(vectors: Vectors) -> None:
    for case in vectors("grid_definitions"):
        survey = taken(case)
        assert bool(survey) == case["accepted"], case["name"]
        if survey:
            assert survey.digest == case["digest"]
            assert case["blocks"] in (None, [list(block) for block in survey.blocks]), case["name"]


def test_every_answer_with_exclusive_options_and_limits_is_accepted_or_refused_as_one_and_in_a_column(vectors: Vectors) -> None:
    for case in vectors("exclusive"):
        survey = taken(case)
        assert bool(survey) == case["accepted"], case["name"]
        if survey is None:
            continue
        assert (survey.digest, survey.epsilon) == (case["digest"], pytest.approx(case["epsilon"], rel=1e-12))
        answers = [answer for answer, _ in case["answers"]]
        assert [allowed_alone(survey, answer) for answer in answers] == [accepted for _, accepted in case["answers"]], case["name"]
        [batch] = batches(survey, as_rows([{"q": answer} for answer in answers]), os_words, size=100)
        refused = {rejected.row for rejected in batch.rejected}
        assert [row not in refused for row in range(1, len(answers) + 1)] == [accepted for _, accepted in case["answers"]], case["name"]


def allowed_alone(survey: Survey, answer: Any) -> bool:
    try:
        perturb_one({"q": answer}, survey, Public())
    except AnswerError:
        return False
    return True


def test_a_contradiction_is_named_by_its_rule_whichever_part_of_it_was_broken() -> None:
    options = {"options": ["tea", "coffee", "neither", "unsure"], "exclusive": ["unsure"]}
    for more, others in (({}, "any"), ({"none": "neither"}, "one or more")):
        question = {"id": "q", "text": "Which?", "type": "multi_choice", **options, **more}
        survey = Survey.from_dict({"deniable": 1, "id": "s", "title": "T", "about": "A", "epsilon": 1, "questions": [question]})
        rule = f"one exclusive option alone, or {others} of the others"
        rows = [["tea", "unsure"], ["unsure", "neither"], *([[], ["neither", "tea"]] if more else [])]
        for answer in rows:
            with pytest.raises(AnswerError, match=f"^q: the answer must be {rule}$"):
                perturb_one({"q": answer}, survey, Public())
            by_item = {f"q[{option}]": option in answer for option in options["options"]}
            with pytest.raises(AnswerError, match=f"^q: the answer must be {rule}$"):
                perturb_one(by_item, survey, Public())
        [batch] = batches(survey, as_rows([{"q": answer} for answer in [["tea"], *rows]]), os_words, size=100)
        assert [(r.row, r.question, r.reason) for r in batch.rejected] == [(n + 2, "q", f"must be {rule}") for n in range(len(rows))]


@pytest.mark.parametrize(
    ("keys", "rule"),
    [
        ({"at_most": 2}, "at most 2 of the options"),
        ({"at_most": 2, "at_least": 1}, "1 to 2 of the options"),
        ({"at_most": 2, "at_least": 2}, "exactly 2 of the options"),
        ({"at_least": 1}, "one or more of the options"),
        ({"at_least": 3}, "at least 3 of the options"),
        ({"at_most": 2, "exclusive": ["unsure"]}, "one exclusive option alone, or at most 2 of the others"),
        ({"at_most": 1, "none": "neither", "exclusive": ["unsure"]}, "one exclusive option alone, or exactly 1 of the others"),
    ],
)
def test_a_broken_limit_is_named_by_its_rule_and_no_answer_is_quoted(keys: dict[str, Any], rule: str) -> None:
    question = {"id": "q", "text": "Which?", "type": "multi_choice", "options": ["tea", "coffee", "neither", "unsure"], **keys}
    survey = Survey.from_dict({"deniable": 1, "id": "s", "title": "T", "about": "A", "epsilon": 1, "questions": [question]})
    answer = [] if "at_most" not in keys else ["tea", "coffee", "neither"]
    with pytest.raises(AnswerError, match=f"^q: the answer must be {rule}$"):
        perturb_one({"q": answer}, survey, Public())
    [batch] = batches(survey, as_rows([{"q": answer}]), os_words, size=100)
    assert [(r.row, r.question, r.reason) for r in batch.rejected] == [(1, "q", f"must be {rule}")]


def test_every_bound_and_every_count_of_people_is_that_of_decimal_arithmetic(vectors: Vectors) -> None:
    for case in vectors("bounds"):
        if "people" in case:
            assert [*people(Channel(case["k"], case["d"], case["keep_threshold"]))] == case["people"], case
        elif "epsilon" in case:
            assert str(posterior_bound(odds_of_sum(case["epsilon"]))) == case["bound"], case
        else:
            assert str(posterior_bound(Fraction(int(case["own"]), int(case["other"])))) == case["bound"], case


def test_every_text_refers_to_earlier_answers_or_is_refused(vectors: Vectors) -> None:
    for case in vectors("pipes"):
        assert (pipe_problem(case["text"], ("a", "b")) is None) == case["good"], case
        if case["good"]:
            assert without_answers(case["text"]) == case["plain"], case


@pytest.mark.slow
def test_every_whole_submission_is_the_same_envelope_byte_by_byte(vectors: Vectors) -> None:
    for case in (*vectors("submissions"), *vectors("window_submissions"), *vectors("device_submissions")):
        survey, words = Survey.from_definition(case["definition"].encode()), Stream(case["words"])
        given = [np.array([encode(item, answer, words)]) for item, answer in each_answer(survey, case["answers"])]
        categories = apply_skip_logic(survey, np.array(given))
        bits = [randomize(item.channel, category, words) for item, category in zip(survey.items, categories, strict=True)]
        asked = None if case["asked"] is None else np.array([case["asked"]], dtype=np.bool_)
        invitation = _decode64(case, "invitation") if "invitation" in case else None
        token = Token(*(_decode64(case["token"], name) for name in ("nonce", "signature"))) if "token" in case else None
        more: dict[str, Any] = {"group": case.get("group"), "mode": case.get("mode", "device"), "invitation": invitation, "token": token}
        sent = Submission(bytes.fromhex(case["id"]), survey.digest, 1, pack(survey, bits, asked), **more)
        assert sent.to_json() == case["envelope"].encode()
        assert words.left == []
        assert Submission.from_json(case["envelope"].encode()) == sent


def test_every_code_is_written_and_read_alike(vectors: Vectors) -> None:
    for case in vectors("codes"):
        if "text" in case:
            assert access_codes.format_code(bytes.fromhex(case["secret"])) == case["text"]
            assert access_codes.submission_id(bytes.fromhex(case["secret"])).hex() == case["id"]
        elif case["secret"] is None:
            with pytest.raises(ValueError, match="mistyped"):
                access_codes.read(case["typed"])
        else:
            assert access_codes.read(case["typed"]).hex() == case["secret"]


@pytest.mark.slow
def test_every_fingerprint_has_its_six_words(vectors: Vectors) -> None:
    told, *cases = vectors("six_words")
    assert hashlib.sha256(" ".join(WORDS).encode()).hexdigest() == told["list"]
    assert [six_words(case["said"]).split() for case in cases] == [[WORDS[place] for place in case["words"]] for case in cases]
