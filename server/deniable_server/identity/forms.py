"""Forms of login, accounts, passwords and second factors."""

from __future__ import annotations

from flask_wtf import FlaskForm
from wtforms import HiddenField, PasswordField, StringField, SubmitField
from wtforms.validators import EqualTo, InputRequired, Length, ValidationError

from deniable_server.identity.names import LONGEST, check_name
from deniable_server.identity.passwords import LENGTHS

_CODE = {"autocomplete": "one-time-code", "spellcheck": "false", "autocapitalize": "none"}
_PASSWORD = Length(LENGTHS[0], LENGTHS[-1], f"Choose a password of {LENGTHS[0]} to {LENGTHS[-1]} characters.")


def _check_field(field: StringField) -> None:
    """Removes blanks at the ends of a name. Raises ValidationError if the name is invalid."""
    try:
        field.data = check_name("the name", field.data)
    except ValueError:
        raise ValidationError("Enter a name of letters, digits and other printable characters.") from None


class LoginForm(FlaskForm):
    """Name and password; lengths are capped so that hashing cannot be made slow."""

    user = StringField("Name", [InputRequired("Enter your name."), Length(max=64)], render_kw={"autocomplete": "username"})
    password = PasswordField(
        "Password", [InputRequired("Enter your password."), Length(max=256)], render_kw={"autocomplete": "current-password"}
    )
    submit = SubmitField("Log in")


class _NewName(FlaskForm):
    """A new name. Defined before the password: messages come in the order of definition, which is the page's."""

    user = StringField(
        "Name",
        [InputRequired("Choose a name."), Length(1, LONGEST, f"Choose a name of 1 to {LONGEST} characters.")],
        filters=[lambda name: name.strip(" ") if name else name],
        render_kw={"autocomplete": "username"},
    )


class _NewPassword(FlaskForm):
    """A new password, entered twice."""

    password = PasswordField(
        "Choose a password", [InputRequired("Choose a password."), _PASSWORD], render_kw={"autocomplete": "new-password"}
    )
    again = PasswordField(
        "Repeat the password",
        [EqualTo("password", "The passwords differ. Enter the same password twice.")],
        render_kw={"autocomplete": "new-password"},
    )


class SignUpForm(_NewName, _NewPassword):
    """The name and password of a new account."""

    submit = SubmitField("Create account")

    def validate_user(self, field: StringField) -> None:
        """Checks the name."""
        _check_field(field)


class PasswordForm(_NewPassword):
    """A password change, which requires the current password."""

    current = PasswordField(
        "Current password", [InputRequired("Enter your password."), Length(max=256)], render_kw={"autocomplete": "current-password"}
    )
    submit = SubmitField("Change password")


class ConfirmForm(FlaskForm):
    """An act that asks for the password again."""

    current = PasswordField(
        "Your password", [InputRequired("Enter your password."), Length(max=256)], render_kw={"autocomplete": "current-password"}
    )


class FactorForm(ConfirmForm):
    """A new second factor: its secret, and a code that proves that the app has it."""

    secret = HiddenField()
    code = StringField("Code from the app", [InputRequired("Enter the code that the app shows."), Length(max=20)], render_kw=_CODE)


class PasskeyForm(ConfirmForm):
    """A new passkey: its name, and the browser's credential."""

    name = StringField(
        "Name of the passkey", [InputRequired("Enter a name for the passkey."), Length(max=64)], render_kw={"autocomplete": "off"}
    )
    credential = HiddenField()

    def validate_name(self, field: StringField) -> None:
        """Checks the name."""
        _check_field(field)


class CodeForm(FlaskForm):
    """A code from the app, a recovery code, or a passkey's credential."""

    code = StringField("Code", [InputRequired("Enter a code."), Length(max=64)], render_kw=_CODE)
    credential = HiddenField()
    submit = SubmitField("Log in")
