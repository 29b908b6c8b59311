"""Forms of a survey: members, settings, deletion."""

from __future__ import annotations

import hashlib
from datetime import date
from decimal import Decimal
from typing import Any

from flask_wtf import FlaskForm
from wtforms import (
    DateTimeLocalField,
    HiddenField,
    SelectField,
    StringField,
    SubmitField,
)
from wtforms.validators import InputRequired, Length, Optional

from deniable_server.pages.forms import Between, DayField, NumberField, WholeField, people
from deniable_server.store.life import EARLY, ORDER, OVER, PAST, TWICE, Settings, SettingsError, revised
from deniable_server.store.moments import MOMENTS, in_utc, in_zone, offered_zones, zones
from deniable_server.store.roles import Role

_DAYS = ("close_on", "delete_on")
_DAY_RULES = {
    PAST: "Enter a day that is not over yet.",
    EARLY: "Enter a day after the last day for answers.",
    OVER: "Enter a time in the future.",
    ORDER: "Enter a time after the opening.",
    TWICE: "Enter a last day or a closing time, not both.",
}
_MINUTE = ["%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M"]


class MemberForm(FlaskForm):
    """The name of an account, and a role or none."""

    user = StringField("Name of the account", [InputRequired("Enter a name."), Length(max=64)], render_kw={"autocomplete": "off"})
    role = SelectField("Role", choices=[*(role.word for role in Role), "none"])
    submit = SubmitField("Give role")


class TeamRoleForm(FlaskForm):
    """The name of a team, and a role or none."""

    team = StringField("Name of the team", [InputRequired("Enter a name."), Length(max=64)], render_kw={"autocomplete": "off"})
    role = SelectField("Role", choices=[*(role.word for role in Role), "none"], id="team-role")
    submit = SubmitField("Give role", id="team-submit")


class SettingsForm(FlaskForm):
    """Settings of a survey; an empty field is no value. `of` creates the form, `read` returns its settings."""

    points = NumberField("Target precision (± points)", places=None, validators=[Between(0.1, 50, "Enter points from 0.1 to 50.")])
    expected = WholeField("Expected respondents", [Optional(), people()])
    least = WholeField("Hide results until this many records", [people()])
    zone = SelectField("Time zone", choices=offered_zones())
    opens_at = DateTimeLocalField("Open at", [Optional()], format=_MINUTE)
    closes_at = DateTimeLocalField("Close at", [Optional()], format=_MINUTE)
    close_on = DayField("Last day for answers (UTC)", [Optional()])
    close_at = WholeField("Close at this many records", [Optional(), people()])
    delete_on = DayField("Delete records on", [Optional()])
    revision = HiddenField()  # of the settings that the page shows
    save = SubmitField("Save")

    @classmethod
    def of(cls, settings: Settings) -> SettingsForm:
        """Returns the form with the request's values, or with the stored settings."""
        form = cls(**_entered(settings), revision=_revision(settings))
        form.zone.choices = sorted({*offered_zones(), settings.zone})
        return form

    def is_outdated(self, current: Settings) -> bool:
        """Returns whether other settings were saved after the page was loaded."""
        return bool(self.revision.data) and self.revision.data != _revision(current)

    def rebase(self, current: Settings) -> list[str]:
        """Moves the form to the current revision and returns the stored values that differ, with the fields' labels."""
        self.revision.data = _revision(current)
        differing = {name: value for name, value in _entered(current).items() if self[name].data != value}
        return [f"{self[name].label.text}: {'nothing' if value is None else value}" for name, value in differing.items()]

    def read(self, before: Settings, today: str) -> Settings | None:
        """Returns the settings of a validated form, or None if fields have errors. Also checks the days."""
        days = {name: value and value.isoformat() for name in _DAYS for value in (getattr(self, name).data,)}
        days |= self._moments()
        try:
            revised(before, today, days)  # first, so that errors in days and in numbers are shown together
        except SettingsError as error:
            for name, rule in error.problems.items():
                getattr(self, name).errors = [_DAY_RULES[rule]]
        if self.errors:
            return None
        numbers = {"half_width": float(self.points.data) / 100, "expected": self.expected.data, "least": self.least.data}
        return revised(before, today, {**numbers, "close_at": self.close_at.data, "zone": self.zone.data, **days})

    def _moments(self) -> dict[str, str | None]:
        """Returns the opening and the closing in UTC; a time that does not occur is an error of its field."""
        moments: dict[str, str | None] = {}
        for name, which in MOMENTS.items():
            field = self[name]
            try:
                moments[name] = in_utc(field.data, self.zone.data, which) if field.data and self.zone.data in zones() else None
            except ValueError:
                field.errors = ["Enter a time that occurs in this zone: clocks go forward over it."]
                moments[name] = None
        return moments


def _entered(settings: Settings) -> dict[str, Any]:
    """Returns the values of the form's fields for some settings."""
    days: dict[str, Any] = {name: value and date.fromisoformat(value) for name in _DAYS for value in (getattr(settings, name),)}
    numbers = {name: getattr(settings, name) for name in ("expected", "least", "close_at")}
    for name in MOMENTS:
        moment = getattr(settings, name)
        days[name] = in_zone(moment, settings.zone).replace(tzinfo=None) if moment else None
    days["zone"] = settings.zone
    return {"points": Decimal(f"{100 * settings.half_width:g}"), **numbers, **days}


def _revision(settings: Settings) -> str:
    """Returns the revision of the settings that the form shows."""
    return hashlib.sha256(repr(sorted(_entered(settings).items())).encode()).hexdigest()[:32]


class DeletionForm(FlaskForm):
    """Confirmation of the deletion of all records: the person must type the survey's id."""

    survey = StringField("Type the survey's id", [InputRequired("Type the id."), Length(max=64)], render_kw={"autocomplete": "off"})
