"""An import asks the same people the same as the form, or its report says so: random respondents, and a reader of its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.client.forms.test_mapper import Rows, workbook
from tests.kit.form_comparison.compare import compare

from deniable.forms import conditions, mapper, read_form
from deniable.forms.sections import WaitingNote
from deniable.forms.xlsform import constraints, rows

pytestmark = pytest.mark.slow

HEAD = ("type", "name", "label", "relevant", "required", "constraint", "calculation", "appearance", "kobo--score-choices")
FORM: Rows = [
    HEAD,
    ("select_one yn", "consent", "Do you agree?", None, "yes"),
    ("text", "name", "Your name?"),
    ("begin_group", "g", "Your health", "${consent} = 'y'"),
    ("note", "thanks", "Thank you."),
    ("select_one yn", "car", "Do you have a car?", None, "yes"),
    ("select_one fuel or_other", "fuel", "Which fuel?", "${car} = 'y'", "yes"),
    ("select_one yn", "bus", "Do you take the bus?", "${fuel} != 'electric'", "yes"),
    ("select_one yn", "named", "Are you named?", "string-length(${name}) > 0 and ${car} = 'y'", "yes"),
    ("select_one yn", "old", "Is it old?", "today() > 3 or ${car} = 'y'", "yes"),
    ("note", "bye", "Please hand the tablet back.", "${car} = 'n'"),
    ("select_one yn", "stolen", "Have you ever stolen?", "${car} = 'y'", "yes"),
    ("integer", "age", "How old are you?", None, "yes", "(. >= 18 and . <= 99) or . = -99"),
    ("decimal", "kg", "What do you weigh?", None, None, ". > 0 and . < 300"),
    ("calculate", "young", None, None, None, None, "if(${age} < 30, 'yes', 'no')"),
    ("select_one yn", "school", "At school?", "${young} = 'yes' and (${bus} = 'y' or ${fuel} = 'other')"),
    ("select_multiple d", "drinks", "Which drinks?", None, "yes", "not(selected(., 'none') and count-selected(.) > 1)"),
    ("select_multiple d", "two", "Which two?", None, "yes", "count-selected(.) <= 2"),
    ("select_one yn", "much", "Much?", "selected(${drinks}, 'tea') and not(${age} >= 50)"),
    ("select_one s", "mood", "Mood?", None, "yes"),
    ("select_one yn", "help", "Help?", "${mood} >= 2 and ${mood} != ''", "yes"),
    ("begin_score", "sat", "How satisfied?", None, None, None, None, None, "s"),
    ("score__row", "pay", "Pay"),
    ("score__row", "boss", "Boss", None, "yes"),
    ("end_score",),
    ("end_group",),
    ("select_one yn", "never", "Never", "false()"),
]
CHOICES: Rows = [
    ("list_name", "name", "label"),
    *(("yn", name, label) for name, label in (("y", "Yes"), ("n", "No"))),
    *(("fuel", name, name.title()) for name in ("petrol", "electric")),
    *(("d", name, name.title()) for name in ("tea", "coffee", "none")),
    *(("s", str(score), f"Step {score}") for score in range(4)),
]


def differences(tmp_path: Path) -> list[str]:
    path = tmp_path / "form.xlsx"
    path.write_bytes(workbook(FORM, CHOICES, []))
    return compare(path, read_form(path))


def test_who_is_asked_what_is_as_in_the_form_or_reported(tmp_path: Path) -> None:
    assert differences(tmp_path) == []


def _no_hidden(self: Any, result: Any, earlier: Any) -> Any:
    return result


def _reversed_options(row: Any, options: Any, many: bool) -> Any:
    return _OPTIONS(row, list(reversed(options)), many)


_OPTIONS = rows._options
BREAKS: dict[str, tuple[Any, str, Callable[..., Any], str]] = {
    "a part is left out without a word": (conditions._Converter, "_omit", lambda *_: True, "named"),
    "people who were not asked the earlier question are forgotten": (conditions._Converter, "_or_missing", _no_hidden, "bus"),
    "any is read as all": (conditions, "_any", lambda results: conditions._every(results), "school"),
    "a note is shown to everybody": (WaitingNote, "suits", lambda *_: True, "bye"),
    "the options are in another order": (rows, "_options", _reversed_options, "fuel"),
    "codes count as numbers": (constraints, "_merge", lambda intervals, _: [constraints.NumberInterval(-99, False, 99, False)], "age"),
    "conditions of groups are forgotten": (mapper, "combine", lambda word, parts: parts[-1], "car"),
}


@pytest.mark.parametrize("name", BREAKS)
def test_a_broken_rule_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Control."""
    owner, attribute, broken, row = BREAKS[name]
    monkeypatch.setattr(owner, attribute, broken)
    assert any(difference.startswith(f"{row}: ") for difference in differences(tmp_path))
