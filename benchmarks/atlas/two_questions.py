"""Lines of tables of two questions, and of three: cells, shares among some, associations, independence."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from benchmarks.atlas.cell import Cell, Limits, Line, Outcome, Scene, interval, silent
from benchmarks.atlas.grid import ALONE, apart, share, two
from benchmarks.atlas.one_question import YES_NO
from benchmarks.atlas.source import Floats, Reports, Source, survey_of, whole

from deniable.estimate import Analysis, Crosstab, Estimate, crosstab, joint
from deniable.estimate.tables import conditional_share, cramers_v, independence, odds_ratio, phi_coefficient

_BOTH = {"a": "yes", "b": "yes"}


def _table(cell: Cell, truth: float, figure: Callable[[Crosstab], object]) -> Scene:
    """A figure of the table of two yes/no questions."""
    source = Source(survey_of([YES_NO, YES_NO], cell.epsilon), two(cell))
    return Scene([(source, cell.n)], lambda one: interval(truth, lambda: figure(crosstab(source.survey, one.tally, "a", "b"))))


def _cell(cell: Cell) -> Scene:
    return _table(cell, float(two(cell)[0, 0]), lambda table: _limits(table, (0, 0)))


def _cell_of_respondents(cell: Cell) -> Scene:
    source = Source(survey_of([YES_NO, YES_NO], cell.epsilon), two(cell))
    truth = whole(cell.n, source.shares)[0] / cell.n

    def judge(one: Reports) -> Outcome:
        return interval(truth, lambda: _limits(crosstab(source.survey, one.tally, "a", "b", target="respondents"), (0, 0)))

    return Scene([(source, cell.n)], judge, fixed=True)


def _limits(table: Crosstab, index: tuple[int, ...]) -> Limits:
    """Those of one cell."""
    return Limits(float(table.low[index]), float(table.high[index]))


def _sum_of_cells(cell: Cell) -> Scene:
    """All who said yes to one of the two."""
    p = two(cell)
    source = Source(survey_of([YES_NO, YES_NO], cell.epsilon), p)

    def judge(one: Reports) -> Outcome:
        table = crosstab(source.survey, one.tally, "a", "b")
        either = 1 - table.cells({"a": "no", "b": "no"})
        return interval(float(1 - p[1, 1]), lambda: table.share_of(either, "one of the two"))

    return Scene([(source, cell.n)], judge)


def _among(cell: Cell) -> Scene:
    p = two(cell)
    return _table(cell, float(p[0, 0] / p[:, 0].sum()), lambda table: conditional_share(table, {"a": "yes"}, {"b": "yes"}))


def _odds(cell: Cell) -> Scene:
    p = two(cell)
    return _table(cell, float(p[0, 0] * p[1, 1] / (p[0, 1] * p[1, 0])), odds_ratio)


def _phi(cell: Cell) -> Scene:
    p = two(cell)
    rows, columns = p.sum(axis=1), p.sum(axis=0)
    return _table(cell, float((p[0, 0] - rows[0] * columns[0]) / np.sqrt(rows.prod() * columns.prod())), phi_coefficient)


def _choices(k: int) -> dict[str, object]:
    return {"type": "choice", "options": [f"o{i}" for i in range(k)]}


def _cramers_v(cell: Cell) -> Scene:
    """Three options each; a fifth of the people give the same one to both."""
    alone = apart(cell, 3)
    p = 0.8 * alone + 0.2 * np.diag(alone.sum(axis=1))
    truth = float(np.sqrt(((p - alone) ** 2 / alone).sum() / 2))
    source = Source(survey_of([_choices(3)] * 2, cell.epsilon), p)
    return Scene([(source, cell.n)], lambda one: interval(truth, lambda: cramers_v(crosstab(source.survey, one.tally, "a", "b"))))


def _correlation(cell: Cell) -> Scene:
    """Two scales of three; a fifth of the people give the same answer to both."""
    alone, scores = apart(cell, 3), np.arange(1.0, 4.0)
    p = 0.8 * alone + 0.2 * np.diag(alone.sum(axis=1))
    x, y = (scores - p.sum(axis=axis) @ scores for axis in (1, 0))
    truth = float(x @ p @ y / np.sqrt((x**2 @ p.sum(axis=1)) * (y**2 @ p.sum(axis=0))))
    source = Source(survey_of([{"type": "scale", "options": list("abc")}] * 2, cell.epsilon), p)
    return Scene([(source, cell.n)], lambda one: interval(truth, lambda: Analysis(source.survey, one.tally).correlation("a", "b")))


def _two_shares(cell: Cell) -> Scene:
    """The share of yes to one question less that to the other, of the same people."""
    p = two(cell)
    source = Source(survey_of([YES_NO, YES_NO], cell.epsilon), p)
    truth = float(p[0].sum() - p[:, 0].sum())
    return Scene(
        [(source, cell.n)], lambda one: interval(truth, lambda: Analysis(source.survey, one.tally).between("a", "yes", "b", "yes"))
    )


def _two_means(cell: Cell) -> Scene:
    """Two scales of three; a fifth of the people give the first answer to the second question, whatever they give to the first."""
    alone, scores = apart(cell, 3), np.arange(1.0, 4.0)
    first = np.zeros((3, 3))
    first[:, 0] = alone.sum(axis=1)
    p = 0.8 * alone + 0.2 * first
    truth = float((p.sum(axis=1) - p.sum(axis=0)) @ scores)
    source = Source(survey_of([{"type": "scale", "options": list("abc")}] * 2, cell.epsilon), p)
    return Scene([(source, cell.n)], lambda one: interval(truth, lambda: Analysis(source.survey, one.tally).between_means("a", "b")))


def _independent(k: int, cell: Cell) -> Scene:
    source = Source(survey_of([YES_NO if k == 2 else _choices(k)] * 2, cell.epsilon), apart(cell, k))
    return Scene([(source, cell.n)], lambda one: silent(lambda: independence(crosstab(source.survey, one.tally, "a", "b"))))


def _three(cell: Cell) -> Scene:
    """Three questions, from the reports themselves; a third yes/no question that half say yes to."""
    p = two(cell)
    source = Source(survey_of([YES_NO] * 3, cell.epsilon), np.stack([p / 2, p / 2], axis=-1))

    def judge(one: Reports) -> Outcome:
        return interval(float(p[0, 0] / 2), lambda: _limits(joint(source.survey, one.bits, ["a", "b", "c"]), (0, 0, 0)))

    return Scene([(source, cell.n)], judge)


def _shown_to(cell: Cell) -> Floats:
    """Joint shares of a filter and a follow-up of two options that one in ten of those who are shown it does not answer."""
    yes = share(cell)
    return np.array([[0.36 * yes, 0.54 * yes, 0.1 * yes], [0.0, 0.0, 1 - yes]])


def _shown(which: str, cell: Cell) -> Scene:
    follow = {"type": "choice", "options": ["daily", "rarely"], "show_if": {"question": "a", "is": ["yes"]}}
    source = Source(survey_of([YES_NO, follow], cell.epsilon), _shown_to(cell))
    truth = {"part": share(cell), "shares": 0.36, "answered": 0.4}[which]

    def figure(one: Reports) -> Estimate | None:
        figures = Analysis(source.survey, one.tally).among_shown("b")
        return figures.part if which == "part" else figures.shares[0] if which == "shares" else figures.answered[0]

    return Scene([(source, cell.n)], lambda one: interval(truth, lambda: figure(one)))


def lines() -> Iterator[Line]:
    """Yields every line of two questions or three."""
    table = ("crosstab", "Analysis.crosstab")
    yield Line("cell of a table", table, ALONE, _cell)
    yield Line("cell of a table, of the respondents", table, ALONE, _cell_of_respondents)
    yield Line("several cells of a table", ("Crosstab.share", "Crosstab.share_of"), ALONE, _sum_of_cells)
    yield Line("cell of three questions", ("joint",), ALONE[:], _three, cost=2)
    yield Line("share among some", ("conditional_share",), ALONE, _among)
    yield Line("odds ratio", ("odds_ratio",), ALONE, _odds)
    yield Line("phi", ("phi_coefficient",), ALONE, _phi)
    yield Line("Cramér's V", ("cramers_v",), ALONE, _cramers_v, cost=2)
    yield Line("correlation", ("correlation", "Analysis.correlation"), ALONE, _correlation)
    yield Line("difference of two questions' shares", ("Analysis.between",), ALONE, _two_shares, cost=2)
    yield Line("difference of two questions' means", ("Analysis.between_means",), ALONE, _two_means, cost=2)
    yield Line("test of independence, 2 by 2", ("independence",), ALONE, partial(_independent, 2), test=True, cost=2)
    yield Line("test of independence, 5 by 5", ("independence",), ALONE, partial(_independent, 5), test=True, cost=5)
    yield Line("share of those shown a question", ("Analysis.among_shown",), ALONE, partial(_shown, "part"), cost=2)
    yield Line("share among those shown a question", ("Analysis.among_shown",), ALONE, partial(_shown, "shares"), cost=2)
    yield Line("share among those who answered it", ("Analysis.among_shown",), ALONE, partial(_shown, "answered"), cost=2)
