"""Options that look as if they went with no other one are pointed out, in the usual words of five languages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from deniable.cli import main
from deniable.survey import Survey
from deniable.survey.undeclared import advice_for, undeclared

NONE = [
    *("None", "none of these", "None of the above", "None of these.", "Neither", "Nothing", "none (no pets)"),
    *("Keine davon", "keines", "Nichts davon", "weder noch"),
    *("Ninguno", "ninguna de las anteriores", "Nada de esto", "Ningún"),
    *("Aucun", "aucune de ces réponses", "Rien de tout cela"),
    *("لا شيء مما ذُكر", "لا أحد"),
]
UNSURE = [
    *("I do not know", "don't know", "Don’t know", "Not sure", "I can't remember", "Don't know / no opinion"),
    *("Weiß nicht", "ich weiß es nicht", "keine Ahnung", "No sé", "No lo sé", "NS/NR", "Ne sait pas", "Je ne sais pas", "لا أعرف"),
]
REFUSES = [
    *("Prefer not to say", "I'd rather not answer", "Refused", "Refuse to answer", "No answer", "Keine Angabe", "k. A."),
    *("Möchte ich nicht sagen", "Prefiero no contestar", "No contesta", "Préfère ne pas répondre", "Refus de répondre", "أفضل عدم الإجابة"),
]
OTHERS = [
    "Tea",
    "Nonesuch",
    "Other",
    "Notes",
    "No",
    "Yes",
    "Non-alcoholic beer",
    "Nadja",
    "Riensi",
    "Keinath",
    "Dkny",
    "Anything",
    "Note",
    "نعم",
]


@pytest.mark.parametrize(
    ("words", "advice"), [(NONE, "declare it as none"), (UNSURE, "declare it as exclusive"), (REFUSES, "leave it out")]
)
def test_the_usual_words_are_known_in_five_languages(words: list[str], advice: str) -> None:
    assert [word for word in words if advice not in (advice_for(word) or "")] == []


def test_other_options_are_left_alone() -> None:
    assert [word for word in OTHERS if advice_for(word)] == []


def survey(**keys: object) -> Survey:
    options = ["Tea", "None of these", "I do not know"]
    question = {"id": "m", "text": "Which?", "type": "multi_choice", "options": options, **keys}
    single = {"id": "c", "text": "Which?", "type": "choice", "options": options}
    return Survey.from_dict({"deniable": 1, "id": "s", "title": "T", "about": "A", "epsilon": 1, "questions": [question, single]})


def test_only_a_multiple_choice_is_warned_of_and_only_until_its_options_are_declared() -> None:
    found = list(undeclared(survey().questions))
    assert [text.partition("”")[0] for text in found] == ["the option “None of these", "the option “I do not know"]
    assert [text.partition("”")[0] for text in undeclared(survey(none="None of these").questions)] == ["the option “I do not know"]
    assert list(undeclared(survey(none="None of these", exclusive=["I do not know"]).questions)) == []


def test_check_warns(tmp_path: Path) -> None:
    file = tmp_path / "survey.json"
    file.write_text(json.dumps(survey().to_dict()), encoding="utf-8")
    told = "the option “None of these” of the question m looks as if it goes with no other one: declare it as none"
    assert f"warning: {told}" in CliRunner().invoke(main, ["check", str(file)]).output
    assert told in json.loads(CliRunner().invoke(main, ["check", "--json", str(file)]).output)["warnings"][0]
