"""Proposals while a survey is written: the precision of its questions, in quick figures, and changes that improve it.

A proposal is worth the gain of the least precise question, since that is the one that disappoints.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from deniable.errors import SurveyError
from deniable.mechanism import Channel
from deniable.plan.arguments import check_count
from deniable.plan.power import smallest_effect
from deniable.plan.precision import (
    NO_PRIVACY,
    Mechanism,
    curator,
    fewest,
    normal_half_width,
    private,
    share_half_width,
    widest_share,
    within_most,
)
from deniable.plan.result import points
from deniable.survey import Question, Survey
from deniable.survey.rating import ids_of, weight_of

ROUGH = 0.10
"""Largest useful half-width of a share, ten points either way."""

_GAIN = 0.9  # the part of the half-width, at most, that a proposal leaves
ASKS = (1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 50)
_MOST_LEFT_OUT = 40  # questions to leave out, one at a time
_MOST_NAMED = 60  # characters of a question's text in a proposal
WEIGHTS = (1.5, 2.0, 3.0)


@dataclass(frozen=True)
class Outlook:
    """Expected precision of one question. Half-widths are of 95% intervals, at the hardest true share.

    Attributes:
        question: The id of the question.
        respondents: People who are asked it.
        half_width: The half-width with its coins.
        no_privacy: The half-width without privacy.
        curator: The half-width with a trusted curator.
        smallest_group: People in a group for an estimate of ten points either way, by the normal distribution; None above 10^12.
        smallest_difference: The smallest difference of two groups, half of the respondents each, that 80% of surveys find, or None.
    """

    question: str
    respondents: int
    half_width: float
    no_privacy: float
    curator: float
    smallest_group: int | None
    smallest_difference: float | None


@dataclass(frozen=True)
class Proposal:
    """A change of a survey: in words, with the half-width of its least precise question after it, and the changed document."""

    words: str
    half_width: float
    document: dict[str, Any]


def outlook(survey: Survey, n: int) -> tuple[Outlook, ...]:
    """Returns the expected precision of each question, for n respondents."""
    each = _reports(survey, n)
    return tuple(Outlook(question.id, each, *_figures(question.items[0].channel, each)) for question in survey.questions)


def widest(survey: Survey, n: int) -> float:
    """Returns the half-width of the least precise question, for n respondents."""
    each = _reports(survey, n)
    return max(_planned_half_width(channel, each) for channel in {question.items[0].channel for question in survey.questions})


def verdict(survey: Survey, n: int) -> str:
    """Returns a summary in one line: "12 questions, 800 people: 21 points"."""
    n, count = check_count("n", n), len(survey.questions)
    return f"{count} question{'s' * (count != 1)}, {n:,} {'people' if n != 1 else 'person'}: {points(widest(survey, n))} points"


def proposals(document: Mapping[str, Any], n: int) -> tuple[Proposal, ...]:
    """Returns changes of a valid document that improve its precision noticeably, the best first.

    They ask a sample of the questions, give the least precise one more of epsilon, or, last, leave one out; never the first one.
    """
    survey = Survey.from_dict(document)
    rough, now = _GAIN * rough_half_width(survey, n), _GAIN * widest(survey, n)
    kinds = (_samples(document, survey), _more_at_once(document, survey), _fewer(document, survey), _weighted(document, survey, n))
    best = [figures for kind in kinds if (figures := _best(kind, n, rough)) is not None]
    unlike = {proposal.words: proposal for proposal in best if proposal.half_width <= now}
    return tuple(sorted(unlike.values(), key=lambda proposal: (proposal.words.startswith(_LEAVE_OUT), proposal.half_width)))


Change = tuple[str, dict[str, Any]]
_LEAVE_OUT = "Leave out"


def _name(question: Question) -> str:
    """Returns a question's text in quotes, shortened."""
    text = " ".join(question.text.split())
    return f"“{text if len(text) <= _MOST_NAMED else text[: _MOST_NAMED - 1].rstrip() + '…'}”"


def _samples(document: Mapping[str, Any], survey: Survey) -> Iterator[Change]:
    yield from _asking(document, survey, ASKS)


def _more_at_once(document: Mapping[str, Any], survey: Survey) -> Iterator[Change]:
    """Proposes two or more questions for each person, whose associations can be estimated."""
    yield from _asking(document, survey, ASKS[1:])


def _asking(document: Mapping[str, Any], survey: Survey, asks: Sequence[int]) -> Iterator[Change]:
    blocks = len(survey.blocks)
    unit = "questions" if blocks == len(survey.questions) else "blocks of questions"
    for ask in asks:
        if ask < blocks and ask != survey.ask:
            yield f"Ask each person {ask} of the {blocks} {unit}, drawn at random", {**document, "ask": str(ask)}


def _fewer(document: Mapping[str, Any], survey: Survey) -> Iterator[Change]:
    needed = {name for question in survey.questions for name in question.depends_on}
    for question in survey.questions[1 : 1 + _MOST_LEFT_OUT]:  # the first one is most often what a study is about
        if question.id not in needed and not question.grid:  # an instrument's score needs all of its items
            yield f"{_LEAVE_OUT} {_name(question)}", _without(document, question.id)


def _weighted(document: Mapping[str, Any], survey: Survey, n: int) -> Iterator[Change]:
    """Proposes more budget for the question that needs it most, and so less for the others."""
    if "epsilon" not in document or len(survey.questions) < 2:
        return
    least = survey.questions[least_precise(survey, n)]
    index = next(index for index, source in enumerate(document["questions"]) if least.id in ids_of(source))
    for times in WEIGHTS:
        questions = [dict(question) for question in document["questions"]]
        weight = float(weight_of(questions[index]) or 1) * times
        questions[index]["weight"] = f"{weight:g}"
        yield f"Give {_name(least)} the weight {weight:g}", {**document, "questions": questions}


def _best(changes: Iterator[Change], n: int, most: float) -> Proposal | None:
    """Returns the change with the smallest half-width by the plain formula, if that is at most `most`, with its planned half-width."""
    figures = []
    for words, changed in changes:
        try:
            survey = Survey.from_dict(changed)
        except SurveyError:
            continue  # fewer questions than are asked of each person
        if (width := rough_half_width(survey, n)) <= most:
            figures.append((width, words, changed, survey))
    if not figures:
        return None
    _, words, changed, survey = min(figures, key=lambda figure: figure[0])
    return Proposal(words, widest(survey, n), changed)


def _without(document: Mapping[str, Any], question: str) -> dict[str, Any]:
    """Returns the document without a question. A section that begins with it begins with the next question, unless that begins another."""
    index = next(index for index, entry in enumerate(document["questions"]) if entry["id"] == question)
    removed, left = document["questions"][index], [dict(entry) for entry in document["questions"] if entry["id"] != question]
    heir = left[index] if "section" in removed and index < len(left) and "section" not in left[index] else None
    if heir is not None:
        heir["section"] = removed["section"]
    changed = {**document, "questions": left}
    if "translations" in document:
        name = heir["id"] if heir is not None else ""
        languages = {tag: _without_texts(texts, question, name) for tag, texts in document["translations"].items()}
        changed["translations"] = {tag: texts for tag, texts in languages.items() if texts}
        if not changed["translations"]:
            del changed["translations"]
    return changed


def _without_texts(texts: Mapping[str, Any], question: str, heir: str) -> dict[str, Any]:
    """Returns one language's texts without a question's; the heir, if any, takes the text of its section."""
    own = dict(texts.get("questions", {}))
    section = own.pop(question, {}).get("section")
    if heir and section:
        own[heir] = {**own.get(heir, {}), "section": section}
    return {**{key: value for key, value in texts.items() if key != "questions"}, **({"questions": own} if own else {})}


def least_precise(survey: Survey, n: int) -> int:
    """Returns the index of the least precise question, by the normal approximation."""
    each = _reports(survey, n)
    widths = [normal_half_width(private(question.items[0].channel), each) for question in survey.questions]
    return widths.index(max(widths))


def rough_half_width(survey: Survey, n: int) -> float:
    """Returns the widest half-width by the normal approximation, without clipping, to rank surveys that are all too imprecise."""
    each = _reports(survey, n)
    return max(normal_half_width(private(channel), each) for channel in {question.items[0].channel for question in survey.questions})


def _reports(survey: Survey, n: int) -> int:
    """Returns how many people are asked each question."""
    n = check_count("n", n)
    return n if survey.ask is None else max(1, n * survey.ask // len(survey.blocks))


@lru_cache(maxsize=4096)
def _planned_half_width(channel: Channel, n: int) -> float:
    """Returns the half-width as in `plan`."""
    coins = private(channel)
    return share_half_width(coins, n, share=None if coins.number else widest_share(coins, n))


@lru_cache(maxsize=4096)
def _figures(channel: Channel, n: int) -> tuple[float, float, float, int | None, float | None]:
    coins = private(channel)

    def of(design: Mechanism) -> float:
        return share_half_width(design, n)

    half, group = max(1, n // 2), within_most(lambda: fewest(lambda size: normal_half_width(coins, size) <= ROUGH))
    return (
        _planned_half_width(channel, n),
        of(NO_PRIVACY),
        of(curator(channel.epsilon)),
        group,
        smallest_effect(coins, (half, half)),
    )
