"""Protection in words: a proposal has the level that it names, at the precision that it names, and changes nothing else."""

from __future__ import annotations

from typing import Any

import pytest
from tests.client.plan.test_proposals import of_yes_no

from deniable.plan import levels as module
from deniable.plan.levels import level_of_survey, precision_curve, propose_level, proposed_levels
from deniable.plan.proposals import widest
from deniable.privacy.claims import levels
from deniable.survey import Survey
from deniable.survey.document import parse
from deniable.topics import TOPICS

PRIVACY = {"epsilon", "ask", "questions"}


@pytest.mark.parametrize("level", proposed_levels())
@pytest.mark.parametrize("document", [of_yes_no(1), of_yes_no(12), parse(TOPICS[0].text).value, parse(TOPICS[5].text).value])
def test_a_proposal_keeps_its_level_and_its_precision_and_changes_nothing_else(document: dict[str, Any], level: str) -> None:
    proposal = propose_level(document, level, 1000)
    survey = Survey.from_dict(proposal.document)
    assert level_of_survey(survey) == level
    assert proposal.half_width == widest(survey, 1000)
    assert {key for key in {**document, **proposal.document} if document.get(key) != proposal.document.get(key)} <= PRIVACY
    kept = [{key: value for key, value in question.items() if key not in ("weight", "epsilon")} for question in document["questions"]]
    assert [{key: value for key, value in one.items() if key != "weight"} for one in proposal.document["questions"]] == kept


def test_the_levels_are_those_of_the_table_without_the_last() -> None:
    assert proposed_levels() == tuple(name for name, _ in levels())[:-1] == ("strong", "medium", "weak")
    with pytest.raises(LookupError):
        propose_level(of_yes_no(1), "none", 100)


def test_more_protection_is_less_precise() -> None:
    widths = [propose_level(of_yes_no(6), level, 800).half_width for level in proposed_levels()]
    assert widths == sorted(widths, reverse=True)
    assert len(set(widths)) == 3


def test_an_epsilon_beyond_the_level_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Control: with a check that lets everything through, a bound that is too high for its name is proposed."""
    document = of_yes_no(12)
    monkeypatch.setattr(module, "levels", lambda: (("strong", 80), ("medium", 90), ("weak", 99), ("none", 100)))
    monkeypatch.setattr(module, "_keeps", lambda *_: True)
    assert level_of_survey(propose_level(document, "strong", 800).survey) == "medium"


def test_questions_with_an_epsilon_of_their_own_share_one_afterwards() -> None:
    document = of_yes_no(3)
    del document["epsilon"]
    document["questions"] = [{**one, "epsilon": "1"} for one in document["questions"]]
    proposal = propose_level(document, "medium", 800)
    assert proposal.epsilon == "ln 9"
    assert not [one for one in proposal.document["questions"] if "epsilon" in one]


def test_the_curve_is_the_planners_half_width_at_each_size() -> None:
    survey = Survey.from_dict(of_yes_no(3))
    curve = precision_curve(survey, "medium", (100, 1000))
    assert curve.points == ((100, widest(survey, 100)), (1000, widest(survey, 1000)))
