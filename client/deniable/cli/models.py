"""Regression models of a live survey's questions: the command `regress`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from deniable.cli.live import LiveSurvey, by_hand_option, group_option, live_command
from deniable.cli.options import error_options
from deniable.errors import EstimateError

if TYPE_CHECKING:
    from deniable.estimate.regression.result import Regression

_MODELS = ("logit", "probit", "cloglog", "ordinal", "linear")
_TABLES: dict[str, Callable[[Regression, float], Any]] = {
    "coefficients": lambda fit, confidence: fit,
    "effects": lambda fit, confidence: fit.average_marginal_effects(confidence=confidence),
    "goodness": lambda fit, confidence: fit.goodness_of_fit(),
}


@live_command(
    "regress",
    click.argument("formula"),
    click.option(
        "--model",
        type=click.Choice(_MODELS),
        default="logit",
        show_default=True,
        help="The model of the outcome: logit, probit and cloglog for two options, ordinal for ordered options, linear for a mean.",
    ),
    click.option("--scored", multiple=True, metavar="QUESTION", help="Enter this question as a number, by its scores; may be repeated."),
    click.option("--by-group", is_flag=True, help="Add the survey's groups as a public column of the formula, named group."),
    click.option("--clusters", is_flag=True, help="Compute clustered errors: people were sampled with their groups."),
    click.option(
        "--show",
        type=click.Choice(list(_TABLES)),
        default="coefficients",
        show_default=True,
        help="Print coefficients, average marginal effects on probabilities, or a test of the model's fit.",
    ),
    click.option(
        "--test", "terms", multiple=True, metavar="TERM", help="Print a joint test that these terms have no effect; may be repeated."
    ),
    group_option,
    by_hand_option,
    error_options,
)
def regress_command(
    survey: LiveSurvey,
    formula: str,
    model: str,
    scored: tuple[str, ...],
    by_group: bool,
    clusters: bool,
    show: str,
    terms: tuple[str, ...],
) -> Any:
    r"""Fit a regression to a survey's questions.

    The model is estimated from the perturbed records: an API key needs the scopes results and reports. People without an answer to a
    question of the model are left out, and counted. With --by-group or --clusters, groups with too few records are left out, and
    named.

    Examples:
      deniable regress https://example.org/s/health 'smokes ~ party' --user ada
      deniable regress https://example.org/s/health 'mood ~ party + group' \
        --model ordinal --by-group --test group --user ada
    """
    if (by_group or clusters) and survey.selection["group"] is not None:
        raise click.UsageError("--group selects one group: leave out --by-group and --clusters")
    if by_group or clusters:
        fit = _fit_groups(survey, formula, {"model": model, "scored": scored, "clusters": "group" if clusters else None})
    else:
        fit = survey.analysis(reports=True).regress(formula, model=model, scored=scored)
    return fit.wald_test(*terms) if terms else _TABLES[show](fit, survey.selection["confidence"])


def _fit_groups(live: LiveSurvey, formula: str, model: dict[str, Any]) -> Regression:
    """Returns the model of the reports of all groups with enough records, with the group as a public column."""
    import numpy as np
    import pandas as pd

    from deniable.estimate import analyse

    survey = live.analysis().survey
    if not survey.groups or any(item.id == "group" for item in survey.items):
        raise EstimateError(f"survey {live.id} must have groups, and no question with the id group")
    reports = {group: analysis.bits for group, analysis in live.analyses(survey.groups, reports=True).items()}
    bits = [group_bits for group_bits in reports.values() if group_bits is not None and len(group_bits)]
    if not bits:
        raise EstimateError("at least one group must have enough records to be shown")
    labels = np.repeat(list(reports), [0 if group_bits is None else len(group_bits) for group_bits in reports.values()])
    options = {name: live.selection[name] for name in ("confidence", "target")}
    return analyse(survey, np.concatenate(bits), **options).regress(formula, pd.DataFrame({"group": labels}), **model)
