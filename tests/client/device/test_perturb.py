"""Many respondents' records at once are, bit for bit, what each question by itself gives; their order is drawn."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from deniable.device import perturb
from deniable.device.entropy import os_words
from deniable.device.perturb import permutation, randomize_records
from deniable.device.randomize import Words, randomize
from deniable.device.sampling import draw
from deniable.mechanism import WORD
from deniable.survey import Survey
from deniable.wire import packing
from deniable.wire.record import pack, unpack

SIZES = (2, 2, 3, 5, 8, 9, 20, 33, 64, 65, 100)


def survey_of(sizes: list[int], ask: int | None = None) -> Survey:
    questions = [{"id": f"q{i}", "text": "?", "type": "choice", "options": [f"o{j}" for j in range(k)]} for i, k in enumerate(sizes)]
    source = {"deniable": 1, "id": "s", "title": "T", "about": "A", "epsilon": 8, "questions": questions}
    return Survey.from_dict({**source, **({"ask": ask} if ask else {})})


def words_of(seed: int) -> Words:
    rng = np.random.default_rng(seed)
    return lambda count: rng.integers(0, WORD, count, dtype=np.uint32)


def one_by_one(survey: Survey, categories: NDArray[Any], words: Words) -> bytes:
    """The records by way of single bits: each question randomized, all packed as `pack` does."""
    n = categories.shape[1]
    asked = draw(survey, n, words)
    bits = [randomize(item.channel, column, words) for item, column in zip(survey.items, categories, strict=True)]
    order = permutation(n, words)
    return pack(survey, [one[order] for one in bits], None if asked is None else asked[order])


def differing(surveys: int = 40) -> int:
    """In how many of some random surveys the records at once are others than one by one."""
    different = 0
    for seed in range(surveys):
        rng = np.random.default_rng(seed)
        survey = survey_of(rng.choice(SIZES, 6).tolist(), 3 if seed % 2 else None)
        n = int(rng.choice([0, 1, 2, 7, 100]))
        categories = np.array([rng.integers(0, item.k, n) for item in survey.items], dtype=np.int8)
        different += randomize_records(survey, categories, words_of(seed)) != one_by_one(survey, categories, words_of(seed))
    return different


def test_records_at_once_are_what_each_question_gives_bit_for_bit() -> None:
    assert differing() == 0


@pytest.mark.parametrize(("method", "place"), [("_put_number", 1), ("_put_bits", 0)])
def test_the_control_bits_one_place_further_are_noticed(monkeypatch: pytest.MonkeyPatch, method: str, place: int) -> None:
    right = getattr(packing.RecordArray, method)

    def wrong(self: Any, *given: Any) -> None:
        right(self, *given[:place], max(0, given[place] - 1), *given[place + 1 :])

    monkeypatch.setattr(packing.RecordArray, method, wrong)
    assert differing(8) > 2


def test_blocks_of_respondents_are_all_there_once_and_mixed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(perturb, "BLOCK", 8)
    survey = survey_of([2] * 5)  # at epsilon 8, asked five questions, a coin lies often: so take what coins cannot change
    monkeypatch.setattr(perturb, "randomize_as_numbers", lambda channel, column, words: (column == 0).astype(np.uint8))
    categories = np.array([[i >> j & 1 for i in range(32)] for j in range(5)], dtype=np.int8)
    bits = unpack(survey, randomize_records(survey, categories, os_words), 32)
    numbers = (~bits @ (1 << np.arange(5))).tolist()
    assert sorted(numbers) == list(range(32))
    assert numbers != list(range(32))


def test_a_permutation_is_one_and_each_is_as_likely() -> None:
    for n in (0, 1, 2, 1000, 100_000):
        assert np.array_equal(np.sort(permutation(n, os_words)), np.arange(n))
    seen = Counter(tuple(permutation(3, os_words).tolist()) for _ in range(6000))
    assert sum((count - 1000) ** 2 / 1000 for count in seen.values()) < 40  # chi-square, 5 degrees: p < 2e-7


def test_numbers_of_a_permutation_that_are_equal_are_drawn_again() -> None:
    """Of two words, one number: the first three draws are equal but for their lowest bits, where the places are."""
    drawn = iter([[1, 5, 2, 5, 3, 5], [0, 7, 3, 7, 8, 9], [9, 3, 9, 2, 9, 1]])
    assert permutation(3, lambda count: np.array(next(drawn), dtype="<u4")).tolist() == [2, 1, 0]
    assert next(drawn, None) is None
