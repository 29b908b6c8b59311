"""Forms of login, accounts, passwords and second factors."""

from __future__ import annotations

from flask_wtf import FlaskForm
from wtforms import (
    HiddenField,
    PasswordField,
    StringField,
    SubmitField,
)
from wtforms.validators import EqualTo, InputRequired, Length, ValidationError

from deniable_server.identity.names import LONGEST, readable
from deniable_server.identity.passwords import LENGTHS

_CODE = {"autocomplete": "one-time-code", "spellcheck": "false", "autocapitalize": "none"}
_PASSWORD = Length(LENGTHS[0], LENGTHS[-1], f"A password has {LENGTHS[0]} to {LENGTHS[-1]} characters.")


def _readable(written: str) -> str:
    """Returns the name that `names.readable` makes of it. Raises ValidationError where that refuses it."""
    try:
        return readable("the name", written)
    except ValueError:
        raise ValidationError("Choose a name of letters, digits and signs that can be printed.") from None


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
