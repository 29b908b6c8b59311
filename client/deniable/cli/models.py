"""`deniable regress`: models of a live survey's questions, for its researcher."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from deniable.cli.live import by_hand_option, group_option, reader, who_options
from deniable.cli.options import error_options, form_options, printed
from deniable.errors import EstimateError, RejectedError
from deniable.sdk.client import SurveyClient

if TYPE_CHECKING:
    from deniable.estimate.regression.result import Regression

_MODELS = ("logit", "probit", "cloglog", "ordinal", "linear")
_SHOWN: dict[str, Callable[[Regression, float], Any]] = {
    "coefficients": lambda fit, confidence: fit,
    "effects": lambda fit, confidence: fit.average_marginal_effects(confidence=confidence),
    "goodness": lambda fit, confidence: fit.goodness_of_fit(),
}


@click.command("regress")
@click.argument("address")
@click.argument("formula")
@click.option(
    "--model",
    type=click.Choice(_MODELS),
    default="logit",
    show_default=True,
    help="What is modelled: the outcome's log odds, the same by other links, the log odds of being above each of its options, its mean.",
)
@click.option("--scored", multiple=True, metavar="QUESTION", help="A question that enters as a number, by its scores; may be repeated.")
@click.option("--by-group", is_flag=True, help="The survey's groups are a public column of the formula, called group.")
@click.option("--clusters", is_flag=True, help="People were drawn with their groups: errors are those of clusters.")
@click.option(
    "--show",
    type=click.Choice(list(_SHOWN)),
    default="coefficients",
    show_default=True,
    help="What is printed: the coefficients; average marginal effects on chances; a test of the model against the reports.",
)
@click.option("--test", "tested", multiple=True, metavar="TERM", help="Print a joint test that this term has no effect; may be repeated.")
@who_options
@group_option
@by_hand_option
@error_options
@form_options
def regress_command(
    address: str,
    formula: str,
    model: str,
    scored: tuple[str, ...],
    by_group: bool,
    clusters: bool,
    show: str,
    tested: tuple[str, ...],
    form: str | None,
    **options: Any,
) -> None:
    """Print a regression of a survey's questions.

    It is computed from the perturbed records: a key needs the scopes results and reports. Who gave no answer to a question of the model
    is left out of it, and how many these are is said. With --by-group or --clusters, groups of which the server shows nothing yet are
    left out, and named.

    \b
    Example:
      deniable regress https://example.org --survey health 'smokes ~ party' --user ada --password-env PASSWORD
      deniable regress https://example.org --survey health 'mood ~ party + group' --model ordinal --by-group --test group
    """
    if (by_group or clusters) and options["group"] is not None:
        raise click.UsageError("--group is of one group: leave out --by-group and --clusters")
    confidence = options["confidence"]
    with reader(address, options) as client:
        if by_group or clusters:
            fit = _of_groups(client, options, formula, {"model": model, "scored": scored, "clusters": "group" if clusters else None})
        else:
            fit = client.analysis(client.survey_id or "", reports=True, **options).regress(formula, model=model, scored=scored)
    printed(fit.wald_test(*tested) if tested else _SHOWN[show](fit, confidence), form)


def _of_groups(client: SurveyClient, options: dict[str, Any], formula: str, model: dict[str, Any]) -> Regression:
    """The model of the reports of all groups that the server shows, with their group as a public column."""
    import numpy as np
    import pandas as pd

    from deniable.estimate import analyse

    name, parts = client.survey_id or "", {}
    survey = client.analysis(name, **options).survey
    if not survey.groups or any(item.id == "group" for item in survey.items):
        raise EstimateError(f"survey {name} must have groups, and no question with the id group")
    for group in survey.groups:
        try:
            parts[group] = client.analysis(name, reports=True, **{**options, "group": group}).bits
        except RejectedError as error:
            if error.status != 403:  # whoever may see the survey may see its groups: it is withheld
                raise
            click.echo(f"{group} is left out: {error}", err=True)
    bits = [part for part in parts.values() if part is not None and len(part)]
    if not bits:
        raise EstimateError("there must be a group that the server shows")
    labels = np.repeat(list(parts), [0 if part is None else len(part) for part in parts.values()])
    found = analyse(survey, np.concatenate(bits), confidence=options["confidence"], target=options["target"])
    return found.regress(formula, pd.DataFrame({"group": labels}), **model)
