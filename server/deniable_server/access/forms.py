"""Form for new invitation codes."""

from __future__ import annotations

from flask_wtf import FlaskForm
from wtforms import SelectField, SubmitField

from deniable_server.access.invitations import MOST_CODES
from deniable_server.pages.forms import Between, WholeField


class CodesForm(FlaskForm):
    """The number, the group and the format of new codes."""

    count = WholeField("How many codes?", [Between(1, MOST_CODES, f"Enter a whole number from 1 to {MOST_CODES:,}.")])
    group = SelectField("For which group?", validate_choice=True)
    csv = SubmitField("Download as CSV")
    sheet = SubmitField("Show a sheet to print")
    letters = SubmitField("Write to people")
