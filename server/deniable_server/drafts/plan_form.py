"""Form of the planner: number of people, groups, clusters and a slope, with each error beside its field."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from wtforms import Field, Form, SelectField, StringField
from wtforms.validators import StopValidation

from deniable.errors import EstimateError
from deniable.plan import Clusters, Plan, SlopeOf, plan
from deniable.plan.survey import questions_of_slopes
from deniable.survey import Survey
from deniable_server.drafts.block_rows import plan_by_block
from deniable_server.drafts.editor.forms import PLANNED
from deniable_server.pages.forms import MOST_PEOPLE

_PEOPLE = f"Enter a whole number of people from 1 to {MOST_PEOPLE:,}."
_SLOPE = ("without", "with_it", "having")


class _People(StringField):
    """A whole number of people; `number` is None if the field is empty or invalid."""

    number: int | None = None

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, render_kw={"type": "number", "min": "1", "inputmode": "numeric"}, **more)

    def pre_validate(self, form: Form) -> None:
        text = str(self.data or "").strip()
        if text and not (text.isascii() and text.isdigit() and len(text) <= 20 and 0 < int(text) <= MOST_PEOPLE):
            raise StopValidation(_PEOPLE)
        self.number = int(text) if text else None


class _Share(StringField):
    """A number from 0 to 1. `ends` says whether 0 and 1 are valid."""

    number: float | None = None

    def __init__(self, *args: Any, ends: bool = False, **more: Any) -> None:
        super().__init__(*args, render_kw={"type": "number", "min": "0", "max": "1", "step": "any", "inputmode": "decimal"}, **more)
        self.ends = ends

    def pre_validate(self, form: Form) -> None:
        text = str(self.data or "").strip()
        number = float(text) if re.fullmatch(r"[0-9]{0,3}\.?[0-9]{1,15}", text, re.ASCII) else -1.0
        if text and not (0 <= number <= 1 if self.ends else 0 < number < 1):
            raise StopValidation(f"Enter a number {'from 0 to 1' if self.ends else 'above 0 and below 1'}, such as 0.05.")
        self.number = number if text else None


class PlanForm(Form):
    """The parameters of a plan, which are in the address, so that people can save and share it."""

    n = _People("How many people may answer?", default=str(PLANNED))
    first = _People("People in the first group")
    second = _People("People in the second group")
    clusters = _People("Clusters, such as clinics or classes")
    rho = _Share("Correlation of answers within a cluster (0 to 1)", ends=True)
    outcome = SelectField("Outcome", validate_choice=False)
    predictor = SelectField("Predictor", validate_choice=False)
    without = _Share("Share of the outcome without the predictor")
    with_it = _Share("Share of the outcome with the predictor")
    having = _Share("Share of people with the predictor")

    @classmethod
    def of(cls, arguments: Any, survey: Survey) -> PlanForm:
        """Returns the form of an address's arguments, for one survey."""
        names = questions_of_slopes(survey)
        form = cls(arguments)
        form.outcome.choices = list(names)
        form.predictor.choices = [*names, *(["group"] if survey.groups and "group" not in names else [])]
        return form

    @property
    def has_slopes(self) -> bool:
        """Whether the survey has an outcome and a predictor."""
        return bool(self.outcome.choices) and len(self.predictor.choices) > 1

    def is_more(self, *names: str) -> bool:
        """Returns whether one of these fields is filled in or wrong; select fields, which always have a value, do not count."""
        return any(self[name].errors or (self[name].data and self[name].type != "SelectField") for name in names)

    def planned(self, survey: Survey) -> Plan | None:
        """Returns the plan, with a row for each rating block, or None if fields have errors, which they then show."""
        self.validate()
        if self.n.number is None and not self.n.errors:
            _add_error(self.n, _PEOPLE)
        groups, count, rho, slope = self._groups(), self._clusters(), self.rho.number, self._slope()
        if self.errors:
            return None
        try:
            clusters = None if count is None or rho is None else Clusters(count, rho)
            return plan_by_block(plan(survey, n=self.n.number, groups=groups, clusters=clusters, slope=slope), survey)
        except EstimateError as error:
            _add_error(self.n, f"{str(error)[:1].upper()}{str(error)[1:]}.")
            return None

    def _groups(self) -> tuple[int, int] | None:
        _require_all(self.first, self.second)
        if self.first.number is None or self.second.number is None:
            return None
        if self.n.number is not None and self.first.number + self.second.number > self.n.number:
            _add_error(self.second, f"The two groups together must have at most {self.n.number:,} people.")
        return self.first.number, self.second.number

    def _clusters(self) -> int | None:
        _require_all(self.clusters, self.rho)
        count = self.clusters.number
        if count is not None and self.n.number is not None and not 2 <= count <= self.n.number:
            _add_error(self.clusters, f"Enter a number of clusters from 2 to {self.n.number:,}.")
        return count

    def _slope(self) -> SlopeOf | None:
        shares: Sequence[_Share] = [self[name] for name in _SLOPE]
        _require_all(*shares)
        if not any(share.data for share in shares):
            return None
        for choice in (self.outcome, self.predictor):
            if choice.data not in choice.choices:
                _add_error(choice, "Choose one of the questions.")
        if self.outcome.data == self.predictor.data:
            _add_error(self.predictor, "Choose another question than the outcome.")
        without, with_it, having = (share.number or 0.0 for share in shares)
        return SlopeOf(self.outcome.data, self.predictor.data, (without, with_it), having)


def _require_all(*fields: Field) -> None:
    """Requires all of these fields once one of them is filled in."""
    if any(field.data for field in fields):
        for field in fields:
            if not field.data:
                _add_error(field, "Fill in this field, too.")


def _add_error(field: Field, message: str) -> None:
    field.errors = [*field.errors, message]
