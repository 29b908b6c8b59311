"""Analysis of one survey: its reports, and every estimate as a method."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import EstimateError
from deniable.estimate.limits.interval import DEFAULT_METHOD, Interval, confidence_of
from deniable.estimate.limits.normal import Estimate
from deniable.estimate.limits.origin import Origin, require_independent
from deniable.estimate.moments import applicability, counts
from deniable.estimate.present.table import Table
from deniable.estimate.present.tabular import Tabular
from deniable.estimate.regression.fit import regress
from deniable.estimate.regression.result import Regression
from deniable.estimate.regression.variable import PerturbedVariable, perturbed
from deniable.estimate.samples.sample import Sample
from deniable.estimate.samples.sampled_reports import SampledReports, as_sampled, together
from deniable.estimate.tables import crosstab, differences, groups, means, paired, sampled, waves
from deniable.estimate.tables.answered import Answered, answered
from deniable.estimate.tables.answered_table import among_answered
from deniable.estimate.tables.correlation import correlation, correlation_with
from deniable.estimate.tables.crosstab import Crosstab
from deniable.estimate.tables.differences import Comparison
from deniable.estimate.tables.groups import GroupDifferences
from deniable.estimate.tables.means import Quantile
from deniable.estimate.tables.results import Results
from deniable.estimate.tables.shares import estimate, share_rows
from deniable.estimate.tables.shown_question import ShownQuestion, among_shown
from deniable.estimate.tables.subpopulation import AnswerFilter, Subpopulation, estimates_among, others_of, require_present
from deniable.estimate.tables.survey_means import scores_of
from deniable.estimate.tables.trends import Trends, trends
from deniable.estimate.tables.waves import Waves
from deniable.survey import Survey
from deniable.survey.types.base import NO_ANSWER
from deniable.wire.record import unpack
from deniable.wire.tally import Tally

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Analysis(Tabular):
    """The reports of one survey. It prints as its results, and displays them in a notebook.

    Attributes:
        survey: The survey as published.
        tally: The counted reports.
        bits: The reports themselves, shape (n, record_bits), or None if there is only a tally.
        confidence, method, target, simultaneous: As in `estimate`, for every figure.
        described: Further fields of `Results` that a server states: group, by_hand, n_by_hand, n_organisation and waiting.
        groups: The tally of each public group, if known.
        sample: The sampling design, which needs `groups`.
    """

    survey: Survey
    tally: Tally
    bits: NDArray[np.bool_] | None = field(default=None, repr=False)
    confidence: float = 0.95
    method: str = DEFAULT_METHOD
    target: str = "population"
    simultaneous: bool = False
    described: Mapping[str, Any] = field(default_factory=dict, repr=False)
    groups: Mapping[str, Tally] | None = field(default=None, repr=False)
    sample: Sample | None = None

    @cached_property
    def results(self) -> Results:
        """The shares of all options of all questions, and the means of the questions that have scores."""
        result = estimate(
            self.survey,
            self.tally if self.groups is None else self.groups,
            confidence=self.confidence,
            method=self.method,
            target=self.target,
            simultaneous=self.simultaneous,
            sample=self.sample,
        )
        return replace(result, **self.described)

    @cached_property
    def sampled_reports(self) -> SampledReports | None:
        """The reports with their sampling design, or None without one. Raises EstimateError if the design does not fit."""
        return as_sampled(self.survey, self.tally if self.groups is None else self.groups, self.sample)

    @property
    def _origin(self) -> Origin:
        of = self.sampled_reports.origin if self.sampled_reports else Origin(counts.people_of(self.tally), self.survey.digest)
        return replace(of, group=self.described.get("group"), by_hand=bool(self.described.get("by_hand")))

    @property
    def _interval(self) -> Interval:
        return Interval(self.confidence, target=self.target)

    def tables(self) -> tuple[Table, ...]:
        """Returns the tables of `Results.tables`."""
        return self.results.tables()

    def records(self) -> tuple[Table, ...]:
        """Returns the tables of `Results.records`."""
        return self.results.records()

    def to_dict(self) -> dict[str, Any]:
        """Returns the results as plain JSON types, as `Results.to_dict` does."""
        return self.results.to_dict()

    def to_frame(self, table: str | None = None) -> pd.DataFrame:
        """Returns the results as a pandas DataFrame, as `Results.to_frame` does."""
        return self.results.to_frame(table)

    def conf_int(self, *, alpha: float | None = None, confidence: float | None = None) -> pd.DataFrame:
        """Returns confidence limits at any level, in the form of `Results.conf_int`.

        Raises:
            EstimateError: Both `alpha` and `confidence` are given, or the one given is not above 0 and below 1.
        """
        level = confidence_of(alpha, confidence, self.confidence)
        return (self if level == self.confidence else replace(self, confidence=level)).results.conf_int()

    def plot(self, question: str | None = None) -> alt.VConcatChart:
        """Returns the chart of `Results.plot`."""
        return self.results.plot(question)

    def save_chart(self, path: str | Path, question: str | None = None) -> None:
        """Writes the chart of `Results.plot` to a file, as `Results.save_chart` does."""
        self.results.save_chart(path, question)

    def mean(self, question: str, scores: Sequence[float | None] | None = None) -> Estimate:
        """Estimates the mean score of a question.

        Args:
            question: The id of a question.
            scores: One number for each category, by default the scores of the survey; None leaves a category out.

        Raises:
            EstimateError: The question is unknown, has no scores, or `scores` do not fit it.
        """
        item, _ = counts.find(self.survey, question)
        chosen = scores_of(item) if scores is None else scores
        if chosen is None:
            raise EstimateError(f"question {question} is a {item.type} and has no scores; give {item.k}, one for each of its categories")
        if self.sampled_reports:
            return sampled.mean(self.sampled_reports, question, chosen, self._interval)
        return means.mean(self.survey, self.tally, question, chosen, confidence=self.confidence, target=self.target)

    def quantile(self, question: str, q: float = 0.5) -> Quantile:
        """Estimates a quantile of a question's options in their order, by default the median; "no answer" is left out.

        Raises:
            EstimateError: The question is unknown or a number on a grid, or q is not above 0 and below 1.
        """
        item, _ = counts.find(self.survey, question)
        leave_out = () if item.required else (NO_ANSWER,)
        if self.sampled_reports:
            return sampled.quantile(self.sampled_reports, question, q, leave_out, self._interval)
        return means.quantile(self.survey, self.tally, question, q, leave_out=leave_out, confidence=self.confidence, target=self.target)

    def crosstab(self, a: str, b: str, *more: str, answered: bool = False) -> Crosstab:
        """Estimates the joint shares of two questions; of three or more from whole reports only, and without a sample.

        Args:
            a: The id of the question in the rows.
            b: The id of the question in the columns.
            more: Ids of further questions.
            answered: Whether to restrict the table to people who answered all of its questions ("valid per cent").

        Raises:
            EstimateError: A question is unknown, too few people are estimated to have answered, or `answered` is set for a number on a
                grid.
        """
        result = self._crosstab(a, b, *more)
        return among_answered(result) if answered else result

    def _crosstab(self, a: str, b: str, *more: str) -> Crosstab:
        if self.sampled_reports and not more:
            return sampled.table(self.sampled_reports, a, b, self._interval)
        self._require_no_sample("a table of more than two questions")
        if not more:
            return crosstab.crosstab(self.survey, self.tally, a, b, confidence=self.confidence, target=self.target)
        names, bits = [a, b, *more], self._reports("a table of more than two questions")
        return replace(crosstab.joint(self.survey, bits, names, confidence=self.confidence, target=self.target), origin=self._origin)

    def among_shown(self, question: str, *, complete: bool = False) -> ShownQuestion:
        """Estimates a branched question (`show_if`) among the people who were shown it, without the noise of impossible answers.

        Args:
            question: The id of a question that is only shown after some answers to another.
            complete: Whether to assume that all people who were shown it answered it, which makes the estimates more precise.

        Raises:
            EstimateError: The question is unknown or not branched, or `complete` is set and the reports contradict it.
        """

        def table_of(a: str, b: str, complete: bool) -> Crosstab:
            if self.sampled_reports:
                return sampled.table(self.sampled_reports, a, b, self._interval, complete)
            return crosstab.crosstab(self.survey, self.tally, a, b, confidence=self.confidence, target=self.target, complete=complete)

        result = among_shown(self.survey, question, lambda a, b: table_of(a, b, False))
        if not complete:
            return result
        if result.unanswered.low > 0:
            raise EstimateError(f"complete: not everybody answered {question} who was shown it, but for {result.unanswered}")
        return among_shown(self.survey, question, lambda a, b: table_of(a, b, True))

    def among(self, question: str, option: str, *, questions: Collection[str] | None = None) -> Subpopulation:
        """Estimates all other questions among the people whose true answer to a question is this option.

        No answer of a person is known: each figure is a ratio of two estimates from a cross table, and equals its `conditional_share`.

        Args:
            question: The id of a question with categories: yes_no, choice, scale, number with bins, multi_choice.
            option: The answer; of a multiple choice, the option that people chose.
            questions: The ids of the questions to estimate, by default all.

        Raises:
            EstimateError: A question or option is unknown, the question is a number without bins, or the share of these people is not
                clearly above 0. A single figure that is refused is None, with the reason as its warning.
        """
        chosen = AnswerFilter.of(self.survey, question, option)
        part = self._part(chosen)
        items = others_of(self.survey, chosen, questions)
        reports = None if self.sampled_reports else self.tally
        rows, means = estimates_among(self.survey, reports, chosen, items, self._crosstab, self._interval)
        described = {name: self.described[name] for name in ("group", "by_hand") if name in self.described}
        head = self.survey.id, self.survey.title, self.survey.digest
        return Subpopulation(*head, chosen, part, self.tally.n, self.survey.epsilon, rows, means, **described)

    def _part(self, among: AnswerFilter) -> Estimate:
        """Returns the share of a subpopulation, as `results` has it. Raises EstimateError if it is not clearly above 0."""
        interval = Interval(self.confidence, self.method, self.target)
        rows = self.results.rows if self.sampled_reports else share_rows(self.survey, self.tally, [among.item], interval)
        row = next(row for row in rows if (row.question, row.option) == (among.item.id, among.category))
        if row.estimate is None or row.std_error is None or row.low is None or row.high is None:
            raise EstimateError(f"{among.words}: there is no estimate of the share of these people, since {row.warning}")
        figures = row.estimate, row.std_error, row.low, row.high
        part = Estimate(among.words, row.n, *figures, row.confidence, row.target, row.warning, origin=row.origin)
        require_present(part, interval.quantile)
        return part

    def compare(self, other: Analysis | Tally, question: str) -> Comparison:
        """Estimates the shares of a question among other people's reports less the shares among these.

        Raises:
            EstimateError: The reports are of another survey, or of the same people, or the question is unknown.
        """
        if isinstance(other, Analysis) and other.survey.digest != self.survey.digest:
            raise EstimateError(f"both must be reports to one survey, got the digests {self.survey.digest} and {other.survey.digest}")
        second = other.tally if isinstance(other, Analysis) else other
        if isinstance(other, Analysis) and self.sampled_reports and other.sampled_reports:
            return sampled.compare(self.sampled_reports, other.sampled_reports, question, self._interval)
        self._require_no_sample("a comparison with reports that are no sample")
        require_independent([self._origin, other._origin if isinstance(other, Analysis) else Origin(counts.people_of(second))])
        return differences.compare(self.survey, self.tally, second, question, confidence=self.confidence, target=self.target)

    def compare_groups(
        self, others: Mapping[str, Analysis], question: str, *, name: str | None = None, pairs: bool = False
    ) -> GroupDifferences:
        """Estimates the differences of other groups from this one: the shares of a question, and its mean.

        The intervals of all these differences hold together.

        Args:
            others: The other groups, by name.
            question: The id of a question.
            name: The name of this group, by default the name that a server states.
            pairs: Whether to compare each group with every one before it, instead of with this one.

        Raises:
            EstimateError: The groups are of different surveys or share people, or the question is unknown.
        """
        own = name or self.described.get("group") or "the reference"
        if any(other.survey.digest != self.survey.digest for other in others.values()):
            raise EstimateError("all groups must be reports to one survey")
        for one in (self, *others.values()):
            one._require_no_sample("a comparison of all groups")
        require_independent([self._origin, *(other._origin for group, other in others.items() if group != own)])
        tallies = {own: self.tally, **{group: other.tally for group, other in others.items() if group != own}}
        interval: dict[str, Any] = {"confidence": self.confidence, "method": self.method, "target": self.target}
        reference = None if pairs else own
        return groups.compare_groups(self.survey, tallies, question, reference=reference, pairs=pairs, **interval)

    def compare_waves(self, second: Analysis) -> Waves:
        """Estimates the changes from this survey to another, asked of other people, in each question that both share.

        Shared questions have the same id, type, options and scores. If both surveys were asked in the same clusters
        (`Sample(clusters=...)`), the changes are within the clusters.

        Raises:
            EstimateError: No question is shared, or the analyses differ in confidence, target or simultaneity.
        """
        if self.simultaneous != second.simultaneous:
            raise EstimateError("both analyses must be simultaneous, or neither")
        draws = (self.sampled_reports, second.sampled_reports) if self.sampled_reports and second.sampled_reports else None
        return waves.compare_waves((self.survey, second.survey), (self.results, second.results), draws)

    def trend(self, *later: Analysis, times: Sequence[float] | None = None) -> Trends:
        """Estimates the slope of every share and mean over this wave and two or more later ones, asked of other people.

        Args:
            later: The later waves.
            times: The time of each wave, by default 1, 2, 3 and so on.

        Raises:
            EstimateError: As `compare_waves`, or the times do not fit.
        """
        waves = (self, *later)
        if len({one.simultaneous for one in waves}) > 1:
            raise EstimateError("all analyses must be simultaneous, or none")
        return trends([one.survey for one in waves], [one.results for one in waves], times)

    def between(self, a: str, option: str, b: str, other: str) -> Estimate:
        """Returns the share of an option of question a less the share of an option of question b, which may be the same question.

        Both are of the same people, and the error allows for the association of the answers: "more smoke than drink?". `difference` is for
        different people.

        Args:
            a: The id of a question, or of an item of a multiple choice.
            option: The option of a.
            b: As a; it may be the same question.
            other: The option of b, another one if b is a.

        Raises:
            EstimateError: A question or option is unknown, the two are the same, or a question is a number whose reports hold its mean
                only.
        """
        if a != b:
            return paired.between(self.crosstab(a, b), option, other)
        if self.sampled_reports:
            return sampled.between_options(self.sampled_reports, a, option, other, self._interval)
        return differences.between_options(self.survey, self.tally, a, option, other, confidence=self.confidence, target=self.target)

    def between_means(self, a: str, b: str) -> Estimate:
        """Returns the mean score of question a less the mean score of question b, among people who answered both.

        Raises:
            EstimateError: A question is unknown or has no scores, the two are the same, or a number's reports hold its mean only.
        """
        scores = []
        for name in (a, b):
            item, _ = counts.find(self.survey, name)
            own = scores_of(item)
            if own is None:
                raise EstimateError(
                    f"question {name} must have scores for a difference of means, got a {item.type}; use `between` for shares"
                )
            scores.append(own)
        return paired.between_means(self.crosstab(a, b), *scores)

    def correlation(self, a: str, b: str, data: pd.DataFrame | None = None) -> Estimate:
        """Estimates Pearson's correlation of the scores of two questions, among people who answered both.

        Args:
            a: The id of a question with scores or with two options; the first of two options counts as 1.
            b: As a, or a numeric column of `data`.
            data: Public columns in the order of the reports.

        Raises:
            EstimateError: A question has neither scores nor two options, or is a number that is rounded at random.
        """
        if data is not None and b in data.columns:
            self._require_no_sample("a correlation with a public number")
            if self.target != "population":
                raise EstimateError("a correlation with a public number is of a population")
            bits = self._reports("a correlation with a public number")
            numbers = data[b].to_numpy()
            return correlation_with(self.survey, bits, a, self._scores(a), numbers, confidence=self.confidence)
        applicability.require_of("correlation", self.survey, (a, b))
        return correlation(self.crosstab(a, b), self._scores(a), self._scores(b))

    def _scores(self, question: str) -> Sequence[float | None]:
        item, _ = counts.find(self.survey, question)
        answers = [category for category in item.categories if item.required or category != NO_ANSWER]
        scores = scores_of(item)
        if scores is None and len(answers) != 2:
            raise EstimateError(f"question {question} is a {item.type} and has no scores, which a correlation needs")
        return scores or [None if category not in answers else float(category == answers[0]) for category in item.categories]

    def answered(self, question: str) -> Answered:
        """Estimates the shares of a question's options among people who answered it.

        Raises:
            EstimateError: The question is unknown or required.
        """
        return answered(self.survey, question, lambda scores: self.mean(question, scores))

    def regress(
        self,
        formula: str,
        data: pd.DataFrame | None = None,
        *,
        model: str = "logit",
        covariates: str | None = None,
        errors: str | None = None,
        weights: str | None = None,
        clusters: str | None = None,
        scored: Sequence[str] = (),
    ) -> Regression:
        """Fits a regression formula of the survey's questions and of public columns; see `estimate.regress`.

        "No answer" is missing: the model is of people who answered all of its questions. If devices drew the questions, a report counts
        for those questions that it has.

        Args:
            formula: The model, such as "affair ~ religious + children".
            data: Public columns, in the order of the reports.
            model: As in `estimate.regress`.
            covariates: As in `estimate.regress`.
            errors: As in `estimate.regress`.
            weights: As in `estimate.regress`.
            clusters: As in `estimate.regress`.
            scored: The questions to use as numbers, by their scores, instead of as categories.

        Raises:
            EstimateError: There is only a tally, the model cannot be fitted, or a number on a grid is more than the outcome of a linear
                model.
        """
        if self.sample is not None:
            raise EstimateError("a regression cannot allow for a sample: it takes weights and clusters, columns of the data, instead")
        options: dict[str, Any] = {"model": model, "covariates": covariates, "errors": errors, "weights": weights, "clusters": clusters}
        return regress(formula, data, self.perturbed(scored), **options)

    def perturbed(self, scored: Sequence[str] = ()) -> Mapping[str, PerturbedVariable]:
        """Returns every question as a perturbed variable, by its id.

        Raises:
            EstimateError: There is only a tally, or `scored` names a question without scores.
        """
        result = perturbed(self.survey, self._reports("a regression"))
        for name in scored:
            item, _ = counts.find(self.survey, name)
            if item.scores is None:
                raise EstimateError(f"scored must name questions that have scores, got {name!r}")
            unanswered = (0.0,) * (len(item.categories) - len(item.scores))
            result[name] = replace(result[name], scores=(*item.scores, *unanswered))
        return result

    def _require_no_sample(self, what: str) -> None:
        if self.sample is not None:
            raise EstimateError(f"{what} cannot allow for a sample yet; without one everybody counts as drawn alone")

    def _reports(self, what: str) -> NDArray[np.bool_]:
        if self.bits is None:
            raise EstimateError(f"reports must be individual records for {what}, got only their tally")
        return self.bits


def analyse(
    survey: Survey,
    reports: Tally | bytes | NDArray[np.bool_] | Mapping[str, Tally],
    *,
    confidence: float = 0.95,
    method: str = DEFAULT_METHOD,
    target: str = "population",
    simultaneous: bool = False,
    sample: Sample | None = None,
) -> Analysis:
    """Returns an analysis of a survey's reports: tables, charts and models.

    Args:
        survey: The survey as published.
        reports: A tally; packed records back to back, as they are sent and stored; their bits, as `unpack` returns them; or the tally of
            each public group.
        confidence: As in `estimate`.
        method: As in `estimate`.
        target: As in `estimate`.
        simultaneous: As in `estimate`.
        sample: The sampling design, which needs the tallies of the groups.

    Raises:
        EstimateError: An argument breaks its rule.
        SubmissionError: The survey's randomization cannot produce a record.
    """
    bits = groups = None
    if isinstance(reports, Mapping):
        as_sampled(survey, reports, sample)
        groups, reports = reports, together(reports)
    if not isinstance(reports, Tally):
        bits = unpack(survey, reports, len(reports) // survey.record.bytes) if isinstance(reports, bytes) else np.asarray(reports)
        reports = Tally.from_bits(bits)
    result = Analysis(survey, reports, bits, confidence, method, target, simultaneous, groups=groups, sample=sample)
    result.results  # noqa: B018 - what is wrong with the arguments shows here
    return result
