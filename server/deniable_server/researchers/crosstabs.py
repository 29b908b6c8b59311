"""Cross tables of two questions, optionally in layers of a third one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product

from deniable.errors import EstimateError
from deniable.estimate import Crosstab, Estimate, HypothesisTest
from deniable.estimate.limits.interval import Interval
from deniable.estimate.tables import conditional_share, cramers_v, independence
from deniable.survey.question import Question
from deniable_server.results.analysis import analyse_records, categorical, item_of, require_records
from deniable_server.results.results import Records, interval_of, records_of
from deniable_server.store.protocol import Store

PERCENT_OF = ("row", "column", "all")
"""Base of a cell's share: its row, its column, or all people."""

MOST_CELLS = 400


@dataclass(frozen=True)
class Layer:
    """One option of the third question, or all people (empty). cells: row by row; None if the base is estimated to be empty."""

    option: str
    cells: tuple[tuple[Estimate | None, ...], ...]


@dataclass(frozen=True)
class Cross:
    """A cross table as the page shows it.

    Attributes:
        table: The library's table, for downloads.
        association: Cramér's V, of two questions only.
        test: The test of independence, of two questions only.
        untestable: The reason if there is no test or no association, else empty.
    """

    rows: Question
    columns: Question
    layer: Question | None
    percent_of: str
    table: Crosstab
    layers: tuple[Layer, ...]
    association: Estimate | None = None
    test: HypothesisTest | None = None
    untestable: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """Ids of the questions."""
        return self.table.questions


@dataclass(frozen=True)
class CrosstabRequest:
    """The selected questions of a cross table, validated by `crosstab_request`."""

    rows: Question
    columns: Question
    layer: Question | None
    percent_of: str

    @property
    def names(self) -> tuple[str, ...]:
        """Ids of the questions."""
        return tuple(item.id for item in (self.rows, self.columns, self.layer) if item)


def cross_of(store: Store, survey_id: str, options: Mapping[str, str]) -> Cross | None:
    """Returns the selected cross table, or None if the survey has fewer than two suitable questions.

    Args:
        store: The server's store.
        survey_id: The survey.
        options: rows, columns, layer and percent; and the options of `results_of`.

    Raises:
        EstimateError: An option is invalid.
        WithheldError: There are too few records.
    """
    survey = store.surveys.published(survey_id).survey
    if len(categorical(survey)) < 2:
        return None
    query, selected, interval = crosstab_request(store, survey_id, options), records_of(store, survey_id, options), interval_of(options)
    require_records(selected.n)
    key = "cross table", selected.group, interval, query.names, query.percent_of
    return selected.release.compute_once(key, lambda: _cross(_table(selected, interval, query), query))


def _cross(table: Crosstab, query: CrosstabRequest) -> Cross:
    layers = tuple(_layer(table, query, option) for option in (query.layer.categories if query.layer else ("",)))
    cross = Cross(query.rows, query.columns, query.layer, query.percent_of, table, layers)
    return cross if query.layer else _with_association(cross)


def crosstab_request(store: Store, survey_id: str, options: Mapping[str, str]) -> CrosstabRequest:
    """Returns the selected questions, by default the first two. Raises EstimateError for an invalid option."""
    survey = store.surveys.published(survey_id).survey
    if len(categorical(survey)) < 2:
        raise EstimateError("a cross table needs two questions with categories: this survey has fewer")
    first, second, *_ = categorical(survey)
    rows = item_of(survey, "rows", options.get("rows") or first.id)
    columns = item_of(survey, "columns", options.get("columns") or (second.id if rows.id != second.id else first.id))
    layer = item_of(survey, "layer", options["layer"]) if options.get("layer") else None
    ids = [item.id for item in (rows, columns, layer) if item]
    if len(set(ids)) < len(ids):
        raise EstimateError("rows, columns and layer must be different questions")
    percent_of = options.get("percent") or "row"
    if percent_of not in PERCENT_OF:
        raise EstimateError(f"percent must be {', '.join(PERCENT_OF)}, or left out")
    if (cells := rows.k * columns.k * (layer.k if layer else 1)) > MOST_CELLS:
        raise EstimateError(f"a table on this page must have at most {MOST_CELLS} cells, got {cells:,}: use the command line")
    return CrosstabRequest(rows, columns, layer, percent_of)


def table_of(store: Store, survey_id: str, options: Mapping[str, str], query: CrosstabRequest) -> Crosstab:
    """Computes the table: from the tally for two questions, from the records for three. Raises what `analysis_of` raises."""
    return _table(records_of(store, survey_id, options), interval_of(options), query)


def _table(selected: Records, interval: Interval, query: CrosstabRequest) -> Crosstab:
    require_records(selected.n)
    return selected.release.compute_once(
        ("crosstab", selected.group, interval, query.names),
        lambda: analyse_records(selected, interval, whole=query.layer is not None).crosstab(*query.names),
    )


def _layer(table: Crosstab, query: CrosstabRequest, option: str) -> Layer:
    inside = {query.layer.id: option} if query.layer else {}
    cells: list[list[Estimate | None]] = [[None] * query.columns.k for _ in range(query.rows.k)]
    for (i, row), (j, column) in product(enumerate(query.rows.categories), enumerate(query.columns.categories)):
        sides = {"row": {query.rows.id: row}, "column": {query.columns.id: column}}
        both = {**sides["row"], **sides["column"]}
        base = {**inside, **sides.get(query.percent_of, {})}
        of = {name: value for name, value in both.items() if name not in base}
        try:
            cells[i][j] = conditional_share(table, of, base) if base else table.share(of)
        except EstimateError:  # the base is estimated to be empty
            continue
    return Layer(option, tuple(map(tuple, cells)))


def _with_association(cross: Cross) -> Cross:
    test, association, reason = None, None, ""
    try:
        test = independence(cross.table)
        association = cramers_v(cross.table)
    except EstimateError as error:
        reason = str(error)
    return Cross(cross.rows, cross.columns, None, cross.percent_of, cross.table, cross.layers, association, test, reason)
