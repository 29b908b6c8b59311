"""Forms of teams, and the rule for their names."""

from __future__ import annotations

import unicodedata

from flask_wtf import FlaskForm
from wtforms import SelectField, StringField, SubmitField
from wtforms.validators import InputRequired, Length

from deniable.survey import lookalikes
from deniable_server.identity.names import LONGEST, check_name
from deniable_server.store.protocol import Store


class TeamForm(FlaskForm):
    """The name of a new team."""

    name = StringField("Name", [InputRequired("Enter a name."), Length(max=LONGEST)], render_kw={"autocomplete": "off"})
    submit = SubmitField("Create team")


class TeamMemberForm(FlaskForm):
    """An account, and its role in the team or none."""

    user = StringField("Name of the account", [InputRequired("Enter a name."), Length(max=LONGEST)], render_kw={"autocomplete": "off"})
    kind = SelectField("Role", choices=["member", "manager", "none"])
    submit = SubmitField("Save")


def check_team_name(store: Store, text: str) -> str:
    """Returns the name of a new team, without blanks at its ends.

    Raises:
        ValueError: The name is invalid, or looks like the name of another team.
    """
    name = check_name("the name", text)
    if name != " ".join(unicodedata.normalize("NFC", name).split()):
        raise ValueError("the name must be of composed characters (NFC), with single spaces")
    if hidden := lookalikes.first_invisible(name):
        raise ValueError(f"the name must have no invisible characters, got {hidden}")
    if any(lookalikes.skeletons(name) & lookalikes.skeletons(team.name) for team in store.teams.all()):
        raise ValueError("the name must not look like the name of another team")
    return name
