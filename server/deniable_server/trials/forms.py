"""Forms of test runs."""

from __future__ import annotations

from flask_wtf import FlaskForm
from wtforms.validators import InputRequired

from deniable_server.pages.forms import Between, WholeField
from deniable_server.results.simulated import MOST

PEOPLE = 1_000


class SimulationForm(FlaskForm):
    """The number of simulated people. Their shares are in fields of their own (`shares.field_of`)."""

    n = WholeField("Number of people", [InputRequired(), Between(1, MOST, f"Enter a whole number from 1 to {MOST:,}.")], default=PEOPLE)
