"""An import of a Qualtrics survey asks the same people as it does, or its report says so: random respondents, and a reader of its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.client.forms.test_qualtrics import END, asked, block, branch, choices, logic, skip, survey_of
from tests.kit.form_comparison.qualtrics import compare

from deniable.forms import conditions, read_form
from deniable.forms.qualtrics import flow, reader

pytestmark = pytest.mark.slow

ANY = {"Settings": {"ForceResponse": "OFF", "Type": "None"}}
AGE = {"Settings": {"ForceResponse": "ON", "Type": "ContentType", "ContentType": "ValidNumber", "ValidNumber": {"Min": 0, "Max": 99}}}
SECOND = ("q://QID1/SelectableChoice/2", "Selected", "And")
QUESTIONS = [
    asked("QID1", "MC", "SAVR", "Do you smoke?", **choices("Daily", "Weekly", "Never")),
    asked("QID2", "MC", "MAVR", "When?", **choices("Morning", "Noon", "Night"), Validation=ANY),
    asked("QID3", "MC", "SAVR", "Alone?", **choices("Yes", "No"), DisplayLogic=logic(SECOND)),
    asked("QID4", "MC", "SAVR", "Skipped?", **choices("A", "B")),
    asked("QID5", "TE", "SL", "Age?", Validation=AGE),
    asked("QID6", "MC", "SAVR", "Adult?", **choices("A", "B"), DisplayLogic=logic(("q://QID5/ChoiceTextEntryValue", "GreaterThan", "And"))),
    asked(
        "QID7",
        "MC",
        "SAVR",
        "Phone?",
        **choices("A", "B"),
        DisplayLogic=logic(SECOND) | {"1": logic(SECOND, kind="DeviceType")["0"] | {"Type": "AndIf"}},
    ),
    asked(
        "QID8", "MC", "SAVR", "Either?", **choices("A", "B"), DisplayLogic=logic(SECOND, ("q://QID4/SelectableChoice/1", "Selected", "Or"))
    ),
    asked("QID9", "MC", "SAVR", "Drawn?", **choices("A", "B")),
    asked("QID10", "MC", "SAVR", "Never shown?", **choices("A", "B")),
    asked("QID11", "MC", "SAVR", "Drawn, too?", **choices("A", "B")),
    asked("QID12", "MC", "SAVR", "Last?", **choices("A", "B")),
]
BLOCKS = {
    "first": ["QID1", "QID2", "QID3", "QID4", "QID5"],
    "then": ["QID6", "QID7", "QID8"],
    "drawn": ["QID9", "QID10", "QID11"],
    "last": ["QID12"],
}
SKIPS = {"QID1": [skip("QID1", "QID5", option="3")], "QID3": [skip("QID3", "ENDOFSURVEY", "NotSelected", "1")]}
DRAWN = {"RandomSubSet": ["QID9", "QID11"], "TotalRandSubset": 1, "Undisplayed": ["QID10"]}
OPTIONS = {"drawn": {"RandomizeQuestions": "Advanced", "Randomization": {"Advanced": DRAWN}}}
FLOW = [block("first"), branch("QID4", block("then"), branch("QID6", END)), block("drawn"), block("last")]


def differences(tmp_path: Path) -> list[str]:
    path = tmp_path / "form.qsf"
    path.write_bytes(survey_of(QUESTIONS, BLOCKS, FLOW, SKIPS, OPTIONS))
    return compare(path, read_form(path))


def test_who_is_asked_is_as_in_the_form_or_reported(tmp_path: Path) -> None:
    assert differences(tmp_path) == []


BREAKS: dict[str, tuple[Any, str, Callable[..., Any], str]] = {
    "a part is left out without a word": (conditions._Converter, "_omit", lambda *_: True, "Q7"),
    "any is read as all": (conditions, "_any", lambda results: conditions._every(results), "Q5"),
    "skip logic is left out": (flow.FlowConditions, "skip", lambda *_: None, "Q4"),
    "people go on where they skipped to never": (flow.FlowConditions, "reach", lambda *_: None, "Q5"),
    "an end of the survey is forgotten": (flow.FlowConditions, "end_survey", lambda *_: None, "Q12"),
    "display logic is left out": (reader, "condition_of", lambda *_: reader.ALWAYS, "Q3"),
    "a random choice is not reported": (reader._Reader, "randomizer", lambda *_: None, "Q9"),
    "questions that are never shown are asked": (reader._Reader, "randomized", lambda *_: set(), "Q10"),
    "an option is lost": (reader, "_values", lambda value: _VALUES(value)[: 2 if value == [1, 2, 3] else None], "Q1"),
}
_VALUES = reader._values


@pytest.mark.parametrize("name", BREAKS)
def test_a_broken_rule_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Control."""
    owner, attribute, broken, row = BREAKS[name]
    monkeypatch.setattr(owner, attribute, broken)
    assert any(difference.startswith(f"{row}: ") for difference in differences(tmp_path))
