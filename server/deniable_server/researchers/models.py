"""Regression models of an outcome and predictors among a survey's questions. Formulas consist of ids only."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from werkzeug.datastructures import MultiDict

from deniable.errors import EstimateError, ModelError
from deniable.estimate.regression.formula import quoted
from deniable.survey import Survey
from deniable.survey.question import Question
from deniable_server.pages.figures import Figure, Unit
from deniable_server.results.analysis import categorical, item_of, reports_of, require_records
from deniable_server.results.model_fits import Fit, Model, fit_model
from deniable_server.results.results import Records, records_of
from deniable_server.store.protocol import Store

_TERM = re.compile(r"^(.+)\[T\.(.+?)\]")
MEAN = "mean:"
"""Prefix of an outcome whose mean is modelled instead of its options."""


@dataclass(frozen=True)
class CoefficientLine:
    """An odds ratio (logit) or slope. naive: the same without correction for the randomization; None if it cannot be computed."""

    name: str
    figure: Figure
    naive: Figure | None


@dataclass(frozen=True)
class Fitted:
    """A model as the page shows it. items: the outcome and the predictors."""

    model: Model
    fit: Fit
    lines: tuple[CoefficientLine, ...]
    items: tuple[Question, ...]

    @property
    def compared_with(self) -> list[tuple[str, str]]:
        """Reference answers: (id, answer) of each categorical predictor."""
        return [(item.id, self.fit.references[item.id]) for item in self.items[1:] if item.id in self.fit.references]

    @property
    def odds(self) -> bool:
        """Whether the lines are odds ratios."""
        return self.model.model == "logit"


@dataclass(frozen=True)
class WayOn:
    """A link from a model that has no estimate: its text, the page's endpoint, and the query."""

    text: str
    endpoint: str
    query: dict[str, list[str]]


def ways_on(survey: Survey, options: MultiDict[str, str]) -> list[WayOn]:
    """Returns alternatives to a model without an estimate: a linear model, a table of shares, fewer predictors."""
    selected = [item_of(survey, "predictor", name) for name in dict.fromkeys(options.getlist("predictor"))]
    query = {key: list(values) for key, values in options.lists()}
    outcome, group = options["outcome"].removeprefix(MEAN), {"group": query["group"]} if "group" in query else {}
    ways = []
    if options["outcome"] != MEAN + outcome and MEAN + outcome in dict(outcomes(survey)):
        ways.append(WayOn("Fit a linear model of the mean", "building.model", {**query, "outcome": [MEAN + outcome]}))
    if any(item.scores and item.required for item in selected) and options.get("numbers") != "1":
        ways.append(WayOn("Enter scales as numbers", "building.model", {**query, "numbers": ["1"]}))
    if outcome in {item.id for item in categorical(survey)}:
        for item in selected:
            query_of_table = {"rows": [item.id], "columns": [outcome], **group}
            ways.append(WayOn(f"See the shares for each answer: {item.text}", "building.crosstab", query_of_table))
    if len(selected) > 1:
        for item in selected:
            rest = [other.id for other in selected if other is not item]
            ways.append(WayOn(f"Leave out: {item.text}", "building.model", {**query, "predictor": rest}))
    return ways


def outcomes(survey: Survey) -> list[tuple[str, str]]:
    """Returns the possible outcomes as (value, text): options of questions, and means of questions with scores."""
    options = [(item.id, item.text) for item in predictors(survey)]
    means = [(MEAN + item.id, f"{item.text} (mean)") for item in survey.items if _has_mean(item)]
    return [*options, *means]


def predictors(survey: Survey) -> list[Question]:
    """Returns the possible predictors: categorical questions whose ids a formula can name."""
    return [item for item in categorical(survey) if _quoted(item.id)]


def _quoted(name: str) -> str:
    """Returns a name quoted for a formula, or an empty text if that is impossible."""
    with suppress(EstimateError):
        return quoted(name)
    return ""


def model_of(survey: Survey, options: MultiDict[str, str]) -> Model | None:
    """Returns the selected model, or None without a selection. Raises EstimateError for an invalid option."""
    outcome, names = options.get("outcome"), options.getlist("predictor")
    if not outcome or not names:
        return None
    if outcome not in dict(outcomes(survey)):
        raise EstimateError(f"outcome must be one of the outcomes of survey {survey.id} that the page lists")
    selected = [item_of(survey, "predictor", name) for name in dict.fromkeys(names)]
    outcome_id = outcome.removeprefix(MEAN)
    if outcome_id in (item.id for item in selected):
        raise EstimateError("predictor must be another question than outcome")
    linear = outcome.startswith(MEAN)
    scored = tuple(item.id for item in selected if item.scores and item.required and options.get("numbers") == "1")
    formula = f"{quoted(outcome_id)} ~ {' + '.join(quoted(item.id) for item in selected)}"
    return Model(formula, "linear" if linear else "logit", (*([outcome_id] if linear else []), *scored))


def fit_of(store: Store, survey_id: str, options: MultiDict[str, str]) -> Fitted | None:
    """Fits the selected model to the selected records; None without a selection. Raises EstimateError and WithheldError."""
    survey = store.surveys.published(survey_id).survey
    model = model_of(survey, options)
    if model is None:
        return None
    named = {item.id: item for item in survey.items}
    items = tuple(named[name] for name in (options["outcome"].removeprefix(MEAN), *dict.fromkeys(options.getlist("predictor"))))
    selected = records_of(store, survey_id, options)
    require_records(selected.n)
    fit = selected.release.compute_once(("model", selected.group, model), lambda: _fit(selected, model))
    if isinstance(fit, dict):
        raise ModelError(**fit)
    return Fitted(model, fit, tuple(_line(fit, model, row) for row in fit.coefficients if "Intercept" not in row[0]), items)


def _fit(selected: Records, model: Model) -> Fit | dict[str, Any]:
    """Fits a model. Returns the fields of the ModelError if the library has no estimate, since finding that out takes as long."""
    try:
        return fit_model(selected.survey, reports_of(selected), model)
    except ModelError as error:
        return dict(vars(error))


def _line(fit: Fit, model: Model, row: tuple[str, float, float, float]) -> CoefficientLine:
    name, *values = row
    naive = fit.naive and fit.naive.get(name)
    return CoefficientLine(_TERM.sub(r"\1: \2", name), _coefficient(values, model), _coefficient(naive, model) if naive else None)


def _coefficient(values: Sequence[float], model: Model) -> Figure:
    """Returns a coefficient and its limits; of a logit model, the odds ratio."""
    value, low, high = map(_exp, values) if model.model == "logit" else values
    return Figure(value, low, high, Unit.COEFFICIENT)


def _exp(log_odds: float) -> float:
    """Returns the odds; infinity where they overflow, as for an empty cell."""
    return math.exp(log_odds) if log_odds < 700 else math.inf


def _has_mean(item: Question) -> bool:
    return item.scores is not None and item.required and item.id.isidentifier()


def words_of(model: Model) -> list[str]:
    """Returns the arguments of `deniable regress` for a model."""
    words = [model.formula]
    words += ["--model", "linear"] if model.model == "linear" else []
    return words + [word for name in model.scored for word in ("--scored", name)]
