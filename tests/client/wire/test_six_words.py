"""Six words that can be told apart by eye and by ear, and that change with the survey. `test_vectors.py` ties them to the browser's."""

from __future__ import annotations

import pytest

from deniable.wire.six_words import WORDS, six_words


def test_the_list_has_a_word_for_each_byte_none_like_another() -> None:
    assert len(WORDS) == len({word[:3] for word in WORDS}) == 256
    assert all(word.isascii() and word.isalpha() and word.islower() and 3 <= len(word) <= 8 for word in WORDS)
    near = [(a, b) for a in WORDS for b in WORDS if a < b and len(a) == len(b) and sum(x != y for x, y in zip(a, b, strict=True)) < 2]
    assert near == []
    assert list(WORDS) == sorted(WORDS)


@pytest.mark.slow
def test_another_digest_has_other_words_in_most_places() -> None:
    digests = [f"{number:064x}" for number in range(7)]
    words = [six_words(digest).split() for digest in digests]
    assert all(len(six) == 6 for six in words)
    alike = [sum(a == b for a, b in zip(one, other, strict=True)) for one in words for other in words if one is not other]
    assert max(alike) <= 2
