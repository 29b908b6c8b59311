"""An import of a LimeSurvey survey asks the same people as it does, or its report says so: random respondents, and a reader of its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.client.forms.test_limesurvey import answers, child, lss, question
from tests.kit.form_comparison.limesurvey import compare

from deniable.forms import conditions, mapper, read_form
from deniable.forms.limesurvey import reader

pytestmark = pytest.mark.slow

QUESTIONS = [
    question("1", "Y", "smokes", "Do you smoke?"),
    question("2", "L", "often", "How often?", relevance='((smokes.NAOK == "Y"))', other="Y"),
    question("3", "M", "days", "When?", mandatory="N"),
    question("4", "F", "rate", "How good is", relevance='days_mo.NAOK == "Y" and !is_empty(often.NAOK)'),
    question("5", "Y", "daily", "Daily?", relevance='often == "A1" || often == "-oth-"'),
    question("6", "Y", "never", "Never?", relevance='often.NAOK != "A1"'),
    question("7", "Y", "partly", "In part?", relevance='TOKEN:X == "a" and smokes == "N"'),
    question("8", "Y", "other", "Another?", relevance='often != "A1"'),
]
CHILDREN = [child("31", "3", "mo", "Monday"), child("32", "3", "tu", "Tuesday"), child("41", "4", "a", "Tea"), child("42", "4", "b", "Rum")]
GROUPS = [{"gid": "1", "group_name": "Health", "group_order": "0", "language": "en", "grelevance": ""}]
OPTIONS = [*answers("2", "Daily", "Weekly"), *answers("4", "Bad", "Good")]
OLD = [
    {"qid": "2", "cqid": "1", "cfieldname": "1X1X1", "method": "==", "value": "Y", "scenario": "1"},
    {"qid": "6", "cqid": "3", "cfieldname": "1X1X3", "method": "==", "value": "mo", "scenario": "1"},
    {"qid": "6", "cqid": "2", "cfieldname": "1X1X2", "method": "==", "value": "A2", "scenario": "2"},
]


def differences(tmp_path: Path, *, is_old: bool = False) -> list[str]:
    path = tmp_path / "form.lss"
    questions = [{key: value for key, value in row.items() if key != "relevance"} if is_old else row for row in QUESTIONS]
    tables = {"groups": GROUPS, "questions": questions, "subquestions": CHILDREN, "answers": OPTIONS}
    path.write_bytes(lss(**tables, conditions=OLD) if is_old else lss(**tables))
    return compare(path, read_form(path))


@pytest.mark.parametrize("is_old", [False, True], ids=["expressions", "table of conditions"])
def test_who_is_asked_is_as_in_the_form_or_reported(tmp_path: Path, is_old: bool) -> None:
    assert differences(tmp_path, is_old=is_old) == []


BREAKS: dict[str, tuple[Any, str, Callable[..., Any], str, bool]] = {
    "a part is left out without a word": (conditions._Converter, "_omit", lambda *_: True, "partly", False),
    "any is read as all": (conditions, "_any", lambda results: conditions._every(results), "daily", False),
    "hidden questions count as unanswered": (reader, "_without_missing", lambda expression, _: (expression, False), "other", False),
    "conditions are forgotten": (mapper, "combine", lambda word, parts: parts[0], "often", False),
    "scenarios are read as all": (reader, "combine", lambda _, parts: conditions_of_all(parts), "never", True),
}
_COMBINE = reader.combine


def conditions_of_all(parts: Any) -> Any:
    return _COMBINE("all", parts)


@pytest.mark.parametrize("name", BREAKS)
def test_a_broken_rule_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Control."""
    owner, attribute, broken, row, is_old = BREAKS[name]
    monkeypatch.setattr(owner, attribute, broken)
    assert any(difference.startswith(f"{row}: ") for difference in differences(tmp_path, is_old=is_old))
