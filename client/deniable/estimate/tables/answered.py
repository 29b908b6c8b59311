"""Valid per cent: the shares of a question's options among people who answered it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from deniable.errors import EstimateError
from deniable.estimate.limits.normal import Estimate
from deniable.estimate.moments import applicability, counts
from deniable.estimate.present.figures import percent, percents
from deniable.estimate.present.table import Table, footnote_lines, footnotes
from deniable.estimate.present.tabular import Tabular
from deniable.survey import Survey
from deniable.survey.types.base import NO_ANSWER


@dataclass(frozen=True)
class Answered(Tabular):
    """A question among people who answered it.

    Attributes:
        question: The id of the question.
        options: The options but "no answer".
        shares: The share of each option among people who answered, a ratio with Fieller's limits.
        part: The share of people who answered, with limits from the share of "no answer".
    """

    question: str
    part: Estimate
    options: tuple[str, ...]
    shares: tuple[Estimate, ...]

    def tables(self) -> tuple[Table, ...]:
        """Returns one row an option."""
        marks = footnotes([one.warning for one in self.shares])
        title = f"{self.question}, among those who answered: {percent(self.part.estimate)} ({percents(self.part.low, self.part.high)})"
        about = f"{self.part.n:,} reports · {100 * self.part.confidence:g}% intervals · target: {self.part.target}"
        rows = tuple(
            (option, percent(one.estimate), percents(one.low, one.high), marks.get(one.warning, ""))
            for option, one in zip(self.options, self.shares, strict=True)
        )
        return (Table(title, ("option", "among those who answered", "interval", ""), rows, footnote_lines(marks), (about,)),)

    def records(self) -> tuple[Table, ...]:
        """Returns one row an option: question, option, among (answered), n, estimate, std_error, low, high, confidence, target, warning."""
        header = ("question", "option", "among", "n", "estimate", "std_error", "low", "high", "confidence", "target", "warning")
        rows = []
        for option, one in zip(self.options, self.shares, strict=True):
            figures = (one.n, one.estimate, one.std_error, one.low, one.high, one.confidence, one.target, one.warning)
            rows.append((self.question, option, "answered", *figures))
        return (Table("share", header, tuple(rows)),)


def answered(survey: Survey, question: str, mean_of: Callable[[Sequence[float | None]], Estimate]) -> Answered:
    """Estimates a question among people who answered it. mean_of: returns the mean of scores, over people whose score is not None.

    Raises:
        EstimateError: The question is required or a number on a grid, or too few people are estimated to have answered.
    """
    item, _ = counts.find(survey, question)
    applicability.require_of("conditional share", survey, (question,))
    if NO_ANSWER not in item.categories or item.required:
        raise EstimateError(f"question {question} must be one that need not be answered: everybody answered it")
    options = tuple(option for option in item.categories if option != NO_ANSWER)
    part = mean_of([float(option != NO_ANSWER) for option in item.categories])
    shares = []
    for chosen in options:
        result = mean_of([None if option == NO_ANSWER else float(option == chosen) for option in item.categories])
        shares.append(replace(result, what=f"{question} = {chosen} among those who answered"))
    return Answered(question, replace(part, what=f"{question} answered"), options, tuple(shares))
