"""Forms of a survey: members, settings, deletion."""

from __future__ import annotations

import hashlib
from datetime import date
from decimal import Decimal
from typing import Any

from flask_wtf import FlaskForm
from wtforms import (
    HiddenField,
    SelectField,
    StringField,
    SubmitField,
)
from wtforms.validators import InputRequired, Length, Optional

from deniable_server.pages.forms import Between, DayField, NumberField, WholeField, people
from deniable_server.store.life import EARLY, PAST, Settings, SettingsError, revised
from deniable_server.store.roles import Role

_DAYS = ("close_on", "delete_on")
_DAY_RULES = {PAST: "Enter a day that is not over yet.", EARLY: "Enter a day after the last day for answers."}


class MemberForm(FlaskForm):  # type: ignore[misc]
    """Somebody's name, and a role or none."""

    user = StringField("Name of the account", [InputRequired("Enter a name."), Length(max=64)], render_kw={"autocomplete": "off"})
    role = SelectField("Role", choices=[*(role.word for role in Role), "none"])
    submit = SubmitField("Give the role")


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
