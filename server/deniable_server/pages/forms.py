"""Form fields and CSRF-protected buttons of researchers' pages."""

from __future__ import annotations

from datetime import date
from typing import Any

from flask_wtf import FlaskForm
from wtforms import (
    DateField,
    DecimalField,
    Field,
    Form,
    IntegerField,
)
from wtforms.validators import NumberRange, ValidationError

from deniable_server.pages.numbers import decimal, whole
from deniable_server.store.life import MOST, require_day

MOST_PEOPLE = MOST


class Between(NumberRange):
    """The same for whatever is a number in Python: some are too large to be compared as it does, and one Decimal is not even that."""

    def __call__(self, form: Form, field: Field) -> None:
        try:
            super().__call__(form, field)
        except ValidationError:
            raise
        except (ValueError, OverflowError) as error:
            raise ValidationError(self.message) from error


class WholeField(IntegerField):
    """A whole number, as `numbers.whole` reads it for commands, too."""

    def process_formdata(self, valuelist: list[str]) -> None:
        """Reads what was sent."""
        self.data: Any = None
        if valuelist:
            self.data = whole(valuelist[0])


class NumberField(DecimalField):
    """A number, as `numbers.decimal` reads it for commands, too."""

    def process_formdata(self, valuelist: list[str]) -> None:
        """Reads what was sent."""
        self.data: Any = None
        if valuelist:
            self.data = decimal(valuelist[0])


class DayField(DateField):
    """A day, as `life.require_day` takes it from commands, too."""

    def process_formdata(self, valuelist: list[str]) -> None:
        """Reads what was sent."""
        self.data: Any = None
        if valuelist:
            try:
                require_day(self.name, valuelist[0])
            except ValueError:
                raise ValueError(self.gettext("Not a valid date value.")) from None
            self.data = date.fromisoformat(valuelist[0])


def people() -> Between:
    """How many people: 1 or more, and no more than the planner knows."""
    return Between(1, MOST_PEOPLE, "Enter a whole number, 1 or more.")


class ActionForm(FlaskForm):
    """A button: nothing but the token that says the page was ours."""
