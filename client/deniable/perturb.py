"""True answers go in, submissions come out: here all coins of a Python client are tossed.

The only file besides the browser's form that draws the words for them from the operating system.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable import codes
from deniable.branching import hide
from deniable.encode import allowed, places, settle
from deniable.entropy import os_words
from deniable.errors import AnswerError, RefusedError
from deniable.question_types import Answer
from deniable.randomize import randomize
from deniable.rows import MISSING, Batch, Rows, batches, each_answer, some_of
from deniable.sampling import draw
from deniable.submission import Submission, pack
from deniable.survey import Survey


def encode_one(survey: Survey, answers: Mapping[str, Answer], also: Sequence[str] = ()) -> NDArray[np.int64]:
    """One respondent's categories, shape (items, 1).

    Raises AnswerError, which lists everything that is wrong, and `also` what was found wrong elsewhere; it quotes no answer.
    """
    known = {question.id for question in (*survey.questions, *survey.items)}
    names = ", ".join(question.id for question in survey.questions)
    problems = [f"{name}: is no question of survey {survey.id}; its questions are {names}" for name in answers if name not in known]
    stand = list(each_answer(survey, answers))
    taken = [settle(item, places(item, [None if answer is MISSING else answer]), os_words) for item, answer in stand]
    categories = hide(survey, np.array(taken))
    for (item, answer), category in zip(stand, categories[:, 0].tolist(), strict=True):
        if category < 0:
            problems.append(f"{item.id}: is missing" if answer is MISSING else f"{item.id}: the answer must be {allowed(item)}")
    problems += also
    if problems:
        raise AnswerError("\n".join(problems))
    return categories


def encode_many(survey: Survey, rows: Rows, **options: Any) -> Iterator[Batch]:
    """As `rows.batches`."""
    return batches(survey, rows, os_words, **options)


def public_problems(survey: Survey, group: str | None, invitation: str | None) -> list[str]:
    """What is wrong with what goes openly beside the answers. Quotes nothing: it may be an answer in the wrong place."""
    return [*_group_problems(survey, group), *invitation_problems(survey, invitation)]


def _group_problems(survey: Survey, group: str | None) -> list[str]:
    if survey.groups and group not in survey.groups:
        return [f"group: {'is missing; it ' if group is None else ''}must be {some_of(survey.groups)}"]
    if group is not None and not survey.groups:
        return [f"group: must be left out: survey {survey.id} has no groups"]
    return []


def invitation_problems(survey: Survey, invitation: str | None) -> list[str]:
    """What is wrong with an invitation, or with there being none."""
    if survey.access != "invited":
        return [] if invitation is None else [f"invitation: must be left out: survey {survey.id} is open to all"]
    if invitation is None:
        return [f"invitation: is missing: survey {survey.id} takes a code from each respondent"]
    try:
        codes.read(invitation)
    except ValueError as error:
        return [f"invitation: {error}"]
    return []


def perturb(
    survey: Survey, categories: NDArray[np.int64], group: str | None = None, invitation: str | None = None
) -> tuple[Submission, str]:
    """Tosses all coins for n respondents, whose categories have shape (items, n); gives the submission, and the code that withdraws it.

    Raises RefusedError without entropy.
    """
    try:
        order = _shuffle(categories.shape[1])
        asked = draw(survey, categories.shape[1], os_words)
        bits = [randomize(item.channel, column[order], os_words) for item, column in zip(survey.items, categories, strict=True)]
        secret = secrets.token_bytes(codes.SECRET_BYTES)
    except (NotImplementedError, OSError):
        raise RefusedError("the operating system gives no secure random numbers; nothing was sent") from None
    made = Submission(
        codes.submission_id(secret),
        survey.digest,
        categories.shape[1],
        pack(survey, bits, asked),
        group,
        invitation=None if invitation is None else codes.read(invitation),
    )
    return made, codes.written(secret)


def _shuffle(n: int) -> NDArray[np.int64]:
    """A uniform permutation of n, by sorting 64-bit keys: two equal ones in 100,000 have a chance under 1 in 10^9."""
    return np.argsort(os_words(2 * n).view("<u8"))
