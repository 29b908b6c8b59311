"""Planning of a survey's precision, or of the people it needs: the command `plan`."""

from __future__ import annotations

import re
from pathlib import Path

import click

from deniable.cli.command import command
from deniable.survey import Survey


def _fraction(ctx: click.Context, param: click.Parameter, value: float | None) -> float | None:
    """Returns a number above 0 and below 1. The message expects a percentage as the likely mistake."""
    if value is not None and not 0 < value < 1:
        raise click.BadParameter(f"must be above 0 and below 1, got {value:g} (3 percentage points are 0.03)")
    return value


def _sizes(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[int, int] | None:
    """Returns two numbers of people, written as 1000,50."""
    if value is None:
        return None
    if not re.fullmatch(r"0*[1-9][0-9]{0,12},0*[1-9][0-9]{0,12}", value):
        raise click.BadParameter(f"must be two numbers of people such as 1000,50, got {value!r}")
    first, second = map(int, value.split(","))
    return first, second


def _two_shares(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[float, float] | None:
    """Returns two numbers above 0 and below 1, written as 0.3,0.45."""
    if value is None:
        return None
    if not re.fullmatch(r"0?\.[0-9]{1,15},0?\.[0-9]{1,15}", value) or not all(map(float, value.split(","))):
        raise click.BadParameter(f"must be two shares above 0 and below 1 such as 0.3,0.45, got {value!r}")
    first, second = map(float, value.split(","))
    return first, second


def _two_questions(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[str, str] | None:
    """Returns two ids, written as vote,tvnews."""
    if value is None:
        return None
    if value.count(",") != 1 or not all(value.split(",")):
        raise click.BadParameter(f"must be two questions, the outcome and the predictor, such as vote,tvnews, got {value!r}")
    outcome, predictor = value.split(",")
    return outcome, predictor


@command("plan")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--n", "respondents", type=click.IntRange(1), metavar="N", help="The number of people who will answer.")
@click.option(
    "--half-width",
    type=float,
    callback=_fraction,
    metavar="W",
    help="The precision you want: half the width of an interval, e.g. 0.03 for ± 3 points.",
)
@click.option(
    "--confidence", type=float, callback=_fraction, metavar="P", default=0.95, show_default=True, help="The confidence level of intervals."
)
@click.option(
    "--share",
    type=float,
    callback=_fraction,
    metavar="P",
    help="The true share to plan for, e.g. 0.2.  [default: the one that is hardest to estimate]",
)
@click.option(
    "--groups",
    callback=_sizes,
    metavar="N,N",
    help="The sizes of two groups that you will compare, e.g. 1000,50.  [default: half of all people in each]",
)
@click.option("--clusters", type=click.IntRange(2), metavar="N", help="The number of clusters in the sample, such as clinics or classes.")
@click.option(
    "--rho", type=click.FloatRange(0, 1), metavar="R", help="The correlation of the true answers of two people in a cluster, e.g. 0.05."
)
@click.option(
    "--slope",
    callback=_two_questions,
    metavar="ID,ID",
    help="Outcome and predictor of the logit model whose slope you want, e.g. vote,tvnews. `group` means the survey's groups.",
)
@click.option(
    "--outcome-shares",
    callback=_two_shares,
    metavar="P,P",
    help="The true shares of the outcome, among people without the predictor and with it, e.g. 0.3,0.45.",
)
@click.option("--predictor-share", type=float, callback=_fraction, metavar="P", help="The share of people with the predictor, e.g. 0.4.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option(
    "--chart",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="PATH",
    help="Also plot the least precise question: .svg or .png.",
)
def plan_command(
    file: Path,
    respondents: int | None,
    half_width: float | None,
    confidence: float,
    share: float | None,
    groups: tuple[int, int] | None,
    clusters: int | None,
    rho: float | None,
    slope: tuple[str, str] | None,
    outcome_shares: tuple[float, float] | None,
    predictor_share: float | None,
    as_json: bool,
    chart: Path | None,
) -> None:
    r"""Plan a survey's precision, or the number of people it needs.

    FILE is the survey file. Give either --n or --half-width. Also prints the figures without noise, and for central differential privacy,
    where a trusted curator adds the noise. Needs the extra deniable[estimate]; --chart also needs deniable[plot].

    Examples:
      deniable plan survey.yaml --n 2000
      deniable plan survey.yaml --n 1050 --groups 1000,50
      deniable plan survey.yaml --n 2000 --clusters 20 --rho 0.05
      deniable plan survey.yaml --n 2000 --slope vote,tvnews \
        --outcome-shares 0.3,0.45 --predictor-share 0.4
      deniable plan survey.yaml --half-width 0.03 --chart plan.svg
    """
    if (respondents is None) == (half_width is None):
        raise click.UsageError("give one of --n and --half-width")
    if (clusters is None) != (rho is None) or (clusters is not None and respondents is None):
        raise click.UsageError("give --clusters, --rho and --n together")
    if len({slope is None, outcome_shares is None, predictor_share is None}) > 1:
        raise click.UsageError("give --slope, --outcome-shares and --predictor-share together")
    if chart and chart.suffix.lower() not in (".svg", ".png"):
        raise click.BadParameter(f"must end in .svg or .png, got {chart}", param_hint="--chart")
    from deniable.plan import Clusters, SlopeOf, plan

    slope_of = SlopeOf(*slope, outcome_shares, predictor_share) if slope and outcome_shares and predictor_share else None
    result = plan(
        Survey.from_file(file),
        n=respondents,
        half_width=half_width,
        confidence=confidence,
        share=share,
        groups=groups,
        clusters=Clusters(clusters, rho) if clusters is not None and rho is not None else None,
        slope=slope_of,
    )
    if chart:
        result.plot().save(str(chart))
    click.echo(result.to_json() if as_json else result.to_table().rstrip("\n"))
