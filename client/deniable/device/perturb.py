"""Perturbation under a seal: true answers go in, submissions come out.

In Python, this is the only module that draws random words for coins from the generators of `entropy.py`.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.device.branching import apply_skip_logic
from deniable.device.encode import MISSING, positions, round_stochastically
from deniable.device.entropy import keyed_words, os_words
from deniable.device.items import each_answer, item_lists
from deniable.device.randomize import FEW, Words, randomize, randomize_as_numbers
from deniable.device.sampling import draw
from deniable.device.sealed import Sealed
from deniable.device.sources.rows import Rows
from deniable.device.tables import Batch, ExtraColumns, batches
from deniable.errors import AnswerError, RefusedError, RejectedRow
from deniable.mechanism import Channel
from deniable.survey import Survey
from deniable.survey.exclusive import contradictions
from deniable.survey.rules import allowed
from deniable.survey.types.base import Answer
from deniable.wire import access_codes
from deniable.wire.packing import RecordArray, shuffled
from deniable.wire.part import Part
from deniable.wire.public import Public, some_of
from deniable.wire.submission import Submission

CodedSubmission = tuple[Submission, str]
"""A submission and its withdrawal code."""

Admit = Callable[[Batch], Batch]
"""Returns a batch of rows without the rows that must not be sent."""

BLOCK = 1 << 15
"""Respondents whose coins are tossed at once: their words and three 64-bit arrays fit into the processor's cache."""
WIDE_BLOCK = 1 << 12
"""The same for a question of more than FEW outputs, whose coins are tossed in a table."""


@dataclass(frozen=True)
class PerturbedBatch:
    """The public part of a batch of rows: its size, the rejected rows, and the submissions and hashes of the others.

    Attributes:
        size: Number of rows.
        rejected: The rows that are left out.
        submissions: The submissions, each with its withdrawal code.
        marks: Hashes of the rows' keys.
        only_checked: Whether no coin was tossed for these rows.
    """

    size: int
    rejected: list[RejectedRow]
    submissions: list[CodedSubmission]
    marks: list[bytes]
    only_checked: bool = False


def perturb_one(answers: Mapping[str, Answer], survey: Survey, public: Public) -> CodedSubmission:
    """Returns one respondent's submission. Call it under a seal.

    Raises:
        AnswerError: Answers are invalid. It lists every problem, and quotes neither an answer nor a key, which may be an answer.
    """
    if not isinstance(answers, Mapping):
        raise AnswerError(f"answers must be a mapping from question id to answer, got {type(answers).__name__}")
    valid = {question.id for question in (*survey.questions, *survey.items)}
    names = ", ".join(question.id for question in survey.questions)
    others = sum(name not in valid for name in answers)
    problems = [f"answers must be to questions of survey {survey.id}, which are {names}; got {others:,} to others"] if others else []
    items = list(each_answer(survey, answers))
    encoded = np.array(
        [round_stochastically(item, positions(item, [None if answer is MISSING else answer]), os_words) for item, answer in items]
    )
    problems += [f"{name}: the answer must be {rule}" for name, rule, rows in contradictions(survey, encoded) if rows[0]]
    categories = apply_skip_logic(survey, encoded)
    lists, wrong = item_lists([item.id for item, _ in items]), dict[str, str]()
    for (item, answer), category in zip(items, categories[:, 0].tolist(), strict=True):
        if category < 0:
            name, rule = item.id, allowed(item)
            if item.id in lists and not any(key in answers for key, (whole, _) in lists.items() if whole == lists[item.id][0]):
                name, rule = lists[item.id][0], f"a list of options, each {some_of(list(lists[item.id][1]))}"
            wrong.setdefault(name, f"{name}: is missing" if answer is MISSING else f"{name}: the answer must be {rule}")
    problems += wrong.values()
    problems += public.problems(survey)
    if problems:
        raise AnswerError("\n".join(problems))
    return perturb(survey, categories, Part(public.group, public.mode), public.invitation)


def perturb_many(
    survey: Survey,
    rows: Rows,
    public: Public,
    admit: Admit,
    most: float = math.inf,
    *,
    person_column: str | None = None,
    row_key: str | None = None,
    **options: Any,
) -> Iterator[PerturbedBatch]:
    """Yields the rows batch by batch: read, encoded and perturbed, each batch under a seal.

    Once a batch is yielded, nothing refers to its answers any more.

    Args:
        survey: The survey.
        rows: The source of the rows.
        public: The group, the invitation and the mode.
        admit: Selects the rows of a batch that may be sent, before a coin is tossed for them; its errors end the iteration.
        most: Bytes of records after which the other rows are only checked, without tossing a coin.
        person_column: The column that names each row's person.
        row_key: The column that names each row.
        options: Further options of `tables.batches`.
    """
    extra = ExtraColumns(public.group_column, person_column, row_key)
    size = 0

    def perturbed(batch: Batch) -> PerturbedBatch:
        nonlocal size
        batch = admit(batch)
        submissions = _submissions(survey, public, batch) if size < most else None
        size += sum(len(submission.reports) for submission, _ in submissions or ())
        return PerturbedBatch(batch.size, batch.rejected, submissions or [], batch.marks, submissions is None)

    # map and iter, not a generator, which would keep its last batch while that is being sent
    perturbed_batches = map(perturbed, batches(survey, rows, os_words, extra=extra, **options))
    return iter(Sealed(next, perturbed_batches, None), None)


def _submissions(survey: Survey, public: Public, batch: Batch) -> list[CodedSubmission]:
    """Returns a submission for the rows of each group."""
    if public.group_column is None:
        return [perturb(survey, batch.categories, Part(public.group, public.mode), public.invitation)] if batch.categories.size else []
    return [
        perturb(survey, batch.categories[:, batch.groups == group], Part(survey.groups[group], public.mode), public.invitation)
        for group in np.unique(batch.groups)
    ]


def perturb(survey: Survey, categories: NDArray[np.integer[Any]], part: Part, invitation: str | None = None) -> CodedSubmission:
    """Tosses all coins for n respondents with categories of shape (items, n); returns the submission and its withdrawal code.

    Raises:
        RefusedError: The system has no source of randomness.
    """
    try:
        reports = randomize_records(survey, categories, keyed_words())
        secret = secrets.token_bytes(access_codes.SECRET_BYTES)
    except (NotImplementedError, OSError):
        raise RefusedError("the operating system gives no secure random numbers; nothing was sent") from None
    submission = Submission(
        access_codes.submission_id(secret),
        survey.digest,
        categories.shape[1],
        reports,
        part.group,
        part.mode,
        invitation=None if invitation is None else access_codes.read(invitation),
    )
    return submission, access_codes.format_code(secret)


def randomize_records(survey: Survey, categories: NDArray[np.integer[Any]], words: Words) -> bytes:
    """Returns the records of n respondents with categories of shape (items, n), in a random order."""
    n = categories.shape[1]
    blocks = [_records(survey, categories[:, start : start + BLOCK], words) for start in range(0, n, BLOCK)]
    return shuffled(blocks, permutation(n, words))


def _records(survey: Survey, categories: NDArray[np.integer[Any]], words: Words) -> RecordArray:
    n = categories.shape[1]
    records = RecordArray(survey.record, n, draw(survey, n, words))
    for field, column in zip(survey.record.fields, categories, strict=True):
        channel = field.item.channel
        few = channel.outputs <= FEW
        records.put(field, randomize_as_numbers(channel, column, words) if few else _wide_reports(channel, column, words)[:, :-1])
    return records


def _wide_reports(channel: Channel, categories: NDArray[np.integer[Any]], words: Words) -> NDArray[np.bool_]:
    """Returns perturbed bits of more than FEW outputs, shape (n, outputs)."""
    starts = range(0, len(categories), WIDE_BLOCK)
    return np.concatenate([randomize(channel, categories[start : start + WIDE_BLOCK], words) for start in starts])


def permutation(n: int, words: Words) -> NDArray[np.int64]:
    """Returns a uniform permutation of n: random keys are sorted, with indexes in their low bits, and redrawn if two are equal."""
    width = (n - 1).bit_length() if n else 0
    while True:
        keys = words(2 * n).view("<u8") >> np.uint64(width) << np.uint64(width)
        keys |= np.arange(n, dtype=np.uint64)
        keys.sort()
        if np.all((keys[1:] ^ keys[:-1]) >> np.uint64(width)):
            return (keys & np.uint64((1 << width) - 1)).astype(np.int64)
