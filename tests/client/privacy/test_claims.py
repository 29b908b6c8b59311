"""Sentences that reassure, warn or advise are printed only where they are true: each condition against rules that are stated twice."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from deniable.privacy.claims import Claim, all_claims, claim_text, claims_about, facts_of, guesses, level_of, protection_of
from deniable.privacy.stronger import stronger
from deniable.survey import Survey

VECTORS = Path(__file__).parents[2] / "vectors"
Vectors = Callable[[str], list[dict[str, Any]]]
REASSURING = (
    "promise.strong",
    "promise.medium",
    "advice.truth",
    "excuse.yes",
    "lock.device",
    "arrived.hidden",
    "asker.hidden",
    "hand.truth",
    "publish.rows",
)
LN_3_EACH = [{"id": f"q{n}", "text": "Do you smoke?", "type": "yes_no", "epsilon": "ln 3"} for n in range(5)]


def disagreements(claims: tuple[Claim, ...], cells: list[dict[str, Any]]) -> list[str]:
    """The claims that are printed where they are false, or missing where they are true."""
    found = set()
    for cell in cells:
        found |= set(cell["true"]) ^ {claim.id for claim in claims if claim.holds(cell["facts"])}
    return sorted(found)


def test_each_claim_holds_exactly_where_it_is_true(vectors: Vectors) -> None:
    assert disagreements(all_claims(), vectors("claims")) == []


def test_a_condition_that_is_wrong_is_noticed(vectors: Vectors) -> None:
    """The control: each condition, one at a time, without one of its parts; and those without parts, with one."""
    cells = vectors("claims")
    for place, claim in enumerate(all_claims()):
        for part in claim.when or {"": None}:
            when = {name: value for name, value in claim.when.items() if name != part} if claim.when else {"weaker": ["strong"]}
            changed = (*all_claims()[:place], dataclasses.replace(claim, when=when), *all_claims()[place + 1 :])
            if claim.id != "crowd.of":  # every number of people meets its condition: it only needs the fact
                assert disagreements(changed, cells) == [claim.id], (claim.id, part)


def test_the_vectors_are_those_that_their_script_writes(tmp_path: Path) -> None:
    subprocess.run([sys.executable, VECTORS / "make_claim_vectors.py", tmp_path], check=True)
    assert (tmp_path / "claims.json").read_bytes() == (VECTORS / "claims.json").read_bytes()


def test_levels_have_their_bounds(vectors: Vectors) -> None:
    for cell in vectors("claims"):
        assert level_of(Decimal(str(cell["bounds"][0]))) == cell["facts"]["one"]
        assert level_of(Decimal(str(cell["bounds"][1]))) == cell["facts"]["record"]


def test_ids_and_sentences_are_unique_and_a_topic_must_exist() -> None:
    assert len({claim.id for claim in all_claims()}) == len({claim.text for claim in all_claims()}) == len(all_claims())
    with pytest.raises(LookupError, match="topic must be one of the table's, got 'nothing'"):
        claims_about("nothing")


def test_without_facts_only_unconditional_claims_hold() -> None:
    held = [claim for claim in all_claims() if claim.holds({})]
    assert held
    assert all(claim.when == {} for claim in held)


def survey_of(questions: list[dict[str, Any]] = LN_3_EACH[:1], **keys: Any) -> Survey:
    return Survey.from_dict({"deniable": 1, "id": "s", "title": "T", "about": "A", "questions": questions, **keys})


@pytest.mark.parametrize(("count", "level"), [(1, "strong"), (2, "medium"), (3, "weak"), (4, "weak"), (5, "none")])
def test_all_four_levels_are_reached_and_the_weaker_bound_decides(count: int, level: str) -> None:
    facts = facts_of(survey_of(LN_3_EACH[:count]))
    assert (facts["one"], facts["record"], facts["weaker"]) == ("strong", level, level)


def test_at_epsilon_10_nothing_reassures() -> None:
    facts = facts_of(survey_of([{"id": "q", "text": "A?", "type": "yes_no", "epsilon": 10}], accept_high_epsilon=True))
    assert [claim.id for claim in all_claims() if claim.holds(facts) and claim.id in REASSURING] == []
    strong = [claim.id for claim in all_claims() if claim.holds(facts_of(survey_of())) and claim.id in REASSURING]
    assert len(strong) > 5  # the control


def test_facts_are_the_surveys() -> None:
    survey = survey_of(LN_3_EACH[:3], ask=1, groups=["A", "B"], access="invited", batch=25)
    bounds = {"one": "strong", "record": "strong", "weaker": "strong", "of": 100}
    company = {"by": "hand", "release": "close", "batch": 25, "results": "private", "groups": 2, "codes": "yes", "sample": "yes"}
    assert facts_of(survey, by="hand") == bounds | company
    assert facts_of(survey_of())["release"] == "daily"


def test_numbers_of_people_have_one_denominator() -> None:
    assert dataclasses.astuple(guesses(survey_of(LN_3_EACH[:2]))) == (100, 50, 75, 90)
    assert dataclasses.astuple(guesses(survey_of(LN_3_EACH))) == (1000, 500, 750, 996)


def test_a_text_has_its_numbers() -> None:
    facts = facts_of(survey_of(batch=1000))
    assert "at least 1,000 together" in claim_text("release", facts)
    assert claim_text("groups", facts) == ""


def test_researchers_read_what_respondents_read() -> None:
    box = protection_of(survey_of(LN_3_EACH[:3]))
    assert box.level == "weak"
    assert box.lines[:2] == (
        "Weak protection. Coins hide each answer, but all of them together only a little. Think about it before you start.",
        "Of 100 people, a guess is right for at most: 50 knowing nothing, 75 from one answer, 97 from all together.",
    )


def test_proposals_reach_the_next_level() -> None:
    assert stronger(survey_of()) == ()
    assert stronger(survey_of(LN_3_EACH[:3])) == (
        "Set epsilon to ln 9, about 2.20, for medium protection",
        "Ask each person 2 of the 3 questions at epsilon 2.197, with the same coins, for medium protection",
    )
    shared = [{key: value for key, value in question.items() if key != "epsilon"} for question in LN_3_EACH[:3]]
    for keys in ({"epsilon": "ln 9"}, {"ask": 2, "epsilon": 2.197}):
        assert facts_of(survey_of(shared, **keys))["weaker"] == "medium"


def test_a_bound_that_is_no_whole_number_of_people_is_rounded_up() -> None:
    """99.9955% of 100 people are all 100: 99 would promise too much."""
    question = {"id": "q", "text": "Yes?", "type": "yes_no", "epsilon": 10}
    keys = {"deniable": 1, "id": "s", "title": "T", "about": "A.", "accept_high_epsilon": True}
    found = guesses(Survey.from_dict({**keys, "questions": [question, {**question, "id": "r"}]}))
    assert (found.of, found.one, found.record) == (100, 100, 100)
