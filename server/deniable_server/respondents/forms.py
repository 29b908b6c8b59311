"""Forms for respondents without JavaScript.

They need no session and no CSRF token, since nothing is done in a user's name, and set no cookie. Their templates
describe faults in the respondent's language.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wtforms import Form, RadioField, SelectField, StringField
from wtforms.validators import AnyOf, ValidationError
from wtforms.widgets import HiddenInput

from deniable.survey import Survey
from deniable.wire import access_codes


class CodeField(StringField):
    """A typed code; `raw` is its bytes after validation, or None if it was mistyped or left out."""

    raw: bytes = b""

    def pre_validate(self, form: Form) -> None:
        """Checks the check digits, which detect a typing error without asking the store."""
        try:
            self.raw = access_codes.read(self.data or "")
        except ValueError as error:
            raise ValidationError(str(error)) from None


class WithdrawalForm(Form):
    """The withdrawal code of the record to erase."""

    code = CodeField()


class ByHandForm(Form):
    """The randomized marks of all questions. Make one with `of`, since its fields depend on the survey.

    Attributes:
        secret: Made with the empty form, so that a repetition is recognised; it is the withdrawal code.
        invitation: The invitation code, if the survey requires one.
        group: The group, if the survey has groups.
    """

    secret = CodeField(widget=HiddenInput())

    @classmethod
    def of(cls, survey: Survey, sent: Mapping[str, Any] | None = None, **preset: Any) -> ByHandForm:
        """Returns the form of a survey: as it was sent, or empty except for `preset`."""
        fields: dict[str, Any] = {}
        if survey.access == "invited":
            fields["invitation"] = CodeField()
        if survey.groups:
            fields["group"] = SelectField(choices=survey.groups, validators=[AnyOf(survey.groups)], validate_choice=False)
        for number in range(1, len(survey.questions) + 1):  # numbered: a question's id may be the name of another field
            fields[f"mark-{number}"] = RadioField(str(number), [AnyOf(["yes", "no"])], choices=["yes", "no"], validate_choice=False)
        kind: type[ByHandForm] = type(cls.__name__, (cls,), fields)
        return kind(sent, **preset)

    @property
    def marks(self) -> list[RadioField]:
        """The fields of the questions, in order."""
        return [field for name, field in self._fields.items() if name.startswith("mark-")]
