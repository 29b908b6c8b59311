"""Waves page: the change of each question that two surveys share, in a sentence and as figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from deniable.errors import EstimateError
from deniable.estimate import MeanRow, Results, Row
from deniable.estimate.tables import Change, Waves, compare_waves
from deniable.survey.question import Question
from deniable_server.pages.chart import SHARES, ChartAxis, Mark, mark
from deniable_server.pages.figures import Figure, Unit, level_names, of_difference, of_mean, of_share, size, text
from deniable_server.researchers.comparison_tables import ComparisonLine
from deniable_server.results.analysis import require_records
from deniable_server.results.disclosure_control import compute_once
from deniable_server.results.results import Records, estimates_of, interval_of, records_of
from deniable_server.store.protocol import Store


@dataclass(frozen=True)
class ChangedQuestion:
    """A question that both surveys have.

    Attributes:
        sentences: (option, its change in words): of the mean if there is one, else of the options with a significant change.
        shares: The shares of both surveys, and their changes.
        means: The same of the mean.
        warnings: Warnings about the changes, each once.
    """

    question: Question
    sentences: tuple[tuple[str, str], ...]
    shares: tuple[ComparisonLine, ...]
    means: tuple[ComparisonLine, ...]
    warnings: tuple[str, ...]

    @property
    def charted(self) -> tuple[ComparisonLine, ...]:
        """The shares in the chart: of two options the first, since the second is what remains."""
        return self.shares[:1] if self.question.k == 2 and not self.question.labels else self.shares


@dataclass(frozen=True)
class WaveRow:
    """A figure of one wave, and its mark in a chart."""

    wave: str
    figure: Figure | None
    mark: Mark | None


@dataclass(frozen=True)
class WaveBlock:
    """An option in every wave, in order. name: the option, or empty for a mean."""

    name: str
    rows: tuple[WaveRow, ...]


def wave_blocks(lines: Sequence[ComparisonLine], names: Sequence[str], axis: ChartAxis = SHARES) -> list[WaveBlock]:
    """Returns the blocks of a chart: for each line, its figure in each wave."""
    return [
        WaveBlock(
            line.name,
            tuple(WaveRow(wave, figure, mark(axis, figure)) for wave, figure in zip(names, (line.first, line.second), strict=True)),
        )
        for line in lines
    ]


def waves_of(store: Store, survey_id: str, other_id: str, options: Mapping[str, str]) -> Waves:
    """Compares two surveys. The caller must check the researcher's role in both.

    Args:
        store: The server's store.
        survey_id: The first survey.
        other_id: The second survey.
        options: confidence, method and target as in `results_of`.

    Raises:
        EstimateError: An option is invalid, or both are the same survey.
        NoRecordsError: One of them has no counted records.
        WithheldError: One of them has too few records.
    """
    if survey_id == other_id:
        raise EstimateError("the survey to compare with must be another one than this")
    interval = {name: options[name] for name in ("confidence", "method", "target") if name in options}
    selected = [records_of(store, name, interval) for name in (survey_id, other_id)]
    waves = compute_once(
        [one.release for one in selected],
        ("waves", interval_of(interval)),
        lambda: compare_waves((selected[0].survey, selected[1].survey), _both(selected, interval)),
    )
    for one in selected:
        require_records(one.n, one.survey.title)
    first, second = _both(selected, interval)
    return replace(waves, first=first, second=second)  # with what waits now


def _both(selected: Sequence[Records], options: Mapping[str, str]) -> tuple[Results, Results]:
    first, second = (estimates_of(one, options) for one in selected)
    return first, second


def wave_names(waves: Waves) -> tuple[str, str]:
    """Returns the titles of the surveys, or their ids if the titles are the same."""
    first, second = waves.first, waves.second
    return (first.title, second.title) if first.title != second.title else (first.survey, second.survey)


def changed_questions(questions: Sequence[Question], waves: Waves) -> Iterator[ChangedQuestion]:
    """Yields those questions of the first survey that are in both."""
    by_item: dict[str, list[Change]] = {}
    for change in waves.changes:
        by_item.setdefault(change.question, []).append(change)
    for question in questions:
        labels = zip(question.items, question.labels or ("",), strict=True)
        changes = [(label, by_item[item.id]) for item, label in labels if item.id in by_item]
        if changes:
            yield _changed_question(question, changes)


def _changed_question(question: Question, by_label: Sequence[tuple[str, Sequence[Change]]]) -> ChangedQuestion:
    names = level_names(question)
    means = [change for _, changes in by_label for change in changes if isinstance(change.first, MeanRow)]
    shares = [
        (label or names.get(change.option, change.option), change) for label, changes in by_label for change in _shares(question, changes)
    ]
    differences = [change.difference for change in (*means, *(change for _, change in shares)) if change.difference]
    return ChangedQuestion(
        question,
        tuple(_mean_sentences(means) if means else _share_sentences(question, shares)),
        tuple(_line(name, change) for name, change in shares),
        tuple(_line("Mean", change) for change in means if change.difference),
        tuple(dict.fromkeys(difference.warning for difference in differences if difference.warning)),
    )


def _shares(question: Question, changes: Sequence[Change]) -> list[Change]:
    """Returns the changes of all options; of a multiple choice, of the share that chose an option."""
    shares = [change for change in changes if isinstance(change.first, Row)]
    return shares[:1] if question.labels else shares


def _line(name: str, change: Change) -> ComparisonLine:
    first, second = (of_mean(row) if isinstance(row, MeanRow) else of_share(row) for row in (change.first, change.second))
    unit = Unit.SCORE_DIFFERENCE if isinstance(change.first, MeanRow) else Unit.POINTS
    return ComparisonLine(name, first, second, of_difference(change.difference, unit) if change.difference else None)


def _share_sentences(question: Question, shares: Sequence[tuple[str, Change]]) -> list[tuple[str, str]]:
    """Describes the change of the first of two options, or the significant changes of several."""
    changes = [] if question.levelled else [(name, change) for name, change in shares if change.words]
    if question.k == 2 and not question.labels:
        changes = changes[:1]
    elif len(changes) > 1:
        changes = [(name, change) for name, change in changes if change.excludes_zero]
    return [(name, change.words) for name, change in changes]


def _mean_sentences(means: Sequence[Change]) -> list[tuple[str, str]]:
    """Describes the change of a mean: `from 4.8 to 5.1: a rise of 0.1 to 0.5`."""
    return [("Mean", _mean_sentence(_line("Mean", change), change.excludes_zero)) for change in means if change.difference]


def _mean_sentence(line: ComparisonLine, is_significant: bool) -> str:
    effect = "no change is shown"
    if line.difference and is_significant:
        effect = f"a {'rise' if line.difference.low > 0 else 'fall'} of {size(line.difference)}"
    return f"from {text(line.first).value} to {text(line.second).value}: {effect}"
