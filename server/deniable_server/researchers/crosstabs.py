"""The builder of cross tables: two questions, in layers of a third one where somebody wants them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product

from deniable.errors import EstimateError
from deniable.estimate import Analysis, Crosstab, Estimate, HypothesisTest
from deniable.estimate.tables import conditional_share, cramers_v, independence
from deniable.survey.question import Question
from deniable_server.results.analysis import analysis_of, categorical, item_of
from deniable_server.store.protocol import Store

PERCENT_OF = ("row", "column", "all")
"""Whom the shares of a cell are of: those of its row, those of its column, everybody."""

MOST_CELLS = 400


@dataclass(frozen=True)
class Layer:
    """One option of the third question, or everybody (empty). cells: row by row; None where nobody can be told to be in the denominator."""

    option: str
    cells: tuple[tuple[Estimate | None, ...], ...]


@dataclass(frozen=True)
class Cross:
    """A cross table as the page shows it. association, test: of two questions only; unsaid: why there is none.

    table: the library's, which downloads have.
    """

    rows: Question
    columns: Question
    layer: Question | None
    percent_of: str
    table: Crosstab
    layers: tuple[Layer, ...]
    association: Estimate | None = None
    test: HypothesisTest | None = None
    unsaid: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        return self.table.questions


@dataclass(frozen=True)
class Asked:
    """What somebody chose: ids, the layer None for none. Raises nothing; see `asked`."""

    rows: Question
    columns: Question
    layer: Question | None
    percent_of: str

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(item.id for item in (self.rows, self.columns, self.layer) if item)


def cross_of(store: Store, survey_id: str, options: Mapping[str, str]) -> Cross | None:
    """The table that somebody chose by rows, columns, layer and percent; None where the survey has fewer than two questions for one.

    options: these, and as in `results_of`. Raises EstimateError naming what is wrong, and WithheldError.
    """
    survey = store.surveys.published(survey_id).survey
    if len(categorical(survey)) < 2:
        return None
    chosen = asked(store, survey_id, options)
    table = table_of(store, survey_id, options, chosen)
    layers = tuple(_layer(table, chosen, option) for option in (chosen.layer.categories if chosen.layer else ("",)))
    found = Cross(chosen.rows, chosen.columns, chosen.layer, chosen.percent_of, table, layers)
    return found if chosen.layer else _with_association(found)


def asked(store: Store, survey_id: str, options: Mapping[str, str]) -> Asked:
    """What the options say; the first two questions where they say nothing. Raises EstimateError naming what is wrong."""
    survey = store.surveys.published(survey_id).survey
    if len(categorical(survey)) < 2:
        raise EstimateError("a cross table takes two questions with categories, and this survey has fewer")
    first, second, *_ = categorical(survey)
    rows = item_of(survey, "rows", options.get("rows") or first.id)
    columns = item_of(survey, "columns", options.get("columns") or (second.id if rows.id != second.id else first.id))
    layer = item_of(survey, "layer", options["layer"]) if options.get("layer") else None
    chosen = [item.id for item in (rows, columns, layer) if item]
    if len(set(chosen)) < len(chosen):
        raise EstimateError("rows, columns and layer must be different questions")
    percent_of = options.get("percent") or "row"
    if percent_of not in PERCENT_OF:
        raise EstimateError(f"percent must be {', '.join(PERCENT_OF)}, or left out")
    if (cells := rows.k * columns.k * (layer.k if layer else 1)) > MOST_CELLS:
        raise EstimateError(f"a table on this page has at most {MOST_CELLS} cells, got {cells:,}: use the command line")
    return Asked(rows, columns, layer, percent_of)


def table_of(store: Store, survey_id: str, options: Mapping[str, str], chosen: Asked) -> Crosstab:
    """The library's table: of two questions from the tally, of three from the records. Raises as `analysis_of` does."""
    analysis: Analysis = analysis_of(store, survey_id, options, whole=chosen.layer is not None)
    return analysis.crosstab(*chosen.names)


def _layer(table: Crosstab, chosen: Asked, option: str) -> Layer:
    inside = {chosen.layer.id: option} if chosen.layer else {}
    found: list[list[Estimate | None]] = [[None] * chosen.columns.k for _ in range(chosen.rows.k)]
    for (i, row), (j, column) in product(enumerate(chosen.rows.categories), enumerate(chosen.columns.categories)):
        sides = {"row": {chosen.rows.id: row}, "column": {chosen.columns.id: column}}
        both = {**sides["row"], **sides["column"]}
        given = {**inside, **sides.get(chosen.percent_of, {})}
        of = {name: value for name, value in both.items() if name not in given}
        try:
            found[i][j] = conditional_share(table, of, given) if given else table.share(of)
        except EstimateError:  # nobody can be told to be among those of whom the share would be
            continue
    return Layer(option, tuple(map(tuple, found)))


def _with_association(found: Cross) -> Cross:
    test, association, unsaid = None, None, ""
    try:
        test = independence(found.table)
        association = cramers_v(found.table)
    except EstimateError as error:
        unsaid = str(error)
    return Cross(found.rows, found.columns, None, found.percent_of, found.table, found.layers, association, test, unsaid)
