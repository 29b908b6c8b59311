"""Forms of sharing: a person or a team, and a role in a draft or none."""

from __future__ import annotations

from flask_wtf import FlaskForm
from wtforms import SelectField, StringField, SubmitField
from wtforms.validators import InputRequired, Length

from deniable_server.store.draft_roles import DRAFT_ROLES

_WORDS = [*(role.word for role in DRAFT_ROLES), "none"]
_NAME = [InputRequired("Enter a name."), Length(max=64)]
_KEYWORDS = {"autocomplete": "off"}


class ShareForm(FlaskForm):
    """The name of an account, and a role or none."""

    user = StringField("Name of the account", _NAME, render_kw=_KEYWORDS)
    role = SelectField("Role", choices=_WORDS)
    submit = SubmitField("Give role")


class TeamShareForm(FlaskForm):
    """The name of a team, and a role or none."""

    team = StringField("Name of the team", _NAME, id="team-name", render_kw=_KEYWORDS)
    role = SelectField("Role", choices=_WORDS, id="team-role")
    submit = SubmitField("Give role", id="team-submit")
