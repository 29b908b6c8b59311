"""Coins that fall as a test wants them, in the browser as in Python; and what a device keeps."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np
from selenium.webdriver import Chrome

from deniable.device.branching import apply_skip_logic
from deniable.device.encode import MISSING, positions, round_stochastically
from deniable.device.items import each_answer
from deniable.device.randomize import randomize
from deniable.survey import Survey
from deniable.wire.record import pack


def code_for(survey: Survey) -> bytes:
    """A withdrawal code that no other test takes."""
    return hashlib.sha256(survey.id.encode()).digest()[:15]


def coins(survey: Survey, words: list[int], secret: bytes | None = None, *, late: bool = False) -> str:
    """A script that makes the browser's generator begin with these words whenever it is asked for a block of words.

    `secret` are the bytes of the withdrawal code, those of `code_for` where it is left out. With `late`, only at the last look: words for
    orders and samples are the browser's own.
    """
    at_end = """document.querySelector("#review:not([hidden])")""" if late else "true"
    return f"""{{ // a block, since a second script in the same document cannot declare the name again
      const ownWords = Crypto.prototype.getRandomValues;
      Crypto.prototype.getRandomValues = function (array) {{
        if (array instanceof Uint32Array && !({at_end})) return ownWords.call(this, array);
        if (array instanceof Uint32Array) array.set({json.dumps(words)});
        else array.set({list(secret or code_for(survey))}.slice(0, array.length));
        return array;
      }};
    }}"""


def record(survey: Survey, categories: list[int], words: list[int]) -> bytes:
    """The record that Python's twin makes of these categories with these words."""
    rest = iter(words)

    def give(count: int) -> np.ndarray[Any, np.dtype[np.uint32]]:
        return np.array([next(rest) for _ in range(count)], dtype=np.uint32)

    return pack(survey, [randomize(q.channel, np.array([c]), give) for q, c in zip(survey.items, categories, strict=True)])


def words_for(survey: Survey, categories: list[int], outcome: bytes) -> list[int]:
    """Words with which these categories come out as this record."""
    dice = np.random.default_rng(1)
    return next(w for w in (dice.integers(0, 2**32, 40).tolist() for _ in range(10_000)) if record(survey, categories, w) == outcome)


def kept_of(driver: Chrome, survey: Survey) -> Any:
    """What the device keeps about a survey."""
    return json.loads(driver.execute_script("return localStorage.getItem(arguments[0])", f"deniable:{survey.digest}") or "null")


def categories_of(survey: Survey, answers: dict[str, Any]) -> np.ndarray[Any, np.dtype[np.int64]]:
    """One respondent's categories, shape (items, 1); the survey has no numbers but those in bins, which need no words."""
    stand = each_answer(survey, answers)
    return apply_skip_logic(
        survey, np.array([round_stochastically(item, positions(item, [None if a is MISSING else a]), None) for item, a in stand])
    )


def alike(survey: Survey, answers: list[dict[str, Any]]) -> list[list[int]]:
    """Words for each of several people, with which the same record comes out whatever they answer."""
    dice = np.random.default_rng(7)
    people = [categories_of(survey, given) for given in answers]
    words: list[list[int]] = [[] for _ in people]
    for place, item in enumerate(survey.items):
        outcome = None
        for person, categories in enumerate(people):
            for _ in range(100_000):
                tried = dice.integers(0, 2**32, item.channel.d + 1, dtype=np.uint32)
                rest = iter(tried.tolist())
                bits = randomize(item.channel, categories[place], lambda n, r=rest: np.array([next(r) for _ in range(n)], np.uint32))
                if outcome is None or (bits == outcome).all():
                    break
            outcome = bits
            words[person] += tried.tolist()[: len(tried) - len(list(rest))]
    return words
