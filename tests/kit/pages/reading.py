"""How hard an English text is to read: words, and the grade of school that Flesch and Kincaid reckon.

Kincaid, Fishburne, Rogers, Chissom: Derivation of new readability formulas for Navy enlisted personnel (1975).
"""

from __future__ import annotations

import re

_WORD = re.compile(r"[A-Za-z0-9]+(?:['’-][A-Za-z0-9]+)*")
_SENTENCE = re.compile(r"[.!?:]+(?=\s|$)|\n+")
_SOUND = re.compile(r"[aeiouy]+")
_MUTE = re.compile(r"(?<=[^aeiouyl])e$|(?<=[aeiouy]l)e$|(?<=[^aeioucghsxz])es$|(?<=[^aeioutd])ed$")
"""Letters at a word's end that are not spoken: make, makes, asked; but table, boxes, wanted."""


def words(text: str) -> list[str]:
    return _WORD.findall(text)


def syllables(word: str) -> int:
    """Of an English word, by its letters; a number is one for each digit."""
    if word.isdigit():
        return len(word)
    spoken = _MUTE.sub("", word.lower()) or word.lower()
    return max(1, len(_SOUND.findall(spoken)))


def grade(text: str) -> float:
    """The grade of school whose pupils understand a text; a line's end is a sentence's. Raises ZeroDivisionError where there is no word."""
    sentences = [part for part in _SENTENCE.split(text) if part and words(part)]
    found = words(text)
    return 0.39 * len(found) / len(sentences) + 11.8 * sum(map(syllables, found)) / len(found) - 15.59
