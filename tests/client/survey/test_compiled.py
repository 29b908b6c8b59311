"""A compiled survey has the same rules as its definition: the same records pass, and the same ones are refused with the same words."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.client.wire.test_possible import SURVEYS

from deniable.errors import SubmissionError
from deniable.survey import Survey
from deniable.survey.compiled import CompiledSurvey, SurveyRules
from deniable.wire.possible import FEW, check
from deniable.wire.submission import Submission

ATTRIBUTES = ("id", "digest", "access", "release", "batch", "groups", "ask", "issuer", "coins_can_answer", "block_bits")
EXAMPLES = sorted((Path(__file__).parents[3] / "examples").glob("*.yaml"))


def with_keys(**keys: Any) -> Survey:
    questions = [{"id": "q", "text": "?", "type": "yes_no", "epsilon": "ln 3"}]
    return Survey.from_dict({"deniable": 1, "id": "s", "title": "T", "about": "A.", "questions": questions, **keys})


EVERY = [
    *SURVEYS,
    *map(Survey.from_file, EXAMPLES),
    with_keys(),
    with_keys(groups=["North", "Süd"], batch=20),
    with_keys(access="invited", release="close").with_issuer("AQAB"),
]


def refusal(survey: SurveyRules, reports: bytes, count: int) -> str | None:
    try:
        check(survey, reports, count)
    except SubmissionError as error:
        return f"{error.rule}: {error}"
    return None


@pytest.mark.parametrize("survey", EVERY, ids=lambda survey: survey.digest[:6])
def test_every_attribute_is_the_surveys_own_also_once_it_was_stored(survey: Survey) -> None:
    compiled = CompiledSurvey.of(survey)
    stored = CompiledSurvey.from_json(compiled.to_json())
    assert stored == compiled
    assert compiled.to_json().isascii()
    for each in (compiled, stored):
        assert {name: getattr(each, name) for name in ATTRIBUTES} == {name: getattr(survey, name) for name in ATTRIBUTES} | (
            {} if survey.ask else {"block_bits": ()}
        )
        assert (each.record.bits, each.record.bytes, each.record.rules) == (survey.record.bits, survey.record.bytes, survey.record.rules)
        assert each.blocks == (survey.blocks if survey.ask else ())


def test_title_and_questions_are_left_out() -> None:
    texts = [f"Secret {name}" for name in ("title", "about", "question")]
    survey = Survey.from_dict(
        {
            "deniable": 1,
            "id": "s",
            "title": texts[0],
            "about": texts[1],
            "questions": [{"id": "q", "text": texts[2], "type": "choice", "options": ["a", "b", "c"], "epsilon": 1}],
        }
    )
    assert not any(text in CompiledSurvey.of(survey).to_json() for text in texts)


@settings(deadline=None, max_examples=150)
@given(st.sampled_from(EVERY), st.integers(1, FEW + 4), st.booleans(), st.data())
def test_the_same_records_pass_and_others_are_refused_in_the_same_words(
    survey: Survey, count: int, sparse: bool, data: st.DataObject
) -> None:
    compiled = CompiledSurvey.from_json(CompiledSurvey.of(survey).to_json())
    size = survey.record.bytes * count - data.draw(st.sampled_from([0, 0, 0, 1]))
    reports = bytes(size) if sparse else os.urandom(size)
    assert refusal(compiled, reports, count) == refusal(survey, reports, count)


@pytest.mark.parametrize("survey", EVERY[-3:], ids=lambda survey: survey.digest[:6])
@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"group": "North"},
        {"group": "West"},
        {"mode": "by_hand"},
        {"invitation": bytes(15)},
        {"mode": "by_hand", "invitation": bytes(15)},
    ],
)
def test_groups_modes_and_invitations_are_checked_alike(survey: Survey, fields: dict[str, Any]) -> None:
    submission = Submission(bytes(16), survey.digest, 1, bytes(survey.record.bytes), **fields)

    def rule(rules: SurveyRules) -> str | None:
        try:
            submission.check(rules)
        except SubmissionError as error:
            return f"{error.rule}: {error}"
        return None

    assert rule(CompiledSurvey.of(survey)) == rule(survey)
