"""The forms that researchers fill in. Each has a token that says the page was ours."""

from __future__ import annotations

import hashlib
from datetime import date
from decimal import Decimal
from typing import Any

from flask_wtf import FlaskForm
from flask_wtf.file import FileField
from wtforms import (
    BooleanField,
    DateField,
    DecimalField,
    Field,
    Form,
    HiddenField,
    IntegerField,
    PasswordField,
    SelectField,
    StringField,
    SubmitField,
    TextAreaField,
)
from wtforms.validators import EqualTo, InputRequired, Length, NumberRange, Optional, ValidationError

from deniable.extras import available
from deniable_server.researchers.invitations import MOST_CODES
from deniable_server.researchers.names import LONGEST, readable
from deniable_server.researchers.numbers import decimal, whole
from deniable_server.researchers.passwords import LENGTHS
from deniable_server.store.life import EARLY, MOST, PAST, Settings, SettingsError, require_day, revised
from deniable_server.store.roles import Role

MOST_PEOPLE = MOST
_CODE = {"autocomplete": "one-time-code", "spellcheck": "false", "autocapitalize": "none"}
_PASSWORD = Length(LENGTHS[0], LENGTHS[-1], f"A password has {LENGTHS[0]} to {LENGTHS[-1]} characters.")


_DAYS = ("close_on", "delete_on")
_DAY_RULES = {PAST: "Enter a day that is not over yet.", EARLY: "Enter a day after the last day for answers."}


class Between(NumberRange):  # type: ignore[misc]
    """The same for whatever is a number in Python: some are too large to be compared as it does, and one Decimal is not even that."""

    def __call__(self, form: Form, field: Field) -> None:
        try:
            super().__call__(form, field)
        except ValidationError:
            raise
        except (ValueError, OverflowError) as error:
            raise ValidationError(self.message) from error


def _readable(written: str) -> str:
    """Returns the name that `names.readable` makes of it. Raises ValidationError where that refuses it."""
    try:
        return readable("the name", written)
    except ValueError:
        raise ValidationError("Choose a name of letters, digits and signs that can be printed.") from None


class WholeField(IntegerField):  # type: ignore[misc]
    """A whole number, as `numbers.whole` reads it for commands, too."""

    def process_formdata(self, valuelist: list[str]) -> None:
        """Reads what was sent."""
        self.data: Any = None
        if valuelist:
            self.data = whole(valuelist[0])


class NumberField(DecimalField):  # type: ignore[misc]
    """A number, as `numbers.decimal` reads it for commands, too."""

    def process_formdata(self, valuelist: list[str]) -> None:
        """Reads what was sent."""
        self.data: Any = None
        if valuelist:
            self.data = decimal(valuelist[0])


class DayField(DateField):  # type: ignore[misc]
    """A day, as `life.require_day` takes it from commands, too."""

    def process_formdata(self, valuelist: list[str]) -> None:
        """Reads what was sent."""
        self.data: Any = None
        if valuelist:
            try:
                require_day(self.name, valuelist[0])
            except ValueError:
                raise ValueError(self.gettext("Not a valid date value.")) from None
            self.data = date.fromisoformat(valuelist[0])


def people() -> Between:
    """How many people: 1 or more, and no more than the planner knows."""
    return Between(1, MOST_PEOPLE, "Enter a whole number, 1 or more.")


class LoginForm(FlaskForm):  # type: ignore[misc]
    """Name and password; lengths are capped so that hashing cannot be made slow."""

    user = StringField("Name", [InputRequired("Enter your name."), Length(max=64)], render_kw={"autocomplete": "username"})
    password = PasswordField(
        "Password", [InputRequired("Enter your password."), Length(max=256)], render_kw={"autocomplete": "current-password"}
    )
    submit = SubmitField("Log in")


class _NewPassword(FlaskForm):  # type: ignore[misc]
    """A password that somebody chooses, written twice."""

    password = PasswordField(
        "Choose a password", [InputRequired("Choose a password."), _PASSWORD], render_kw={"autocomplete": "new-password"}
    )
    again = PasswordField(
        "The same password again",
        [EqualTo("password", "Write the same password twice: these two differ.")],
        render_kw={"autocomplete": "new-password"},
    )


class JoinForm(_NewPassword):
    """The name and password of a new account."""

    user = StringField(
        "Name",
        [InputRequired("Choose a name."), Length(1, LONGEST, f"Choose a name of 1 to {LONGEST} characters.")],
        filters=[lambda name: name.strip(" ") if name else name],
        render_kw={"autocomplete": "username"},
    )
    submit = SubmitField("Make the account")

    def validate_user(self, field: StringField) -> None:
        """Refuses what cannot be read in a list."""
        field.data = _readable(field.data)


class PasswordForm(_NewPassword):
    """Another password for an account, which has to say the one that it has."""

    current = PasswordField(
        "Your password now", [InputRequired("Enter your password."), Length(max=256)], render_kw={"autocomplete": "current-password"}
    )
    submit = SubmitField("Change it")


class MemberForm(FlaskForm):  # type: ignore[misc]
    """Somebody's name, and a role or none."""

    user = StringField("Name of the account", [InputRequired("Enter a name."), Length(max=64)], render_kw={"autocomplete": "off"})
    role = SelectField("Role", choices=[*(role.word for role in Role), "none"])
    submit = SubmitField("Give the role")


class ConfirmForm(FlaskForm):  # type: ignore[misc]
    """An act that asks for the password once more."""

    current = PasswordField(
        "Your password", [InputRequired("Enter your password."), Length(max=256)], render_kw={"autocomplete": "current-password"}
    )


class FactorForm(ConfirmForm):
    """A new second factor: its secret, and a code that proves that the app has it."""

    secret = HiddenField()
    code = StringField("Code of the app", [InputRequired("Enter the code that the app shows."), Length(max=20)], render_kw=_CODE)


class PasskeyForm(ConfirmForm):
    """A new passkey: its name, and the answer of the browser that made it."""

    name = StringField("What to call it", [InputRequired("Give the passkey a name."), Length(max=64)], render_kw={"autocomplete": "off"})
    credential = HiddenField()

    def validate_name(self, field: StringField) -> None:
        """Refuses what cannot be read in a list."""
        field.data = _readable(field.data)


class CodeForm(FlaskForm):  # type: ignore[misc]
    """A code of the app, or a recovery code; or the answer of a passkey."""

    code = StringField("Code", [InputRequired("Enter a code."), Length(max=64)], render_kw=_CODE)
    credential = HiddenField()
    submit = SubmitField("Log in")


class ActionForm(FlaskForm):  # type: ignore[misc]
    """A button: nothing but the token that says the page was ours."""


class SettingsForm(FlaskForm):  # type: ignore[misc]
    """How a survey is to be run; what is left empty is nothing. Make one with `of`; `read` gives the settings that it says."""

    points = NumberField("Points either way that are wanted", places=None, validators=[Between(0.1, 50, "Enter points from 0.1 to 50.")])
    expected = WholeField("People expected to answer", [Optional(), people()])
    least = WholeField("Show estimates from so many records on", [people()])
    close_on = DayField("Last day for answers, in UTC", [Optional()])
    close_at = WholeField("Close with so many records", [Optional(), people()])
    delete_on = DayField("Delete its records on", [Optional()])
    revision = HiddenField()  # of the settings that the page was made from
    save = SubmitField("Save")

    @classmethod
    def of(cls, settings: Settings) -> SettingsForm:
        """The form with what was sent, else with what is kept."""
        return cls(**_entered(settings), revision=_revision(settings))

    def older(self, kept: Settings) -> bool:
        """Whether the page was made before others were saved."""
        return bool(self.revision.data) and self.revision.data != _revision(kept)

    def meanwhile(self, kept: Settings) -> list[str]:
        """What is kept now and differs from what was sent, by the names of the fields. The form is of that from here on."""
        self.revision.data = _revision(kept)
        differing = {name: value for name, value in _entered(kept).items() if self[name].data != value}
        return [f"{self[name].label.text}: {'nothing' if value is None else value}" for name, value in differing.items()]

    def read(self, before: Settings, today: str) -> Settings | None:
        """The settings, once the form was validated; None where something is wrong, also with the days, which its fields then say."""
        days = {name: value and value.isoformat() for name in _DAYS for value in (getattr(self, name).data,)}
        try:
            revised(before, today, days)  # first, so that mistakes in days and in numbers are shown together
        except SettingsError as error:
            for name, rule in error.problems.items():
                getattr(self, name).errors = [_DAY_RULES[rule]]
        if self.errors:
            return None
        numbers = {"half_width": float(self.points.data) / 100, "expected": self.expected.data, "least": self.least.data}
        return revised(before, today, {**numbers, "close_at": self.close_at.data, **days})


def _entered(settings: Settings) -> dict[str, Any]:
    """What the fields of the form are for these settings."""
    days = {name: value and date.fromisoformat(value) for name in _DAYS for value in (getattr(settings, name),)}
    numbers = {name: getattr(settings, name) for name in ("expected", "least", "close_at")}
    return {"points": Decimal(f"{100 * settings.half_width:g}"), **numbers, **days}


def _revision(settings: Settings) -> str:
    """Names what the form shows of these settings."""
    return hashlib.sha256(repr(sorted(_entered(settings).items())).encode()).hexdigest()[:32]


class DeletionForm(FlaskForm):  # type: ignore[misc]
    """The deletion of all records of a survey, whose id somebody has to write."""

    survey = StringField("Write the survey's id", [InputRequired("Write it here."), Length(max=64)], render_kw={"autocomplete": "off"})


class DraftForm(FlaskForm):  # type: ignore[misc]
    """A survey file, chosen or written, and how many people may answer it."""


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

    file = FileField("A survey file (YAML or JSON)")
    upload = SubmitField("Begin with this file")

    def __init__(self) -> None:
        super().__init__()
        self.accepts = ".yaml,.yml,.json"
        if available("xlsform"):
            self.file.label.text += ", or an XLSForm (.xlsx or .xls)"
            self.accepts += ",.xlsx,.xls"


class SourceForm(_WithFile):
    """A survey file as it is written. revision: of the text that the page was made from."""

    source = TextAreaField("Survey file", render_kw={"rows": 24, "spellcheck": "false", "autocomplete": "off"})
    file = FileField("Or choose a file in its place")
    revision = HiddenField()
    save = SubmitField("Save and check")
    publish = SubmitField("Publish")
    over = SubmitField("Put mine in its place")
    keep = SubmitField("Keep mine as a draft of its own")


class PublishForm(FlaskForm):  # type: ignore[misc]
    """That a draft is to be published. revision: of the text that was asked about; same_title: though another's title looks the same."""

    revision = HiddenField()
    same_title = BooleanField("Publish it with this title")


class CodesForm(FlaskForm):  # type: ignore[misc]
    """How many invitations to make, for whom, and in which form."""

    count = WholeField("How many codes?", [Between(1, MOST_CODES, f"Enter a whole number from 1 to {MOST_CODES:,}.")])
    group = SelectField("For which group?", validate_choice=True)
    csv = SubmitField("Download as CSV")
    sheet = SubmitField("Show a sheet to print")
