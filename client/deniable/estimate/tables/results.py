"""Results of a survey: plain records of all estimates, and their forms for people, files and programs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, TypeVar, overload

from deniable.errors import EstimateError, UnknownNameError
from deniable.estimate.checks.made_up_reports import MadeUp
from deniable.estimate.limits.interval import require_confidence
from deniable.estimate.limits.origin import Origin
from deniable.estimate.present.figures import percent, percents
from deniable.estimate.present.plain import record
from deniable.estimate.present.table import Table, footnote_lines, footnotes
from deniable.estimate.present.text import one_line
from deniable.estimate.tables.question_results import QuestionResults, figures_of_mean, mean_cells, names_of

if TYPE_CHECKING:
    import pandas as pd

_ANY = "Analysis.conf_int has limits of any confidence"


@dataclass(frozen=True)
class Row:
    """One option of one question.

    Attributes:
        question, option: The id of the question, and the option.
        n, ones: Reports, and how many have this option's bit set.
        estimate, std_error, low, high: As in `Share`, the estimate unbiased and never clipped; None without reports, and without an
            estimate for the target.
        adjusted: The estimate under shares >= 0 that add to 1; None as above.
        epsilon: The question's exact privacy loss.
        confidence, method, target: Of low and high.
        chance_rate: The share of reports with the bit set if no respondent has this option.
        warning: Plain words, or empty.
        origin: The reports used, if known; it is neither compared nor written.
    """

    question: str
    option: str
    n: int
    ones: int
    estimate: float | None
    std_error: float | None
    low: float | None
    high: float | None
    adjusted: float | None
    epsilon: float
    confidence: float
    method: str
    target: str
    chance_rate: float
    warning: str
    origin: Origin | None = field(default=None, compare=False, repr=False, kw_only=True)

    def conf_int(self, *, alpha: float | None = None, confidence: float | None = None) -> tuple[float | None, float | None]:
        """Returns low and high. alpha, confidence: as in `Results.conf_int`. Raises EstimateError for another confidence than the row's."""
        require_confidence(alpha, confidence, self.confidence, _ANY)
        return self.low, self.high


@dataclass(frozen=True)
class MeanRow:
    """Mean of one question's scores among people who answered it, in the unit of the scores.

    Attributes:
        question: The id of the question.
        n: Reports.
        mean, std_error, low, high: As in `mean`; None without reports, with too few answers, and without a mean for the target.
        scale_low, scale_high: The least and the largest score that can be answered.
        epsilon: The question's exact privacy loss.
        confidence, target: Of low and high.
        warning: Plain words, or empty.
        origin: As in `Row`.
    """

    question: str
    n: int
    mean: float | None
    std_error: float | None
    low: float | None
    high: float | None
    epsilon: float
    confidence: float
    target: str
    scale_low: float
    scale_high: float
    warning: str = ""
    origin: Origin | None = field(default=None, compare=False, repr=False, kw_only=True)

    def conf_int(self, *, alpha: float | None = None, confidence: float | None = None) -> tuple[float | None, float | None]:
        """Returns low and high, as `Row.conf_int` does."""
        require_confidence(alpha, confidence, self.confidence, _ANY)
        return self.low, self.high

    @property
    def figures(self) -> tuple[str, str, str, str]:
        """The texts of `figures_of_mean`."""
        return figures_of_mean(self)


_SHARES = ("question", "option", "estimate", "std error", "interval", "adjusted", "")
_MEANS = ("question", "mean", "std error", "interval", "scale", "")
_ROW_KEYS = tuple(one.name for one in fields(Row) if one.compare)
_MEAN_FIELDS = tuple(one.name for one in fields(MeanRow) if one.compare)
_MEAN_KEYS = tuple("estimate" if name == "mean" else name for name in _MEAN_FIELDS)


def _values(row: Row | MeanRow) -> dict[str, Any]:
    return {name: getattr(row, name) for name in (_ROW_KEYS if isinstance(row, Row) else _MEAN_FIELDS)}


_AnyRow = TypeVar("_AnyRow", Row, MeanRow)


@dataclass(frozen=True)
class Results(QuestionResults):
    """Estimates of one survey. It prints as a table; iterating gives its rows, and `results["smokes"]` the rows of one question.

    Attributes:
        survey, title, digest: The survey as published.
        n: Reports.
        epsilon: The exact privacy loss of one submission, at most.
        rows: The questions in order, each with its options in order.
        simultaneous: Whether `confidence` holds for the intervals of all options of a question together (of a multiple choice: of all its
            items) instead of for each alone; a mean's interval is always alone.
        means: The means of the questions with scores.
        group: The public group of the reports, or None for all groups together.
        by_hand: Whether these are the reports of people who answered with real coins, which are never mixed with others.
        n_by_hand: The number of such reports beside these.
        n_organisation: The number of these reports that an organisation with its people's answers perturbed.
        made_up: The test for made-up reports; None without reports.
        waiting: Reports of people that wait for their release, in all groups, in steps of 10.
        sample: The assumption about the sample, in a line; empty if the survey has no groups, and everybody was drawn alone.
    """

    survey: str
    title: str
    digest: str
    n: int
    epsilon: float
    rows: tuple[Row, ...]
    simultaneous: bool = False
    means: tuple[MeanRow, ...] = ()
    group: str | None = None
    by_hand: bool = False
    n_by_hand: int = 0
    n_organisation: int = 0
    made_up: MadeUp | None = None
    waiting: int = 0
    sample: str = ""

    def __post_init__(self) -> None:
        """Sets the part of the survey's reports in the origin of each row."""
        object.__setattr__(self, "rows", tuple(map(self._with_origin, self.rows)))
        object.__setattr__(self, "means", tuple(map(self._with_origin, self.means)))

    def _with_origin(self, row: _AnyRow) -> _AnyRow:
        if row.origin is None or (row.origin.group, row.origin.by_hand) == (self.group, self.by_hand):
            return row
        return replace(row, origin=replace(row.origin, group=self.group, by_hand=self.by_hand))

    @property
    def confidence(self) -> float:
        """The probability that an interval encloses the truth. A survey of numbers alone has means, and no rows."""
        return (self.rows or self.means)[0].confidence

    def to_dict(self) -> dict[str, Any]:
        """Returns plain JSON types; the rows come last, then the means."""
        head = {one.name: getattr(self, one.name) for one in fields(self) if one.name not in ("rows", "means", "made_up")}
        head["made_up"] = self.made_up and asdict(self.made_up)
        return {**head, "rows": [_values(row) for row in self.rows], "means": [_values(row) for row in self.means]}

    @classmethod
    def from_dict(cls, source: Mapping[str, Any]) -> Results:
        """Returns results from the form of `to_dict`; the keys after `rows` above may be left out, as in older ones.

        Raises:
            EstimateError: Another key is missing, a key is unknown, or a value is of another kind than the field's.
        """
        try:
            rows = tuple(record(Row, row) for row in source["rows"])
            means = tuple(record(MeanRow, row) for row in source.get("means", ()))
            if any(len({figure is None for figure in (row.mean, row.std_error, row.low, row.high)}) > 1 for row in means):
                raise EstimateError("a mean must have its error and both limits, or none of all")
            made_up = record(MadeUp, result) if (result := source.get("made_up")) else None
            result = record(cls, {**source, "rows": rows, "means": means, "made_up": made_up})
            mark = hashlib.sha256(repr((result.survey, result.digest, result.n, rows, means)).encode()).hexdigest()
            origin = Origin(frozenset({mark}), result.digest, result.group, result.by_hand)
            return replace(result, rows=tuple(_from(row, origin) for row in rows), means=tuple(_from(row, origin) for row in means))
        except (KeyError, TypeError, AttributeError) as error:
            raise EstimateError(f"the results must have the keys that to_dict gives: {error}") from None

    @overload
    def __getitem__(self, key: str) -> Results: ...
    @overload
    def __getitem__(self, key: tuple[str, str]) -> Row: ...
    def __getitem__(self, key: str | tuple[str, str]) -> Results | Row:
        """Returns the results of one question, all items of a multiple choice together; or the row of a question and an option.

        Raises:
            UnknownNameError: There is no such question or option; it is also a KeyError.
        """
        if isinstance(key, tuple):
            result = {(row.question, row.option): row for row in self.rows}
            if key not in result:
                if not any(question == key[0] for question, _ in result):
                    raise UnknownNameError.of("the question must be one of the results", key[0], (question for question, _ in result))
                options = (option for question, option in result if question == key[0])
                raise UnknownNameError.of(f"the option must be one of question {key[0]}", key[1], options)
            return result[key]
        self.require_question(key)
        rows = tuple(row for row in self.rows if key in names_of(row.question))
        means = tuple(row for row in self.means if key in names_of(row.question))
        return replace(self, rows=rows, means=means)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def tables(self) -> tuple[Table, ...]:
        """Returns the means, if there are any, with their scales; then the shares, and the notes on both."""
        marks = self._marks
        sampled = (f"Sample: {self.sample}.",) if self.sample and self.group is None else ()
        notes = footnote_lines(marks) + sampled + ((self.made_up.words,) if self.made_up else ())
        shares = Table("", _SHARES, tuple((*_share_cells(row), marks.get(row.warning, "")) for row in self.rows), notes, texts=2)
        means = Table("", _MEANS, tuple((*mean_cells(row), marks.get(row.warning, "")) for row in self.means))
        first, *rest = [means, shares] if self.means else [shares]
        if self.means and not self.rows:  # of numbers through windows there is nothing else
            first, rest = replace(means, notes=notes), []
        return replace(first, title=self.heading, about=(self.caption,)), *rest

    def records(self) -> tuple[Table, ...]:
        """Returns `share`, the fields of `rows`, and `mean`, the fields of `means`, with the mean itself under `estimate`.

        Results of one group, or of records made by hand, have further columns, group and by_hand. If reports look made up, each
        warning says so.
        """
        part = {**({} if self.group is None else {"group": self.group}), **({"by_hand": True} if self.by_hand else {})}
        keys, cells = tuple(part), tuple(part.values())
        rows, means = (tuple((*_values(self._with_alarm(one)).values(), *cells) for one in several) for several in (self.rows, self.means))
        return Table("share", (*_ROW_KEYS, *keys), rows), Table("mean", (*_MEAN_KEYS, *keys), means)

    def to_frame(self, table: str | None = None) -> pd.DataFrame:
        """Returns a pandas DataFrame of every figure, with the columns of the CSV; of shares or means alone for table="share" or "mean".

        Counts that a mean does not have are missing values of whole numbers. Raises EstimateError for another table.
        """
        import pandas as pd

        if table is not None:
            return super().to_frame(table)
        tables = self.records()
        columns = ["figure", *dict.fromkeys(name for one in tables for name in one.columns)]
        lines = [{"figure": one.title, **row} for one in tables for row in one.dicts()]
        result = pd.DataFrame([[line.get(name) for name in columns] for line in lines], columns=columns)
        return result.astype({"ones": "Int64"}) if self.means and lines else result

    def conf_int(self, *, alpha: float | None = None, confidence: float | None = None) -> pd.DataFrame:
        """Returns a pandas DataFrame with the columns low and high, indexed by question and option; the option of a mean is empty.

        alpha, confidence: the chance that a limit misses the truth, or that both hold it; at most one of them. These results have limits
        of one confidence; `Analysis.conf_int` computes limits of any. Raises EstimateError for another one.
        """
        if self.rows or self.means:
            require_confidence(alpha, confidence, self.confidence, _ANY)
        result = self.to_frame()
        return result.assign(option=result["option"].fillna("")).set_index(["question", "option"])[["low", "high"]]

    @property
    def chart_title(self) -> str:
        """The title of a chart."""
        return one_line(self.title)

    @property
    def heading(self) -> str:
        """The survey in one line, and the part of its reports."""
        group = "" if self.group is None else f", group {one_line(self.group)}"
        return f"{one_line(self.title)} ({one_line(self.survey)}){group}{', made by hand' if self.by_hand else ''}"

    @property
    def _marks(self) -> dict[str, str]:
        return footnotes([row.warning for part in (self.means, self.rows) for row in part])

    def _with_alarm(self, row: Row | MeanRow) -> Row | MeanRow:
        """Returns the row with the alarm about made-up reports, if there is one, in its warning."""
        alarm = self.made_up.words if self.made_up and self.made_up.alarm else ""
        return replace(row, warning="; ".join(filter(None, [row.warning, alarm])))

    @property
    def caption(self) -> str:
        """The subject of the figures: reports, privacy, intervals, target."""
        parts = [_reports(self.n), f"epsilon {self.epsilon:.4g} for the whole survey"]
        if self.rows:
            first, together = self.rows[0], ", a question's options holding together" if self.simultaneous else ""
            parts += [f"{100 * first.confidence:g}% intervals ({first.method}){together}", f"target: {first.target}"]
        elif self.means:
            parts += [f"{100 * self.means[0].confidence:g}% intervals", f"target: {self.means[0].target}"]
        if self.n_organisation:
            parts.append(f"{self.n_organisation:,} of them randomized by an organisation that had the answers")
        if self.n_by_hand:
            parts.append(f"{_reports(self.n_by_hand)} made by hand apart")
        if self.waiting:
            parts.append(f"{self.waiting:,} or more wait for their release")
        return " · ".join(parts)


def _from(row: _AnyRow, origin: Origin) -> _AnyRow:
    return replace(row, origin=replace(origin, question=row.question, option=row.option if isinstance(row, Row) else ""))


def _reports(n: int) -> str:
    return f"{n:,} report{'' if n == 1 else 's'}"


def _share_cells(row: Row) -> tuple[str, ...]:
    return row.question, row.option, percent(row.estimate), percent(row.std_error), percents(row.low, row.high), percent(row.adjusted)
