"""Branched questions: estimates of a question among the people who were shown it (`show_if`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from deniable.errors import EstimateError
from deniable.estimate.limits.normal import Estimate
from deniable.estimate.moments import counts
from deniable.estimate.present.figures import percent, percents
from deniable.estimate.present.table import Table
from deniable.estimate.present.tabular import Tabular
from deniable.estimate.tables.association import conditional_share
from deniable.estimate.tables.crosstab import Crosstab, in_words
from deniable.survey import Survey
from deniable.survey.condition import Condition
from deniable.survey.types.base import NO_ANSWER


@dataclass(frozen=True)
class ShownQuestion(Tabular):
    """One question among people who were shown it.

    Attributes:
        question: The id of the question.
        after: The question and the answers after which it is shown.
        part: The share of all people who gave one of these answers.
        unanswered: The share of all people who did, and did not answer this question.
        options: The options of the question.
        shares, answered: The share of each option among people who were shown the question, and among people who answered it; None if too
            few are estimated to be among them, and of no answer among people who answered.
    """

    question: str
    after: Condition
    part: Estimate
    unanswered: Estimate
    options: tuple[str, ...]
    shares: tuple[Estimate | None, ...]
    answered: tuple[Estimate | None, ...]

    def tables(self) -> tuple[Table, ...]:
        """Returns one row an option."""
        who = f"shown to {percent(self.part.estimate)} ({percents(self.part.low, self.part.high)})"
        title = f"{self.question}, {who}, who said {' or '.join(self.after.options)} to {self.after.question}"
        about = f"{self.part.n:,} reports · {100 * self.part.confidence:g}% intervals · target: {self.part.target}"
        cells = (
            (option, *_cells(selected), *_cells(answered))
            for option, selected, answered in zip(self.options, self.shares, self.answered, strict=True)
        )
        header = ("option", "among those shown", "interval", "among those who answered", "interval")
        return (Table(title, header, tuple(cells), about=(about,)),)

    def records(self) -> tuple[Table, ...]:
        """Returns one row for each option and group: question, option, among (shown, answered), n, estimate, .., target."""
        header = ("question", "option", "among", "n", "estimate", "std_error", "low", "high", "confidence", "target", "warning")
        rows = []
        for among, figures in (("shown", self.shares), ("answered", self.answered)):
            for option, one in zip(self.options, figures, strict=True):
                if one is not None:
                    cells = (one.n, one.estimate, one.std_error, one.low, one.high, one.confidence, one.target, one.warning)
                    rows.append((self.question, option, among, *cells))
        return (Table("share", header, tuple(rows)),)


def among_shown(survey: Survey, question: str, table_of: Callable[[str, str], Crosstab]) -> ShownQuestion:
    """Estimates one question among people who were shown it. table_of: the cross table of two questions.

    Raises:
        EstimateError: The question is not shown after answers to one other question alone.
    """
    item, _ = counts.find(survey, question)
    parent = next((one for one in survey.questions if one.id == question), None)
    after = parent.show_if if parent else None
    if not isinstance(after, Condition) or after.question not in [one.id for one in survey.items]:
        raise EstimateError(f"question {question} must be one that is shown only after answers to one other question, which has one answer")
    table = table_of(after.question, question)
    answers = tuple(option for option in item.categories if option != NO_ANSWER)
    shown_after = {after.question: after.options}
    part, unanswered = table.share(shown_after), _unanswered_share(table, {**shown_after, question: NO_ANSWER})
    shares, answered = [], []
    for option in item.categories:
        shares.append(_among(table, {question: option}, shown_after))
        answered.append(None if option == NO_ANSWER else _among(table, {question: option}, {question: answers}))
    return ShownQuestion(question, after, part, unanswered, item.categories, tuple(shares), tuple(answered))


def _unanswered_share(table: Crosstab, chosen: dict[str, str | Sequence[str]]) -> Estimate:
    """Returns the share of all people who were shown the question and did not answer; 0 if the table assumes that all answered."""
    try:
        return table.share(chosen)
    except EstimateError:
        return Estimate(in_words(chosen), table.n, 0.0, 0.0, 0.0, 0.0, table.confidence, table.target)


def _among(table: Crosstab, of: dict[str, str], condition: dict[str, tuple[str, ...]]) -> Estimate | None:
    with suppress(EstimateError):
        return conditional_share(table, of, condition)
    return None


def _cells(one: Estimate | None) -> tuple[str, str]:
    return ("", "") if one is None else (percent(one.estimate), percents(one.low, one.high))
