"""Where words come from: the system's generator, directly or as the key of a faster one. Nothing repeats them."""

from __future__ import annotations

import os
import ssl
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from deniable.device.entropy import MANY, keyed_words, os_words
from deniable.device.randomize import randomize
from deniable.mechanism import Channel

pytestmark = pytest.mark.real_coins
LONG = MANY  # words, of 4 bytes: four times what is drawn directly
Words = Callable[[int], NDArray[np.uint32]]


def test_few_words_are_the_operating_systems_own(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    monkeypatch.setattr("os.urandom", lambda size: asked.append(size) or bytes([1, 0, 0, 128] * (size // 4)))
    words = os_words(3)
    assert asked == [12]
    assert (words.dtype, words.tolist()) == (np.dtype("<u4"), [2**31 + 1] * 3)


def test_many_words_are_drawn_behind_a_key_of_the_operating_systems(monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[Any] = []
    monkeypatch.setattr("os.urandom", lambda size: steps.append(size) or bytes(size))
    monkeypatch.setattr(ssl, "RAND_add", lambda key, entropy: steps.append((key, entropy)))
    monkeypatch.setattr(ssl, "RAND_bytes", lambda size: steps.append(size) or b"\1\0\0\x80" * (size // 4))
    assert os_words(LONG).tolist() == [2**31 + 1] * LONG
    assert steps == [48, (bytes(48), 48.0), 4 * LONG]
    draw = keyed_words()
    draw(LONG), draw(LONG), draw(1)
    assert steps[3:] == [48, (bytes(48), 48.0), 4 * LONG, 4 * LONG, 4]


@pytest.mark.parametrize("count", [0, 1, 255, 256, 257, 5000])
def test_there_are_as_many_words_as_asked_for_and_nobody_changes_them(count: int) -> None:
    for words in (os_words(count), keyed_words()(count)):
        assert (words.shape, words.dtype) == ((count,), np.dtype("<u4"))
        assert not words.flags.writeable


@pytest.mark.parametrize("kept", [os_words, keyed_words()], ids=["a key each time", "one key"])
def test_words_are_uniform_in_every_bit_and_not_alike(kept: Words) -> None:
    words = kept(1 << 16)
    ones = np.unpackbits(words.view(np.uint8).reshape(-1, 4), axis=1).mean(axis=0)
    assert np.abs(ones - 0.5).max() < 6 * 0.5 / 256
    assert len(np.unique(words)) > 65_536 - 20  # by chance two are alike once in two draws
    assert not np.array_equal(words, kept(1 << 16))


def drawn_after_forks(words: Words) -> list[bytes]:
    """What a process draws, two children of it, and a child of a child, all forked behind the first draw."""
    words(LONG)
    drawn = []
    for depth in (1, 1, 2):
        reading, writing = os.pipe()
        if os.fork() == 0:
            try:
                if depth == 1 or os.fork() == 0:
                    os.write(writing, words(LONG).tobytes()[:64])
            finally:
                os._exit(0)
        os.close(writing)
        with os.fdopen(reading, "rb") as pipe:
            drawn.append(pipe.read())
        os.wait()
    return [words(LONG).tobytes()[:64], *drawn]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_process_that_was_forked_repeats_no_word_of_its_parents() -> None:
    for words in (os_words, keyed_words()):
        drawn = drawn_after_forks(words)
        assert [len(one) for one in drawn] == [64] * 4
        assert len(set(drawn)) == 4


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_the_control_a_generator_that_is_keyed_once_repeats_them() -> None:
    generator = np.random.Generator(np.random.PCG64(os_words(4)))
    assert len(set(drawn_after_forks(lambda count: generator.integers(0, 1 << 32, count, dtype=np.uint32)))) < 4


@pytest.mark.parametrize("count", [1, LONG])
def test_without_a_source_of_words_nothing_is_reported(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    def none(size: int) -> bytes:
        raise NotImplementedError

    monkeypatch.setattr("os.urandom", none)
    with pytest.raises(NotImplementedError):
        randomize(Channel(2, 1, 5), np.zeros(count, dtype=np.int64), os_words)
    with pytest.raises(NotImplementedError):
        keyed_words()
