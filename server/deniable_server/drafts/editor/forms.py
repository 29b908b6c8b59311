"""The form of a draft: a field for each key of a survey, of its questions, and of its languages."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from flask_wtf import FlaskForm
from wtforms import BooleanField, FieldList, Form, FormField, HiddenField, IntegerField, SelectField, StringField, TextAreaField

from deniable.survey.condition import MOST as CONDITIONS
from deniable.survey.types import TYPES
from deniable_server.drafts.editor.conditions import BLANK
from deniable_server.drafts.editor.drafted import MOST_QUESTIONS
from deniable_server.drafts.editor.shapes import Fields
from deniable_server.pages.forms import people

LABELS = {
    "title": "Title",
    "about": "Who asks, and why",
    "contact": "Contact",
    "ethics": "Ethics approval",
    "thanks": "Said at the end",
    "closed": "Said once it is closed",
}
ACCESS = [("open", "everybody with the link"), ("invited", "with a one-time code only")]
LAYOUT = [("list", "all questions on one page"), ("steps", "one question a page")]
JOINED = [("all", "all of these hold"), ("any", "any of these holds")]
PLANNED = 1_000  # people, where nobody says another number


class WordsForm(Form):  # type: ignore[misc]
    """A question in another language."""

    text = TextAreaField("Question", render_kw={"rows": 2})
    help = TextAreaField("Help", render_kw={"rows": 1})
    options = TextAreaField("Options, one a line", render_kw={"rows": 3})
    section_title = TextAreaField("Title of the section", render_kw={"rows": 1})
    section_note = TextAreaField("Note of the section", render_kw={"rows": 2})


class ConditionForm(Form):  # type: ignore[misc]
    """An answer to an earlier question. tied: whether it goes together with the one before."""

    question = SelectField("Only after an answer to", validate_choice=False)
    answers = TextAreaField("which is one of, one a line", render_kw={"rows": 2})
    at_least = StringField("or at least", description="Where a bin begins.", render_kw={"inputmode": "decimal"})
    below = StringField("and below", description="Where a later one begins.", render_kw={"inputmode": "decimal"})
    tied = BooleanField("Together with the one before")


class QuestionForm(Form):  # type: ignore[misc]
    """One question. was: its id when the page was made. rest: what no field holds."""

    text = TextAreaField("Question", render_kw={"rows": 2})
    help = TextAreaField("Help", render_kw={"rows": 1}, description="Stands under the question. May be left out.")
    id = StringField("Name", description="The name of its column: letters, digits and _.")
    type = SelectField("Kind of answer", validate_choice=False)
    options = TextAreaField("Options, one a line", render_kw={"rows": 4})
    exclusive = TextAreaField(
        "Options that go with no other one, one a line", render_kw={"rows": 2}, description="Such as “I do not know”. May be left out."
    )
    none = StringField("Option for none of them", description="It takes the place of the page’s own “None of these”. May be left out.")
    scores = StringField("Scores", description="A rising number for each option, with commas; 1, 2, 3 … if left out.")
    low = StringField("Least", render_kw={"inputmode": "decimal"})
    high = StringField("Greatest", render_kw={"inputmode": "decimal"})
    levels = StringField("Levels", description="Only where you want the share of each level: the mean is then less precise.")
    bins = TextAreaField("Or bins, one a line", render_kw={"rows": 3}, description="Each from its number on: “30: 30 to 59”.")
    optional = BooleanField(
        "People may prefer not to say",
        description="Randomized like any answer, which takes more people: for yes or no about a fifth at ε ln 9, half at ln 3.",
    )
    joined = SelectField("It is asked if", validate_choice=False)
    conditions = FieldList(FormField(ConditionForm))
    section_title = TextAreaField("A section begins here, with the title", render_kw={"rows": 1}, description="It goes up to the next one.")
    section_note = TextAreaField("Note under the title", render_kw={"rows": 2})
    weight = StringField("Weight", description="How much of the survey’s epsilon it takes beside the others; 1 if left out.")
    epsilon = StringField("Epsilon of its own", description="Where the survey has none for all.")
    was = HiddenField()
    rest = HiddenField()
    words = FieldList(FormField(WordsForm))


class LanguageForm(Form):  # type: ignore[misc]
    """The survey's texts in another language."""

    tag = StringField("Language")
    title = TextAreaField(LABELS["title"], render_kw={"rows": 1})
    about = TextAreaField(LABELS["about"], render_kw={"rows": 3})
    contact = TextAreaField(LABELS["contact"], render_kw={"rows": 1})
    ethics = TextAreaField(LABELS["ethics"], render_kw={"rows": 1})
    thanks = TextAreaField(LABELS["thanks"], render_kw={"rows": 1})
    closed = TextAreaField(LABELS["closed"], render_kw={"rows": 1})


class EditorForm(FlaskForm):  # type: ignore[misc]
    """A whole draft. revision: of the text that the page was made from. Make one with `filled`, or from what was sent."""

    title = TextAreaField(LABELS["title"], render_kw={"rows": 1})
    id = StringField("Name in its address", description="a to z, digits, - and _. It stays when the survey is published.")
    about = TextAreaField(LABELS["about"], render_kw={"rows": 4}, description="The first that respondents read.")
    contact = TextAreaField(LABELS["contact"], render_kw={"rows": 1}, description="Whom respondents can ask.")
    ethics = TextAreaField(LABELS["ethics"], render_kw={"rows": 1}, description="Who approved the survey, under which number.")
    thanks = TextAreaField(LABELS["thanks"], render_kw={"rows": 2}, description="When the record has arrived, after our own thanks.")
    closed = TextAreaField(LABELS["closed"], render_kw={"rows": 2}, description="To whoever comes too late.")
    return_link = StringField("Link at the end", description="The same for everybody: the address that a panel such as Prolific gives you.")
    epsilon = StringField("Epsilon", description="What one person’s record may give away: a number, or “ln 9”. Less is more private.")
    ask = StringField("Ask each person only so many questions", description="Drawn at random on their device; all if left out.")
    batch = StringField("Count records so many at a time", description="10 if left out; 1 to try a survey alone.")
    groups = TextAreaField("Groups, one a line", render_kw={"rows": 3}, description="Public: sent openly with each record.")
    access = SelectField("Who may answer", validate_choice=False)
    layout = SelectField("Layout", validate_choice=False)
    language = StringField("Language of the texts", description="en if left out.")
    accept_high_epsilon = BooleanField("Epsilon may be above 8: respondents are told how weakly they are protected")
    rest = HiddenField()
    languages = FieldList(FormField(LanguageForm))
    questions = FieldList(FormField(QuestionForm))
    new_language = StringField("Another language", description="Its tag: de, ar, pt-BR.")
    n = IntegerField("How many people may answer?", [people()], default=PLANNED)
    revision = HiddenField()

    @classmethod
    def filled(cls, fields: Fields, n: int, revision: str) -> EditorForm:
        """The form with these fields in it, whatever was sent."""
        return cls(formdata=None, data={**fields, "n": n, "revision": revision}).with_choices()

    def with_choices(self) -> EditorForm:
        """The same, with what may be chosen for each question: the types, and the questions before it."""
        self.access.choices, self.layout.choices = ACCESS, LAYOUT
        earlier: dict[str, QuestionForm] = {}
        for entry in self.questions:
            one = entry.form
            types = [(name, kind.title) for name, kind in TYPES.items()]
            one.type.choices = types if one.type.data in TYPES else [(one.type.data, one.type.data or "choose one"), *types]
            one.joined.choices = JOINED
            for row in one.conditions:
                named = row.form.question.data
                asked = dict.fromkeys([*earlier, *([named] if named else [])])
                row.form.question.choices = [("", "everybody is asked"), *((name, name) for name in asked)]
                row.form.asked = earlier.get(named)
            earlier |= {one.id.data: one} if one.id.data else {}
        return self

    @property
    def labels(self) -> dict[str, str]:
        """What each field is called, by its id without the numbers."""
        kinds: dict[str, Form] = {"questions-words-": WordsForm(), "questions-conditions-": ConditionForm(), "questions-": QuestionForm()}
        forms: dict[str, Form] = {**kinds, "languages-": LanguageForm(), "": self}
        return {f"{before}{field.short_name}": field.label.text for before, form in forms.items() for field in form}

    @property
    def fields(self) -> Fields:
        """What stands in the form: browsers send lines that end in two characters."""
        found = {key: _plain(value) for key, value in self.data.items() if key not in _OWN}
        for question in found["questions"]:
            question["conditions"] = question["conditions"] or [dict(BLANK)]  # no page of ours sends none
        return found


MOST = {"questions": MOST_QUESTIONS, "languages": 50, "words": 50, "conditions": CONDITIONS + 1}
"""How many there are of each in a form, or in a question of it: what makes fields takes time and room for each of them."""

_PLACE = re.compile(r"(?:^|-)(questions|languages|words|conditions)-(\d{1,9})(?=-)")


def too_many(names: Iterable[str]) -> str:
    """What there is too much of among the fields that were sent, in words; empty for what one of these forms can have."""
    found: dict[tuple[str, str], set[str]] = {}
    for name in names:
        for place in _PLACE.finditer(name):
            found.setdefault((place[1], name[: place.start(1)]), set()).add(place[2])
    kinds = [kind for (kind, _), numbers in found.items() if len(numbers) > MOST[kind]]
    return f"a form holds at most {MOST[kinds[0]]} {kinds[0]}: write more of them in the source" if kinds else ""


KEYS = {name: {*kind.required_keys, *kind.optional_keys} for name, kind in TYPES.items()}
"""The keys that a question of each type may have and others have not: which fields are shown."""

_OWN = ("csrf_token", "new_language", "n", "revision")


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    return value.replace("\r\n", "\n") if isinstance(value, str) else value or ""
