"""Questions on the page of public results: their shares and means, with the texts of the reader's language."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal

from deniable.estimate import MeanRow, Row
from deniable.survey import Survey
from deniable.survey.question import Question
from deniable_server.pages.chart import ChartAxis, Mark, mark, share_mark
from deniable_server.pages.figures import decimals, of_mean, places_of
from deniable_server.results.public_results import PublicTable

ARROWS = {"below": "M1 6l10-6v12z", "above": "M-1 6l-10-6v12z"}
"""The paths that show an estimate beyond the axis, by its side."""


@dataclass(frozen=True)
class PublicShare:
    """The share of an option: its text with the text's language, or None for one of the page's own words, and its figures.

    level: The number that the option is, as many decimals as tell it from the next one; None for other options.
    """

    row: Row
    text: str
    tag: str | None
    level: Decimal | None = None

    @property
    def mark(self) -> Mark | None:
        """Positions in the chart."""
        return share_mark(self.row)


@dataclass(frozen=True)
class PublicMean:
    """The mean of a question's scores."""

    row: MeanRow

    @property
    def mark(self) -> Mark | None:
        """Positions in the chart."""
        return mark(self.axis, of_mean(self.row))

    @property
    def axis(self) -> ChartAxis:
        """The axis from the lowest score to the highest."""
        return ChartAxis(self.row.scale_low, self.row.scale_high)

    @property
    def figures(self) -> tuple[Decimal, Decimal, Decimal] | None:
        """Mean and limits with as many decimals as the interval supports; None without a mean."""
        if self.row.mean is None or self.row.low is None or self.row.high is None:
            return None
        places = decimals(self.row.low, self.row.high)
        mean, low, high = (Decimal(f"{value:.{places}f}") for value in (self.row.mean, self.row.low, self.row.high))
        return mean, low, high


@dataclass(frozen=True)
class PublicQuestion:
    """A question of a table. n: the records that have it."""

    question: Question
    n: int
    shares: tuple[PublicShare, ...]
    mean: PublicMean | None


def questions_of(survey: Survey, questions: Iterable[Question], table: PublicTable, language: str) -> Iterator[PublicQuestion]:
    """Yields some questions of a table, for a reader of a language."""
    rows: dict[str, list[Row]] = {}
    for row in table.results.rows:
        rows.setdefault(row.question, []).append(row)
    means = {row.question: PublicMean(row) for row in table.results.means}
    for question in questions:
        shares = tuple(_shares(survey, question, rows, language))
        n = max(table.counts[item.id].n for item in question.items)
        yield PublicQuestion(question, n, shares, means.get(question.id))


def _shares(survey: Survey, question: Question, rows: dict[str, list[Row]], language: str) -> Iterator[PublicShare]:
    texts, tag = survey.options_in(language, question)
    if question.labels:  # the first value of each item is that the option was chosen
        own = dict(zip(question.labels, texts or question.labels, strict=True))
        for item, label in zip(question.items, question.labels, strict=True):
            yield PublicShare(rows[item.id][0], own[label], tag)
        return
    levels = _levels(question)
    for row in rows.get(question.id, []):
        if row.option in question.options:
            yield PublicShare(row, texts[question.options.index(row.option)], tag)
        elif row.option in ("yes", "no") or (not question.required and row.option == question.categories[-1]):
            yield PublicShare(row, row.option if row.option in ("yes", "no") else "no answer", None)
        else:
            yield PublicShare(row, row.option, survey.language, levels.get(row.option))


def _levels(question: Question) -> dict[str, Decimal]:
    """Returns the levels of a number by their names in results; empty for other questions."""
    scores = question.scores or ()
    if not question.levelled:
        return {}
    places = places_of(scores[1] - scores[0])
    return {name: Decimal(f"{score:.{places}f}").normalize() for name, score in zip(question.categories, scores, strict=False)}


def percent(share: float) -> Decimal:
    """Returns a share in percent with one decimal, for the page's filter that formats it."""
    return Decimal(f"{100 * share:.1f}")
