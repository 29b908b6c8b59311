"""Form fields and CSRF-protected buttons of researchers' pages."""

from __future__ import annotations

from datetime import date
from typing import Any

from flask_wtf import FlaskForm
from wtforms import DateField, DecimalField, Field, Form, IntegerField
from wtforms.validators import NumberRange, ValidationError

from deniable_server.pages.numbers import decimal, whole
from deniable_server.store.life import MOST, require_day

MOST_PEOPLE = MOST


class Between(NumberRange):
    """NumberRange for any Python number: some are too large for its comparison, and a Decimal may be NaN."""

    def __call__(self, form: Form, field: Field) -> None:
        """Refuses a number outside the range, or one that cannot be compared."""
        try:
            super().__call__(form, field)
        except ValidationError:
            raise
        except (ValueError, OverflowError) as error:
            raise ValidationError(self.message) from error


class WholeField(IntegerField):
    """A whole number, read as in commands (`numbers.whole`)."""

    def process_formdata(self, valuelist: list[str]) -> None:
        """Reads the submitted text. Raises ValueError."""
        self.data: Any = None
        if valuelist:
            self.data = whole(valuelist[0])


class NumberField(DecimalField):
    """A decimal number, read as in commands (`numbers.decimal`)."""

    def process_formdata(self, valuelist: list[str]) -> None:
        """Reads the submitted text. Raises ValueError."""
        self.data: Any = None
        if valuelist:
            self.data = decimal(valuelist[0])


class DayField(DateField):
    """A day, read as in commands (`life.require_day`)."""

    def process_formdata(self, valuelist: list[str]) -> None:
        """Reads the submitted text. Raises ValueError."""
        self.data: Any = None
        if valuelist:
            try:
                require_day(self.name, valuelist[0])
            except ValueError:
                raise ValueError(self.gettext("Not a valid date value.")) from None
            self.data = date.fromisoformat(valuelist[0])


def people() -> Between:
    """Returns a validator for a number of people: 1 or more, and no more than the planner allows."""
    return Between(1, MOST_PEOPLE, "Enter a whole number, 1 or more.")


class ActionForm(FlaskForm):
    """The form of a button: only its CSRF token."""
