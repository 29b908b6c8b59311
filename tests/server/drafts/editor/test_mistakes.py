"""Which field a mistake is said beside, and what people call that field."""

from __future__ import annotations

import pytest
from flask import Flask

from deniable.errors import Problem
from deniable_server.drafts.editor.fields import fields_of
from deniable_server.drafts.editor.forms import EditorForm
from deniable_server.drafts.editor.mistakes import field_name, messages_by_field

FIELDS = fields_of(
    {
        "questions": [{"id": "a", "text": "A?", "type": "yes_no"}, {"id": "b", "text": "B?", "type": "scale", "options": ["x", "y"]}],
        "translations": {"de": {"title": "T", "questions": {"a": {"text": "A?"}}}},
    }
)


@pytest.fixture(scope="module")
def labels() -> dict[str, str]:
    app = Flask(__name__)
    app.secret_key = "for a token"
    with app.test_request_context():
        return EditorForm(formdata=None).labels


@pytest.mark.parametrize(
    ("place", "name"),
    [
        ("id", "Short name for the link"),
        ("questions-0-id", "Question 1: Name"),
        ("title", "Title"),
        ("languages-0-title", "In another language: Title"),
        ("epsilon", "Epsilon"),
        ("questions-1-epsilon", "Question 2: Epsilon"),
        ("questions-1-options", "Question 2: Options"),
        ("questions-1-section_title", "Question 2: Section title"),
        ("questions-1-words-0-section_title", "Question 2: Section title"),
        ("questions-1-conditions-0", "Question 2: Conditions"),
        ("questions-1", "Question 2"),
        ("questions", "Questions"),
        ("n", "How many people may answer?"),
    ],
)
def test_a_field_is_called_what_stands_above_it(labels: dict[str, str], place: str, name: str) -> None:
    assert field_name(place, labels) == name


@pytest.mark.parametrize(
    ("where", "place", "told"),
    [
        ("questions[1].id", "questions-1-id", "must be short"),
        ("questions[1]", "questions-1", "must be short"),
        ("questions[1].options[1]", "questions-1-options", "no. 2 must be short"),
        ("questions[1].bins[0].from", "questions-1-bins", "no. 1 must be short"),
        ("groups[2]", "groups", "no. 3 must be short"),
        ("nothing", "", "nothing must be short"),
    ],
)
def test_a_mistake_counts_the_lines_of_its_field_and_not_the_questions(where: str, place: str, told: str) -> None:
    assert messages_by_field([Problem(where, "must be short")], FIELDS) == {place: [told]}
