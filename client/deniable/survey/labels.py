"""Warnings about the public labels of groups, before a survey is published.

A group of one person identifies that person. These are warnings, not errors: a label that looks like a person's name may be a place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

FEWEST = 10
"""Fewest people of a group, on average: the label of a smaller group reveals much about each of them."""

_EMAIL = re.compile(r"\S@\S+\.\w{2,}")
_ID = re.compile(r"(?:\d[\s./-]?){6,}|(?=\w*\d)[0-9a-f]{8,}|[0-9a-f]{8}-[0-9a-f]{4}-", re.IGNORECASE)
_YEARS = re.compile(r"(?:19|20)\d\d\s?[-/]\s?(?:19|20)\d\d")
_NUMBERED = re.compile(r"(?:(?:id|nr|no|user|participant|patient|person|respondent|p)[\s.:#_-]*)?#?\d+", re.IGNORECASE)
_TITLES = frozenset(["mr", "mrs", "ms", "miss", "dr", "prof", "sir", "frau", "herr"])
_PARTICLES = frozenset(["van", "von", "der", "de", "da", "del", "di", "la", "le", "bin", "ibn", "al"])
_PLACE = re.compile(
    r"\b(?:north|south|east|west|upper|lower|new|old|san|santa|saint|st|los|las|el|clinic|hospital|school|college|university|ward|"
    r"department|team|group|class|unit|office|branch|site|city|town|county|district|region|street|road|house|cent(?:er|re)|island|states?|"
    r"kingdom|republic|staff|students?|men|women|adults?|children|grade|year|shift|sales|care|control|treatment)\b",
    re.IGNORECASE,
)


def personal_data_in(label: str) -> str | None:
    """Returns the kind of personal data that a label looks like, in words, if any."""
    if _EMAIL.search(label):
        return "an e-mail address"
    if _ID.match(label) and not _YEARS.fullmatch(label):
        return "a person's number"
    return "a name" if _is_name(label) else None


def _is_name(label: str) -> bool:
    """Returns whether a label is a title and a name, or two or three capitalised words that are unusual in names of places and units."""
    words = [word.strip(".") for word in label.replace(",", " ").split()]
    names = [word for word in words if word.lower() not in _PARTICLES]
    capitalised = all(
        word[:1].isupper() and re.sub("[-'’]", "", word).isalpha() and not (len(word) > 1 and word.isupper()) for word in names
    )
    titled = len(names) > 1 and names[0].lower() in _TITLES
    return capitalised and (titled or (not _PLACE.search(label) and len(names) in (2, 3) and sum(len(word) > 1 for word in names) > 1))


def warnings(groups: Sequence[str], respondents: int | None = None) -> Iterator[str]:
    """Yields a sentence for each doubtful feature of a survey's groups.

    Doubtful are labels that look like persons, more than ten bare numbers, and more groups than a tenth of `respondents`, if known.
    """
    for label in groups:
        if kind := personal_data_in(label):
            yield f"the group {label} looks like {kind}: labels are public, and sent openly with each record"
    numbered = sum(bool(_NUMBERED.fullmatch(label)) for label in groups)
    if numbered > FEWEST:
        yield f"{numbered} groups are bare numbers: if each is one person's, each record carries the number of its person"
    if respondents is not None and len(groups) * FEWEST > respondents:
        yield (
            f"{len(groups)} groups are more than a tenth of {respondents} respondents: in a group of fewer than {FEWEST} people "
            "a label says much about each of them, and an estimate little about all"
        )
