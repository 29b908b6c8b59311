"""Surveys of every type, their records, and the files that a bundle makes of them."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deniable.bundle import Bundle, CountedRecords, order_parts
from deniable.simulate import simulate
from deniable.survey import Survey
from deniable.wire.part import Part
from deniable.wire.record import unpack

NASTY = "=1+1"
LONG = "Rindfleischetikettierungsüberwachungsaufgabenübertragungsgesetz " * 3
EVERY = {
    "deniable": 1,
    "batch": 1,
    "accept_small_batches": True,
    "id": "every",
    "title": f'{NASTY} | <b>"All"</b> types',
    "about": "Who asks,\nand why.",
    "contact": "@ada",
    "groups": ["North", '=SUM("A1")', "مستشفى", "line\nbreak, comma", "-5"],
    "epsilon": 7,
    "language": "en",
    "translations": {"de": {"title": "Alle Arten"}},
    "questions": [
        {"id": "smokes", "text": '=Do you "smoke"?', "type": "yes_no"},
        {
            "id": "daily",
            "text": "How often?",
            "type": "choice",
            "options": ["=every day", "at times"],
            "show_if": {"question": "smokes", "is": ["yes"]},
        },
        {
            "id": "party",
            "text": "@Which\nparty?",
            "type": "choice",
            "options": ["+Red", "-Green", "Blue", '"Black"', "White", "مدينة", "a,b;c"],
        },
        {
            "id": "drugs",
            "text": "Which?",
            "type": "multi_choice",
            "options": ["cannabis", "=cocaine", "القنب", "two\nlines"],
            "required": False,
        },
        {"id": "mood", "text": "Mood?", "type": "scale", "options": ["bad", "so so", "good"], "scores": [-2, 0, 5.5]},
        {"id": "week", "text": "Week?", "type": "scale", "options": ["NA", "1", "TRUE", "null"], "required": False},
        {"id": "hours", "text": "Hours?", "type": "number", "low": -20, "high": 14, "levels": 9},
        {"id": "sleep", "text": "Sleep?", "type": "number", "low": 0, "high": 1e9, "required": False},
        {
            "id": "age",
            "text": "Age?",
            "help": "In *years*.",
            "section": {"title": "About you", "note": "The last."},
            "type": "number",
            "low": 16,
            "high": 120,
            "bins": [{"name": "<30", "from": 16}, {"name": "30+", "from": 30}],
        },
        {"id": "group", "text": LONG, "type": "choice", "options": [f"{LONG}{i}"[-200:].strip() for i in range(5)]},
        {
            "id": "if",
            "text": "A reserved word?",
            "type": "yes_no",
            "show_if": {"any": [{"question": "age", "at_least": 30}, {"question": "mood", "is": ["bad", "good"]}]},
        },
    ],
}
ASKED = {
    "deniable": 1,
    "batch": 1,
    "accept_small_batches": True,
    "id": "asked",
    "title": "A sample of questions",
    "about": "Who asks, and why.",
    "epsilon": 5,
    "ask": 2,
    "questions": [
        {"id": "smokes", "text": "Smokes?", "type": "yes_no"},
        {"id": "daily", "text": "Daily?", "type": "yes_no", "show_if": {"question": "smokes", "is": ["yes"]}},
        {"id": "party", "text": "Party?", "type": "choice", "options": [f"party {i}" for i in range(12)]},
        {"id": "used", "text": "Used?", "type": "multi_choice", "options": ["tea", "coffee"]},
        {"id": "mood", "text": "Mood?", "type": "scale", "options": ["bad", "so so", "good"], "required": False},
    ],
}
COINS = {
    "deniable": 1,
    "batch": 1,
    "accept_small_batches": True,
    "id": "coins",
    "title": "Two coins",
    "about": "Who asks, and why.",
    "groups": ["North", "South", "Nobody"],
    "questions": [{"id": name, "text": f"{name}?", "type": "yes_no", "epsilon": "ln 3"} for name in ("stole", "lied")],
}
WIDE = {
    "deniable": 1,
    "batch": 1,
    "accept_small_batches": True,
    "id": "wide",
    "title": "Many values",
    "about": "Who asks, and why.",
    "accept_high_epsilon": True,
    "groups": [f"clinic {i}" for i in range(160)],
    "questions": [{"id": "town", "text": "Town?", "type": "choice", "options": [f"town {i}" for i in range(200)], "epsilon": 9}],
}
UNITS = {
    "deniable": 1,
    "batch": 1,
    "accept_small_batches": True,
    "id": "units",
    "title": "Large scores, weak figures",
    "about": "Who asks, and why.",
    "groups": [f"clinic {i}" for i in range(30)],
    "questions": [
        {"id": "paid", "text": "?", "type": "scale", "options": ["a", "b", "c"], "scores": [10, 20, 40], "required": False, "epsilon": 0.7}
    ],
}
SURVEYS: Mapping[str, tuple[Mapping[str, Any], Mapping[Part, int]]] = {
    "every": (
        EVERY,
        {Part("North"): 300, Part("North", "organisation"): 40, Part('=SUM("A1")'): 100, Part("مستشفى"): 1, Part("-5", "organisation"): 30},
    ),
    "asked": (ASKED, {Part(): 300}),
    "coins": (COINS, {Part("North"): 90, Part("North", "by_hand"): 30, Part("South"): 40, Part("South", "by_hand"): 7}),
    "units": (UNITS, {Part(f"clinic {i}"): 100 + i for i in range(30)}),
    "wide": (WIDE, {Part(f"clinic {i}"): 3 for i in (0, 99, 100, 101, 159)}),
}

Recorded = dict[str, frozenset[str] | None]
"""Of each item the options that a record names; None where the person was not asked."""


@dataclass(frozen=True)
class Made:
    """A survey, its counted records, and the folder with the files of its bundle."""

    survey: Survey
    counted: CountedRecords
    bundle: Bundle
    folder: Path

    @property
    def records(self) -> list[tuple[str, str, Recorded]]:
        """Group (or nothing), mode and what is recorded of each record in order, from its bits alone."""
        raw, found = self.counted.file, []
        raw.seek(0)
        for part, n in self.counted.sizes.items():
            bits = unpack(self.survey, raw.read(n * self.survey.record.bytes), n)
            found += [(part.group or "", part.mode, recorded(self.survey, row)) for row in bits]
        return found


def recorded(survey: Survey, row: Any) -> Recorded:
    told: Recorded = {}
    for field in survey.record.fields:
        stored = row[field.bits].tolist()
        every = [*stored, sum(stored) < field.item.d]
        named = frozenset(option for option, bit in zip(field.item.recorded, every, strict=True) if bit)
        told[field.item.id] = None if field.mask is not None and not row[field.mask] else named
    return told


def counted_of(source: Mapping[str, Any], sizes: Mapping[Part, int]) -> CountedRecords:
    """Records of made-up people, part by part, those of a part in the order of their own bytes."""
    survey = Survey.from_dict(source)
    truth = {item.id: np.arange(1, item.k + 1) / np.arange(1, item.k + 1).sum() for item in survey.items}
    ordered, size, raw = order_parts(sizes, survey), survey.record.bytes, b""
    for n in ordered.values():
        reports = simulate(survey, truth, n=n).reports
        raw += b"".join(sorted(reports[at : at + size] for at in range(0, len(reports), size)))
    return CountedRecords(survey, ordered, io.BytesIO(raw))


def written(bundle: Bundle, folder: Path, names: Iterable[str] | None = None) -> None:
    """Writes every file of a bundle by itself, or those of these names. Without names there is no PDF, which takes long."""
    for name in (name for name in bundle.files if name != "report.pdf") if names is None else names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        with open(folder / name, "wb") as file:
            bundle.write(name, file)


@pytest.fixture(scope="session")
def make(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Made]:
    """`make(name)` makes the bundle of one of SURVEYS, once."""

    @cache
    def made(name: str) -> Made:
        counted = counted_of(*SURVEYS[name])
        folder, bundle = tmp_path_factory.mktemp(name), Bundle(counted)
        written(bundle, folder)
        return Made(counted.survey, counted, bundle, folder)

    return made
