"""The forms that respondents without JavaScript fill in.

They are plain: nothing is done in anybody's name here, so no session and no token has to prove whose page it was, and no cookie is
set. Their templates say what is wrong with a field, in the respondent's language.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wtforms import Form, RadioField, SelectField, StringField
from wtforms.validators import AnyOf, ValidationError
from wtforms.widgets import HiddenInput

from deniable.survey import Survey
from deniable.wire import access_codes


class CodeField(StringField):  # type: ignore[misc]
    """A code as somebody typed it; `raw` holds its bytes once it was validated, none where it was mistyped or left out."""

    raw: bytes = b""

    def pre_validate(self, form: Form) -> None:
        """Its check digits must hold, which finds a slip without asking the store."""
        try:
            self.raw = access_codes.read(self.data or "")
        except ValueError as error:
            raise ValidationError(str(error)) from None


class WithdrawalForm(Form):  # type: ignore[misc]
    """The code of the record to erase."""

    code = CodeField()


class ByHandForm(Form):  # type: ignore[misc]
    """What two coins say for each question. Make one with `of`: its fields depend on the survey.

    secret: made with the empty form, so that sending it again is recognised; it is the withdrawal code. invitation, group:
    only where the survey takes them.
    """

    secret = CodeField(widget=HiddenInput())

    @classmethod
    def of(cls, survey: Survey, sent: Mapping[str, Any] | None = None, **preset: Any) -> ByHandForm:
        """The form of a survey: empty but for `preset`, or as it was sent."""
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
