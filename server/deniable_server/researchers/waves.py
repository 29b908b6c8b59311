"""Two surveys that share questions, as the page of waves shows them: for each question what has changed, in a sentence and as figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from deniable.errors import EstimateError
from deniable.estimate import MeanRow, Row
from deniable.estimate.tables import Change, Waves, compare_waves
from deniable.survey import Survey
from deniable.survey.question import Question
from deniable_server.pages import figures
from deniable_server.researchers import side_by_side
from deniable_server.researchers.side_by_side import Line
from deniable_server.results.analysis import require_somebody
from deniable_server.results.results import results_of
from deniable_server.store.protocol import Published, Store


@dataclass(frozen=True)
class ChangedQuestion:
    """One question that both have. words: (option, what has changed in it), of several options those in which a change is shown;
    of a question with a mean, that of the mean.

    shares, mean: the figures of both, and of the change.
    """

    question: Question
    words: tuple[tuple[str, str], ...]
    shares: tuple[Line, ...]
    mean: tuple[Line, ...]
    warnings: tuple[str, ...]


def others(survey: Survey, seen: Sequence[Published]) -> list[Published]:
    """Of the surveys that somebody sees, those that a survey shares a question with, by its id and type; not the survey itself."""
    own = {(item.id, item.type) for item in survey.items}
    return [one for one in seen if one.survey.id != survey.id and own & {(item.id, item.type) for item in one.survey.items}]


def waves_of(store: Store, survey_id: str, other_id: str, options: Mapping[str, str]) -> Waves:
    """What has changed from one survey to another. options: confidence, method and target, as in `results_of`.

    Whoever asks must have a role in both. Raises EstimateError naming what is wrong, also where one has nothing counted, and WithheldError.
    """
    if survey_id == other_id:
        raise EstimateError("the survey to compare with must be another one than this")
    surveys = tuple(store.surveys.published(one).survey for one in (survey_id, other_id))
    asked = {name: options[name] for name in ("confidence", "method", "target") if name in options}
    both = (results_of(store, survey_id, asked), results_of(store, other_id, asked))
    found = compare_waves((surveys[0], surveys[1]), both)
    for survey, results in zip(surveys, both, strict=True):
        require_somebody(results.n, survey.title)
    return found


def called(waves: Waves) -> tuple[str, str]:
    """What the two surveys are called: by their titles where these tell them apart, else by their ids."""
    first, second = waves.first, waves.second
    return (first.title, second.title) if first.title != second.title else (first.survey, second.survey)


def changed(survey: Survey, waves: Waves) -> Iterator[ChangedQuestion]:
    """The questions of the first survey that the second has, too."""
    by_item: dict[str, list[Change]] = {}
    for change in waves.changes:
        by_item.setdefault(change.question, []).append(change)
    for question in survey.questions:
        found = [(label, by_item[item.id]) for item, label in _labelled(question) if item.id in by_item]
        if found:
            yield _changed(question, found)


def _labelled(question: Question) -> list[tuple[Question, str]]:
    return list(zip(question.items, question.labels or ("",), strict=True))


def _changed(question: Question, found: Sequence[tuple[str, Sequence[Change]]]) -> ChangedQuestion:
    means = [change for _, changes in found for change in changes if isinstance(change.first, MeanRow)]
    names = figures.level_names(question)
    shares = [
        (label or names.get(change.option, change.option), change) for label, changes in found for change in _shown(question, changes)
    ]
    told = [] if question.levelled else [(name, change) for name, change in shares if change.words]
    if question.k == 2 and not question.labels:
        told = told[:1]
    elif len(told) > 1:
        told = [(name, change) for name, change in told if change.excludes_zero]
    words = [(name, change.words) for name, change in told]
    if means:
        words = [("Mean", said) for change in means if (said := _mean_words(change))]
    known = [change.difference for change in (*means, *(change for _, change in shares)) if change.difference]
    return ChangedQuestion(
        question,
        tuple(words),
        tuple(_share_line(name, change) for name, change in shares),
        tuple(_mean_line(change) for change in means if change.difference),
        tuple(dict.fromkeys(difference.warning for difference in known if difference.warning)),
    )


def _shown(question: Question, changes: Sequence[Change]) -> list[Change]:
    """Of a multiple choice the share that chose an option; of others all options."""
    shares = [change for change in changes if isinstance(change.first, Row)]
    return shares[:1] if question.labels else shares


def _share_line(name: str, change: Change) -> Line:
    first, second = (
        (figures.percent(row.estimate), figures.interval(row.low, row.high)) if isinstance(row, Row) else ("–", "–")
        for row in (change.first, change.second)
    )
    return name, (first, second, side_by_side.difference(change.difference) if change.difference else ("–", ""))


def _mean_words(change: Change) -> str:
    """What is said of a mean's change: `from 4.8 to 5.1: no change is shown`; empty where there is none to be told."""
    if change.difference is None:
        return ""
    _, ((before, _), (after, _), (_, limits)) = _mean_line(change)
    kind = "rise" if change.difference.low > 0 else "fall"
    size = limits.replace("+", "") if kind == "rise" else " to ".join(reversed(limits.replace("−", "").split(" to ")))
    return f"from {before} to {after}: " + (f"a {kind} of {size}" if change.excludes_zero else "no change is shown")


def _mean_line(change: Change) -> Line:
    assert change.difference is not None
    told = [figures.mean(row) for row in (change.first, change.second) if isinstance(row, MeanRow)]
    first, second = ((one, f"{low} to {high}") for one, low, high in told)
    return "Mean", (first, second, side_by_side.mean_difference(change.difference))
