"""What a language of a survey lacks is said in one sentence."""

from __future__ import annotations

from typing import Any

from deniable.survey import Survey
from deniable.survey.gaps import gaps


def survey(translations: dict[str, Any]) -> Survey:
    questions = [
        {"id": "a", "text": "Have you?", "type": "yes_no", "help": "Ever."},
        {"id": "b", "text": "How often?", "type": "choice", "options": ["Often", "Never"]},
    ]
    top = {"deniable": 1, "id": "study", "title": "A study", "about": "Who asks.", "epsilon": 1, "questions": questions}
    return Survey.from_dict({**top, "translations": translations})


def test_a_language_with_a_title_alone_lacks_everything_else() -> None:
    [gap] = gaps(survey({"de": {"title": "Eine Studie"}}))
    assert (gap.missing, gap.first, gap.instead) == (5, "about", "en")
    assert gap.sentence() == "de lacks 5 texts; people will read these in en"
    assert gap.sentence({"de": "German", "en": "English"}.__getitem__) == "German lacks 5 texts; people will read these in English"


def test_each_language_has_a_sentence_of_its_own_and_a_whole_one_has_none() -> None:
    whole = {"title": "T", "about": "A", "questions": {"a": {"text": "a?", "help": "h"}, "b": {"text": "b?", "options": ["x", "y"]}}}
    nearly = {**whole, "questions": {**whole["questions"], "b": {"text": "b?"}}}  # type: ignore[dict-item]
    assert [gap.sentence() for gap in gaps(survey({"sw": whole, "de": nearly}))] == ["de lacks 1 text; people will read it in en"]
    assert gaps(survey({"sw": whole})) == ()
