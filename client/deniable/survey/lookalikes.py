"""Homoglyphs and invisible characters in labels that people choose from or read, by the skeletons of UTS 39.

People who see one label might send another that looks the same. So labels must have no invisible characters, and the labels of a list
must look different. The spelling of Persian and of Indic languages needs ZERO WIDTH NON-JOINER and JOINER, and emoji need joiners and
variation selectors: there they are allowed (UAX 31, UTS 51), but two labels must differ in more than that.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import cache

from deniable.survey.confusables import CLASSES, SEQUENCES

NON_JOINER, JOINER = "\u200c", "\u200d"
_SELECTORS = "\ufe0e\ufe0f"  # text and emoji style
_SPACE = " \n\t"
_REFUSED = {"Cf", "Cn", "Co", "Cs", "Zl", "Zp", "Zs"}
_BLANK = "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"  # invisible letters and marks
_VIRAMA = 9
_CURSIVE = ("ARABIC LETTER", "SYRIAC LETTER", "MONGOLIAN LETTER", "NKO LETTER")
_SKIN = range(0x1F3FB, 0x1F400)


def first_invisible(text: str) -> str:
    """Returns the name of the first invisible character, or of an unusual space; empty if there is no such character."""
    for index, character in enumerate(text):
        if _is_hidden(character) and not _is_part_of_spelling(text, index):
            return unicodedata.name(character, f"U+{ord(character):04X}")
    return ""


def lookalikes(labels: Iterable[str]) -> Iterator[tuple[int, int]]:
    """Yields (index, earlier index) of each label that looks like an earlier label. Equal labels are not reported here."""
    first: dict[str, int] = {}
    texts = list(labels)
    for index, label in enumerate(texts):
        own = skeletons(label)
        earlier = next((first[skeleton] for skeleton in own if skeleton in first), None)
        if earlier is not None and texts[earlier] != label:
            yield index, earlier
        for skeleton in own:
            first.setdefault(skeleton, index)


def skeletons(text: str) -> frozenset[str]:
    """Returns the skeletons of a text, with and without capitals. Two texts with a common skeleton look alike."""
    plain = unicodedata.normalize("NFKC", "".join(char for char in text if not _is_hidden(char) or char in _SPACE or char.isspace()))
    plain = " ".join(plain.split())
    return frozenset(map(_skeleton, (plain, plain.casefold())))


def problems(labels: Sequence[object], key: str) -> Iterator[tuple[str, str]]:
    """Yields (key, rule broken) for labels with invisible characters, and for labels that look like another label of the list."""
    texts = [label if isinstance(label, str) else "" for label in labels]
    for index, text in enumerate(texts):
        if name := first_invisible(text):
            yield f"{key}[{index}]", f"must have no invisible characters, got {name}"
    for index, earlier in lookalikes(texts):
        yield f"{key}[{index}]", f"must not look like the other {key.rpartition('.')[2]}, got a text that looks like {key}[{earlier}]"


def _skeleton(text: str) -> str:
    decomposed = unicodedata.normalize("NFD", text)
    return unicodedata.normalize("NFD", "".join(map(_prototype, decomposed)))


@cache
def _prototypes() -> dict[str, str]:
    """Returns the prototype of each character that has lookalikes."""
    singles = {character: alike[0] for alike in CLASSES for character in alike}
    return singles | {char: "".join(singles.get(letter, letter) for letter in letters) for char, letters in SEQUENCES.items()}


def _prototype(character: str) -> str:
    return _prototypes().get(character, character)


def _is_hidden(character: str) -> bool:
    if character in _SPACE:
        return False
    code = ord(character)
    variation = 0xFE00 <= code <= 0xFE0F or 0xE0100 <= code <= 0xE01EF or 0x180B <= code <= 0x180F
    return variation or character in _BLANK or unicodedata.category(character) in _REFUSED


def _is_part_of_spelling(text: str, index: int) -> bool:
    """Returns whether the spelling of a language or of an emoji needs the joiner or selector at an index."""
    character, before, after = text[index], text[index - 1 : index], text[index + 1 : index + 2]
    if not before:
        return False
    if character in _SELECTORS:
        return unicodedata.category(before) == "So"
    if character == NON_JOINER:
        return unicodedata.combining(before) == _VIRAMA or (_is_cursive(before) and _is_cursive(after))
    if character == JOINER:
        symbol = unicodedata.category(before) == "So" or before == "\ufe0f" or ord(before) in _SKIN
        return unicodedata.combining(before) == _VIRAMA or (symbol and after != "" and unicodedata.category(after) == "So")
    return False


def _is_cursive(character: str) -> bool:
    """Returns whether a letter is of a script with joined letters: in other scripts, a non-joiner is invisible."""
    return bool(character) and unicodedata.name(character, "").startswith(_CURSIVE)
