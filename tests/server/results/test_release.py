"""Which groups may be shown: no figure that follows from those that are shown is about fewer records than the minimum."""

from __future__ import annotations

import ast
import itertools
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import deniable_server
from deniable.survey import Survey
from deniable.wire.part import Mode, Part
from deniable_server.results.release import Release

LEAST = 10
GROUPS = [f"g{i}" for i in range(6)]
SIZES = st.lists(st.sampled_from([0, 1, 3, 9, 10, 11, 40]), min_size=len(GROUPS), max_size=len(GROUPS))
QUESTION: dict[str, Any] = {"id": "q", "text": "?", "type": "yes_no", "epsilon": "ln 3"}
SURVEY = Survey.from_dict({"deniable": 1, "id": "s", "title": "T", "about": "A.", "groups": GROUPS, "questions": [QUESTION]})
PACKAGE = Path(deniable_server.__file__).parent


def release(device: list[int], organisation: list[int] | None = None) -> Release:
    both: list[tuple[Mode, list[int]]] = [("device", device), ("organisation", organisation or [0] * len(GROUPS))]
    counts = {Part(group, mode): n for mode, sizes in both for group, n in zip(GROUPS, sizes, strict=True) if n}
    return Release(cast(Any, None), SURVEY, counts, LEAST)


def atoms(shown: list[frozenset[Part]], parts: list[Part]) -> list[frozenset[Part]]:
    """The parts, divided as finely as sums and differences of what is shown can tell them apart, where each group is in or out."""
    keys = {part: tuple(part in one for one in shown) for part in parts}
    return [frozenset(part for part in parts if keys[part] == key) for key in set(keys.values())]


@settings(deadline=None)
@given(SIZES, SIZES)
def test_nothing_that_follows_from_what_is_shown_is_about_fewer_than_the_minimum(device: list[int], organisation: list[int]) -> None:
    one = release(device, organisation)
    if one.is_withheld:
        assert one.groups == ()
        return
    shown = [frozenset(one.parts()), *(frozenset(one.parts(group)) for group in one.groups)]
    shown += [frozenset(part.parts) for part in one.slices()]
    for atom in atoms(shown, one.parts()):
        assert (n := sum(one.counts.get(part, 0) for part in atom)) == 0 or n >= LEAST, atom


@settings(deadline=None)
@given(SIZES, SIZES)
def test_each_record_is_in_one_slice(device: list[int], organisation: list[int]) -> None:
    one = release(device, organisation)
    if not one.is_withheld:
        assert sorted(map(repr, itertools.chain(*(part.parts for part in one.slices())))) == sorted(map(repr, one.parts()))


@pytest.mark.parametrize(
    ("sizes", "withheld"),
    [
        ([40, 40, 40, 40, 40, 40], []),
        ([40, 3, 40, 11, 40, 40], [1, 3]),  # one alone would be all less the others
        ([40, 3, 9, 11, 40, 40], [1, 2]),  # together they are enough
        ([40, 3, 1, 11, 10, 40], [1, 2, 4]),
        ([40, 3, 0, 0, 0, 0], [0, 1]),  # what is pooled is all that is left
        ([40, 0, 0, 0, 0, 0], []),
    ],
)
def test_the_fewest_groups_are_left_out_small_ones_first(sizes: list[int], withheld: list[int]) -> None:
    assert release(sizes).withheld == tuple(GROUPS[i] for i in withheld)


def test_of_two_hundred_schools_with_three_small_ones_the_others_are_shown() -> None:
    groups = [f"school {i}" for i in range(200)]
    survey = Survey.from_dict({**SURVEY.to_dict(), "groups": groups})
    counts = {Part(group): 4 if i in (7, 70, 170) else 25 + i % 3 for i, group in enumerate(groups)}
    one = Release(cast(Any, None), survey, counts, 10)
    assert len(one.groups) == 197


def test_only_the_release_reads_tallies_and_records() -> None:
    """A way out that forgets the minimum has to read them itself. `restore` counts anew, and prints how many there are."""
    readers = set()
    for path in PACKAGE.rglob("*.py"):
        if "store" in path.relative_to(PACKAGE).parts:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            shelf = node.value if isinstance(node, ast.Attribute) else None
            if (
                isinstance(node, ast.Attribute)
                and node.attr in ("tally", "reports", "reports_by_part", "recount")
                and getattr(shelf, "attr", "") == "submissions"
            ):
                readers.add((path.relative_to(PACKAGE).as_posix(), node.attr))
    gate = "results/release.py"
    assert readers == {(gate, "tally"), (gate, "reports_by_part"), ("operate/integrity.py", "tally"), ("operate/integrity.py", "recount")}
