"""The forms that researchers fill in. Each has a token that says the page was ours."""

from __future__ import annotations

from flask_wtf import FlaskForm
from flask_wtf.file import FileField
from wtforms import HiddenField, IntegerField, PasswordField, SelectField, StringField, SubmitField, TextAreaField
from wtforms.validators import InputRequired, Length, NumberRange, ValidationError

MOST_PEOPLE = 10**9
MOST_CODES = 100_000


class LoginForm(FlaskForm):  # type: ignore[misc]
    """Name and password; lengths are capped so that hashing cannot be made slow."""

    user = StringField("Name", [InputRequired("Enter your name."), Length(max=64)], render_kw={"autocomplete": "username"})
    password = PasswordField(
        "Password", [InputRequired("Enter your password."), Length(max=256)], render_kw={"autocomplete": "current-password"}
    )
    submit = SubmitField("Log in")


class ActionForm(FlaskForm):  # type: ignore[misc]
    """A button: nothing but the token that says the page was ours."""


class _WithFile(FlaskForm):  # type: ignore[misc]
    """A form whose file is read in the place of what is written in its field `source`."""

    source: TextAreaField
    file: FileField

    def validate_file(self, field: FileField) -> None:
        if not field.data:
            return
        try:
            self.source.data = field.data.read().decode("utf-8-sig")
        except UnicodeDecodeError:
            raise ValidationError("Save the file as UTF-8 text: this one is not.") from None

    def text(self) -> str:
        """The survey as it is to be read: browsers send lines that end in two characters."""
        return (self.source.data or "").replace("\r\n", "\n")


class BeginForm(FlaskForm):  # type: ignore[misc]
    """What a draft begins with: a file, a topic, or nothing."""

    file = FileField("A survey file (YAML or JSON), or an XLSForm (.xlsx or .xls)")
    upload = SubmitField("Begin with this file")


class SourceForm(_WithFile):
    """A survey file as it is written. revision: of the text that the page was made from."""

    source = TextAreaField("Survey file", render_kw={"rows": 24, "spellcheck": "false", "autocomplete": "off"})
    file = FileField("Or choose a file in its place")
    revision = HiddenField()
    save = SubmitField("Save and check")
    publish = SubmitField("Publish")
    over = SubmitField("Put mine in its place")
    keep = SubmitField("Keep mine as a draft of its own")


class CodesForm(FlaskForm):  # type: ignore[misc]
    """How many invitations to make, for whom, and in which form."""

    count = IntegerField("How many codes?", [NumberRange(1, MOST_CODES, f"Enter a whole number from 1 to {MOST_CODES:,}.")])
    group = SelectField("For which group?", validate_choice=True)
    csv = SubmitField("Download as CSV")
    sheet = SubmitField("Show a sheet to print")
