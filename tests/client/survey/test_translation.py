"""A reader gets the language of a survey that fits best; the browser's twin is held to the same vectors."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from deniable.survey import Survey
from deniable.survey.translation import negotiate

VECTORS = json.loads((Path(__file__).parents[2] / "vectors" / "negotiation.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", VECTORS, ids=lambda case: "-".join(case["wanted"]))
def test_the_language_that_fits_best_is_the_one_of_the_vectors(case: dict[str, object]) -> None:
    assert negotiate(case["wanted"], case["offered"]) == case["found"]  # type: ignore[arg-type]


def test_a_survey_is_read_in_its_own_language_where_it_has_none_of_the_readers() -> None:
    survey = Survey.from_dict(
        {
            "deniable": 1,
            "id": "study",
            "title": "Utafiti",
            "about": "Sisi tunauliza.",
            "epsilon": 1,
            "language": "sw",
            "questions": [{"id": "q", "text": "Je?", "type": "yes_no"}],
            "translations": {"en": {"title": "A study"}},
        }
    )
    assert survey.languages == ("sw", "en")
    assert [survey.negotiate(wanted) for wanted in (["sw-KE", "en"], ["en-GB", "sw"], ["de"], [])] == ["sw", "en", "sw", "sw"]
