"""Editor form of a draft: a field for each key of a survey, its questions and its languages."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from flask_wtf import FlaskForm
from wtforms import BooleanField, FieldList, Form, FormField, HiddenField, IntegerField, SelectField, StringField, TextAreaField

from deniable.survey.condition import MOST as CONDITIONS
from deniable.survey.parse import LOGO, MAX_LOGO
from deniable.survey.rating import MAX_ITEMS
from deniable_server.drafts.editor.conditions import BLANK
from deniable_server.drafts.editor.draft_text import MOST_QUESTIONS
from deniable_server.drafts.editor.known_keys import has_items, kinds_of_answers, question_keys
from deniable_server.drafts.editor.notes import MOST_CHARACTERS
from deniable_server.drafts.editor.shapes import Fields, parse_items, shorten
from deniable_server.pages.forms import people

LABELS = {
    "title": "Title",
    "about": "Introduction: who you are and why you ask",
    "institution": "Institution",
    "contact": "Contact",
    "ethics": "Ethics approval",
    "thanks": "Thank-you message",
    "closed": "Message after closing",
}
ACCESS = [("open", "anyone with the link"), ("invited", "anyone with a one-time code")]
RELEASE = [
    ("", "the default: codes, at the close; no codes, daily"),
    ("close", "all together when the survey closes"),
    ("daily", "once a day at most"),
]
RESULTS = [("private", "for the researchers"), ("public", "public: a page shows them to everyone")]
LAYOUT = [("list", "all questions on one page"), ("steps", "one question a page")]
ORDER = [("", "as written"), ("random", "random for each person"), ("rotate", "rotated: a random one first, then in turn")]
JOINED = [("all", "all of these conditions hold"), ("any", "any of these conditions holds")]
PLANNED = 1_000  # people, by default
SCALES = ("scale", "rating")
_MOST_OF_TEXT = 40  # characters of a question's text in a list of questions
_NAMES, _FEWEST_NAMES = 20_000, 20  # in all lists of earlier questions of a form, and in each: the nearest ones
_SCALES_SHOWN = 30  # in a hint


class WordsForm(Form):
    """A question in another language."""

    text = TextAreaField("Question", render_kw={"rows": 2})
    help = TextAreaField("Help", render_kw={"rows": 1})
    options = TextAreaField("Options, one a line", render_kw={"rows": 3})
    items = TextAreaField("Items, one a line", render_kw={"rows": 4}, description="In the same order, with or without their names.")
    section_title = TextAreaField("Section title", render_kw={"rows": 1})
    section_note = TextAreaField("Section note", render_kw={"rows": 2})


class ConditionForm(Form):
    """A condition on an earlier question. `tied` says whether it belongs to the previous condition."""

    question = SelectField("Show only after an answer to", validate_choice=False)
    answers = TextAreaField("which is one of (one a line)", render_kw={"rows": 2})
    score = StringField("Or the sum of the scores of")
    count = StringField("Or how many of these have one of the answers above")
    at_least = StringField("At least", render_kw={"inputmode": "decimal"})
    below = StringField("Below", render_kw={"inputmode": "decimal"})
    tied = BooleanField("Together with the previous condition")


class QuestionForm(Form):
    """A question.

    `was` is its id when the page was loaded, `was_items` are the ids of its items; `rest` has the keys without a field, as JSON.
    """

    text = TextAreaField("Question", render_kw={"rows": 2})
    help = TextAreaField("Help", render_kw={"rows": 1}, description="Shown under the question. Optional.")
    id = StringField("Name", description="The column name: letters, digits and _.")
    type = SelectField("Kind of answer", validate_choice=False)
    options = TextAreaField("Options, one a line", render_kw={"rows": 4})
    exclusive = TextAreaField(
        "Options that exclude all others, one a line",
        render_kw={"rows": 2},
        description="Such as “I do not know”. Write them among the options, too. Optional.",
    )
    none = StringField(
        "Option for none of them",
        description="Write it among the options, too. It replaces the page’s own “None of these”. Optional.",
    )
    scores = StringField("Scores", description="Increasing numbers, one for each option, with commas. Default: 1, 2, 3 …")
    low = StringField("Minimum", render_kw={"inputmode": "decimal"})
    high = StringField("Maximum", render_kw={"inputmode": "decimal"})
    levels = StringField("Levels", description="Only if you need the share of each level. The mean is then less precise.")
    bins = TextAreaField("Or bins, one a line", render_kw={"rows": 3}, description="Start, colon, name: “30: 30 to 59”.")
    items = TextAreaField(
        "Items, one a line",
        render_kw={"rows": 4},
        description="Each line gets a name. To choose it, write name, colon, text: “sleep: I slept well”.",
    )
    order = SelectField("Order of the options", validate_choice=False)
    other = BooleanField("Add the option “Other”")
    optional = BooleanField(
        "People may prefer not to say",
        description="It is randomized like any answer, so you need more people: for yes or no about a fifth more at ε ln 9, half at ln 3.",
    )
    joined = SelectField("Show the question if", validate_choice=False)
    conditions = FieldList(FormField(ConditionForm))
    section_title = TextAreaField("Section title", render_kw={"rows": 1}, description="The section ends where the next one starts.")
    section_note = TextAreaField("Section note", render_kw={"rows": 2})
    weight = StringField("Weight", description="Its share of the survey’s epsilon, relative to the other questions. Default: 1.")
    epsilon = StringField("Epsilon", description="Only if the survey has no epsilon.")
    was = HiddenField()
    was_items = HiddenField()
    rest = HiddenField()
    words = FieldList(FormField(WordsForm))


class EarlierAnswer(NamedTuple):
    """An answer that a condition can name: to a question, or to an item of a rating block.

    Attributes:
        label: Its id and its text, shortened.
        question: The question that it is part of.
    """

    label: str
    question: QuestionForm


def answers_of(question: QuestionForm) -> dict[str, EarlierAnswer]:
    """Returns the answers to a question that a later condition can name, by id: one for each item of a rating block."""
    name, text = question.id.data or "", question.text.data or ""
    texts = {name: text}
    if has_items(question.type.data or ""):
        texts = {item["id"]: item["text"] for item in parse_items(question.items.data or "")[:MAX_ITEMS] if "id" in item}
    return {
        name: EarlierAnswer(f"{name}: {shorten(text, _MOST_OF_TEXT)}" if text.strip() else name, question)
        for name, text in texts.items()
        if name
    }


class LanguageForm(Form):
    """The survey's texts in another language."""

    tag = StringField("Language")
    title = TextAreaField(LABELS["title"], render_kw={"rows": 1})
    about = TextAreaField(LABELS["about"], render_kw={"rows": 3})
    institution = TextAreaField(LABELS["institution"], render_kw={"rows": 1})
    contact = TextAreaField(LABELS["contact"], render_kw={"rows": 1})
    ethics = TextAreaField(LABELS["ethics"], render_kw={"rows": 1})
    thanks = TextAreaField(LABELS["thanks"], render_kw={"rows": 1})
    closed = TextAreaField(LABELS["closed"], render_kw={"rows": 1})


class EditorForm(FlaskForm):
    """The editor form of a draft, created by `filled` or from a request. `revision` is of the text that the page shows."""

    title = TextAreaField(LABELS["title"], render_kw={"rows": 1})
    id = StringField("Short name for the link", description="a to z, digits, - and _. It cannot be changed after publishing.")
    about = TextAreaField(LABELS["about"], render_kw={"rows": 4}, description="Respondents read this first.")
    institution = TextAreaField(LABELS["institution"], render_kw={"rows": 1}, description="Its name, above the title.")
    logo = StringField("Logo")
    contact = TextAreaField(LABELS["contact"], render_kw={"rows": 1}, description="The person that respondents can ask.")
    ethics = TextAreaField(LABELS["ethics"], render_kw={"rows": 1}, description="The board that approved the survey, and the number.")
    thanks = TextAreaField(
        LABELS["thanks"], render_kw={"rows": 2}, description="Shown when the record has arrived, after the standard thanks."
    )
    closed = TextAreaField(LABELS["closed"], render_kw={"rows": 2}, description="Shown to people who come too late.")
    return_link = StringField("Link at the end", description="The address that a panel such as Prolific gives you, the same for everybody.")
    epsilon = StringField("Epsilon", description="The most that a record can reveal: a number, or “ln 9”. Less is more private.")
    ask = StringField("Questions for each person", description="Selected at random on their device. Default: all.")
    release = SelectField("Show records", validate_choice=False)
    results = SelectField("Results", validate_choice=False)
    batch = StringField("Records shown together, at least", description="Default: 10. A group is shown from this number on, too.")
    groups = TextAreaField("Groups, one a line", render_kw={"rows": 3}, description="Not protected: each record openly names its group.")
    access = SelectField("Who may answer", validate_choice=False)
    layout = SelectField("Layout", validate_choice=False)
    language = StringField("Language of the texts", description="Default: en.")
    order = SelectField("Order of the questions", validate_choice=False)
    accept_high_epsilon = BooleanField("Allow epsilon above 8: respondents read that their protection is weak")
    accept_small_batches = BooleanField("Allow fewer than 10 records shown together: respondents read among how few theirs is")
    rest = HiddenField()
    languages = FieldList(FormField(LanguageForm))
    questions = FieldList(FormField(QuestionForm))
    new_language = StringField("Another language", description="A language tag, such as de, ar or pt-BR.")
    note = TextAreaField(
        "Notes",
        render_kw={"rows": 2, "maxlength": MOST_CHARACTERS},
        description="For you only: respondents never see them. They are the comments of the file.",
    )
    n = IntegerField("How many people may answer?", [people()], default=PLANNED)
    revision = HiddenField()

    @classmethod
    def filled(cls, fields: Fields, n: int, revision: str, note: str = "") -> EditorForm:
        """Returns a form with these fields, independent of the request."""
        return cls(formdata=None, data={**fields, "n": n, "revision": revision, "note": note}).with_choices()

    def with_choices(self) -> EditorForm:
        """Adds the choices of each question (types and earlier questions) and returns the form."""
        self.access.choices, self.layout.choices, self.release.choices, self.order.choices = ACCESS, LAYOUT, RELEASE, ORDER
        self.results.choices = RESULTS
        types = kinds_of_answers()
        earlier: dict[str, EarlierAnswer] = {}
        most = max(_FEWEST_NAMES, _NAMES // (1 + sum(len(entry.form.conditions) for entry in self.questions)))
        for entry in self.questions:
            question = entry.form
            chosen = question.type.data
            question.type.choices = types if chosen in KEYS else [(chosen, chosen or "choose one"), *types]
            question.joined.choices, question.order.choices = JOINED, ORDER
            nearest = {name: answer.label for name, answer in [*earlier.items()][-most:]}
            scales = [name for name, answer in earlier.items() if answer.question.type.data in SCALES][-_SCALES_SHOWN:]
            for row in question.conditions:
                target = row.form.question.data
                choices = nearest if not target or target in nearest else {**nearest, target: target}
                row.form.question.choices = [("", "no condition"), *choices.items()]
                row.form.depends_on = earlier[target].question if target in earlier else None
                row.form.scales, row.form.has_earlier = scales, bool(earlier)
            earlier |= answers_of(question)
        return self

    logo_bytes = (MAX_LOGO - len("data:image/webp;base64,")) // 4 * 3
    """The most bytes of a logo's file."""

    @property
    def has_picture(self) -> bool:
        """Whether the logo is a picture that the survey can have."""
        return len(self.logo.data or "") <= MAX_LOGO and LOGO.fullmatch(self.logo.data or "") is not None

    @property
    def labels(self) -> dict[str, str]:
        """Labels of the fields, by id without the numbers."""
        kinds: dict[str, Form] = {"questions-words-": WordsForm(), "questions-conditions-": ConditionForm(), "questions-": QuestionForm()}
        forms: dict[str, Form] = {**kinds, "languages-": LanguageForm(), "": self}
        return {f"{before}{field.short_name}": field.label.text for before, form in forms.items() for field in form}

    @property
    def fields(self) -> Fields:
        """The fields' values, with line ends of one character: browsers send two."""
        values = {key: _plain(value) for key, value in self.data.items() if key not in _OWN}
        for question in values["questions"]:
            question["conditions"] = question["conditions"] or [dict(BLANK)]  # the pages send at least one
        return values


MOST = {"questions": MOST_QUESTIONS, "languages": 50, "words": 50, "conditions": CONDITIONS + 1}
"""Limits of a form's lists: each entry takes time and memory."""

_ENTRY = re.compile(r"(?:^|-)(questions|languages|words|conditions)-(\d{1,9})(?=-)")


def too_many(names: Iterable[str]) -> str:
    """Returns a message about the first list above its limit, or an empty text."""
    lists: dict[tuple[str, str], set[str]] = {}
    for name in names:
        for entry in _ENTRY.finditer(name):
            lists.setdefault((entry[1], name[: entry.start(1)]), set()).add(entry[2])
    kinds = [kind for (kind, _), numbers in lists.items() if len(numbers) > MOST[kind]]
    return f"a form must have at most {MOST[kinds[0]]} {kinds[0]}: add more in the source" if kinds else ""


KEYS = question_keys()
"""The keys of each question type, whose fields are visible."""

_OWN = ("csrf_token", "new_language", "n", "revision", "note")


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(entry) for entry in value]
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    return value.replace("\r\n", "\n") if isinstance(value, str) else value or ""
