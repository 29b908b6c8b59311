"""Texts that look alike: homoglyphs, invisible characters and the skeleton of UTS 39, for labels that people choose from or are shown.

A person is shown one label and sends another if the two look the same. So labels have no characters that do not show, and two of one list
must differ to the eye. ZERO WIDTH NON-JOINER and JOINER belong to the spelling of Persian and of Indic languages, and emoji are made with
joiners and variation selectors: there they are allowed (UAX 31, UTS 51), but two labels must differ in more than that.
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
_BLANK = "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"  # letters and marks that show nothing
_VIRAMA = 9
_CURSIVE = ("ARABIC LETTER", "SYRIAC LETTER", "MONGOLIAN LETTER", "NKO LETTER")
_SKIN = range(0x1F3FB, 0x1F400)


def invisible(text: str) -> str:
    """Returns the name of the first character that does not show, or shows as a space; empty where there is none."""
    for place, character in enumerate(text):
        if _is_hidden(character) and not _belongs(text, place):
            return unicodedata.name(character, f"U+{ord(character):04X}")
    return ""


def alike(labels: Iterable[str]) -> Iterator[tuple[int, int]]:
    """Yields (place, earlier place) of each label that looks like an earlier one. The same text twice is not reported here."""
    seen: dict[str, int] = {}
    every = list(labels)
    for place, label in enumerate(every):
        mine = looks(label)
        earlier = next((seen[look] for look in mine if look in seen), None)
        if earlier is not None and every[earlier] != label:
            yield place, earlier
        for look in mine:
            seen.setdefault(look, place)


def looks(text: str) -> frozenset[str]:
    """Returns the skeletons of a text as it is written, and without capitals. Two texts with a common one look alike."""
    plain = unicodedata.normalize("NFKC", "".join(one for one in text if not _is_hidden(one) or one in _SPACE or one.isspace()))
    plain = " ".join(plain.split())
    return frozenset(_skeleton(one) for one in (plain, plain.casefold()))


def problems(labels: Sequence[object], key: str) -> Iterator[tuple[str, str]]:
    """Yields (place, rule broken) for labels with characters that do not show, and for those that look like another one of the list."""
    texts = [label if isinstance(label, str) else "" for label in labels]
    for place, text in enumerate(texts):
        if name := invisible(text):
            yield f"{key}[{place}]", f"must have no characters that do not show, got {name}"
    for place, earlier in alike(texts):
        yield f"{key}[{place}]", f"must not look like the other {key.rpartition('.')[2]}, got a text that looks like {key}[{earlier}]"


def _skeleton(text: str) -> str:
    apart = unicodedata.normalize("NFD", text)
    return unicodedata.normalize("NFD", "".join(map(_prototype, apart)))


@cache
def _prototypes() -> dict[str, str]:
    singles = {character: alike[0] for alike in CLASSES for character in alike}
    return singles | {one: "".join(singles.get(letter, letter) for letter in several) for one, several in SEQUENCES.items()}


def _prototype(character: str) -> str:
    return _prototypes().get(character, character)


def _is_hidden(character: str) -> bool:
    if character in _SPACE:
        return False
    code = ord(character)
    variation = 0xFE00 <= code <= 0xFE0F or 0xE0100 <= code <= 0xE01EF or 0x180B <= code <= 0x180F
    return variation or character in _BLANK or unicodedata.category(character) in _REFUSED


def _belongs(text: str, place: int) -> bool:
    """Returns whether a joiner or a selector is needed here by the spelling of a language, or by an emoji."""
    character, before, after = text[place], text[place - 1 : place], text[place + 1 : place + 2]
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
    """Returns whether a letter is of a script with joined letters, the only ones in which a non-joiner shows."""
    return bool(character) and unicodedata.name(character, "").startswith(_CURSIVE)
