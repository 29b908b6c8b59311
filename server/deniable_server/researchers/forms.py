"""The forms that researchers fill in. Each has a token that says the page was ours."""

from __future__ import annotations

from flask_wtf import FlaskForm
from wtforms import PasswordField, StringField, SubmitField
from wtforms.validators import InputRequired, Length


class LoginForm(FlaskForm):  # type: ignore[misc]
    """Name and password; lengths are capped so that hashing cannot be made slow."""

    user = StringField("Name", [InputRequired("Enter your name."), Length(max=64)], render_kw={"autocomplete": "username"})
    password = PasswordField(
        "Password", [InputRequired("Enter your password."), Length(max=256)], render_kw={"autocomplete": "current-password"}
    )
    submit = SubmitField("Log in")


class ActionForm(FlaskForm):  # type: ignore[misc]
    """A button: nothing but the token that says the page was ours."""
