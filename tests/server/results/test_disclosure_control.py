"""Which groups may be shown: no figure that follows from those that are shown is about fewer records than the minimum."""

from __future__ import annotations

import ast
import itertools
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from flask.testing import FlaskClient
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kit.servers.process import PASSWORD
from tests.kit.surveys import submission

import deniable_server
from deniable.survey import Survey
from deniable.wire.part import Mode, Part
from deniable_server.results import results
from deniable_server.results.disclosure_control import Release, labelled_rows, release_of
from deniable_server.store.life import Settings
from deniable_server.store.protocol import Store
from deniable_server.web.errors import WithheldError

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


def with_store(device: list[int], organisation: list[int] | None = None, gone: int = 0) -> Release:
    """Returns a release whose store counts its parts as it does, less `gone` records that were withdrawn since."""
    one = release(device, organisation)

    def tally(_: str, parts: list[Part]) -> Any:
        return SimpleNamespace(n=sum(one.counts.get(part, 0) for part in parts) - gone, parts=tuple(parts))

    return replace(one, store=cast(Any, SimpleNamespace(submissions=SimpleNamespace(tally=tally))))


@pytest.mark.parametrize(("n", "is_shown"), [(0, True), (1, False), (LEAST - 1, False), (LEAST, True)])
def test_all_records_are_shown_from_the_minimum_on(n: int, is_shown: bool) -> None:
    one = with_store([n, 0, 0, 0, 0, 0])
    for figures in (one.require, one.tally, one.clusters, one.slices):
        if is_shown:
            figures()
        else:
            with pytest.raises(WithheldError, match=f"from {LEAST} records on"):
                figures()


@pytest.mark.parametrize(
    ("group", "rule"), [("g1", "3 are counted of g1"), ("g3", "g3 is hidden because its figures would reveal a smaller group")]
)
def test_a_group_that_is_withheld_has_no_figure_and_no_row_for_its_reason(group: str, rule: str) -> None:
    one = with_store([40, 3, 40, 11, 40, 40])
    for figures in (one.require, one.tally, one.slices):
        with pytest.raises(WithheldError, match=rule):
            figures(group)
    assert one.tally("g0").n == 40


def test_records_that_are_withdrawn_before_they_are_read_count_as_few() -> None:
    for gone, is_shown in ((0, True), (1, False), (LEAST, True)):  # of none that are left nothing is told
        one = with_store([LEAST, 0, 0, 0, 0, 0], gone=gone)
        if is_shown:
            assert one.tally().n == LEAST - gone
        else:
            with pytest.raises(WithheldError):
                one.tally()


def test_groups_that_are_withheld_are_one_cluster_and_no_record_is_left_out() -> None:
    one = with_store([40, 3, 9, 11, 40, 40])
    assert {group: tally.n for group, tally in one.clusters().items()} == {"g0": 40, "g1": 12, "g3": 11, "g4": 40, "g5": 40}


@pytest.mark.parametrize(("few", "is_told"), [(LEAST - 1, False), (LEAST, True)])
def test_rows_say_who_perturbed_them_where_each_way_has_enough(few: int, is_told: bool) -> None:
    one = release([40] * 6, [few, *[0] * 5])
    assert ("g0" not in one.unlabelled) == is_told
    assert ({part.mode for part in one.slices() if part.group == "g0"} == {"device", "organisation"}) == is_told
    assert {part.mode for part in one.slices("g0")} == ({"device", "organisation"} if is_told else {None})


def test_groups_without_a_label_in_another_table_have_none_in_this_one() -> None:
    one = release([40] * 6)
    assert {part.group for part in one.slices(unlabelled=frozenset({"g2"}))} == {*GROUPS, None} - {"g2"}


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
    gate = "results/disclosure_control.py"
    assert readers == {(gate, "tally"), (gate, "reports_by_part"), ("operate/integrity.py", "tally"), ("operate/integrity.py", "recount")}


def test_rows_without_a_label_of_two_ways_do_not_say_which() -> None:
    few = LEAST - 4
    pooled = release([few, *[40] * 5], [few, *[40] * 5]).slices()[-1]
    assert (pooled.group, pooled.mode, len(pooled.parts)) == (None, None, 2)


# The minimum of a real store: what the definition promises, or more if the settings say so.


@pytest.mark.parametrize(("batch", "least", "minimum"), [(10, 1, 10), (10, 30, 30), (20, 10, 20), (10, 10, 10), (1, 1, 1), (1, 5, 5)])
def test_the_minimum_is_the_larger_of_the_surveys_batch_and_its_settings(store: Store, batch: int, least: int, minimum: int) -> None:
    keys = {"accept_small_batches": True} if batch < 10 else {}
    survey = Survey.from_dict({**SURVEY.to_dict(), "batch": batch, **keys})
    store.surveys.publish(survey)
    store.life.keep("s", Settings(least=least))
    assert [release_of(store, survey, by_hand=by_hand).least for by_hand in (False, True)] == [minimum, minimum]


def statuses(store: Store, client: FlaskClient, device: list[int]) -> list[int]:
    """Sends the records of people to each group and closes the survey. Returns the statuses of the results of all and of each group."""
    survey = Survey.from_dict({**SURVEY.to_dict(), "batch": LEAST})
    store.surveys.publish(survey)
    for group, n in zip(GROUPS, device, strict=True):
        for _ in range(n):
            store.submissions.add("s", submission(survey, group=group))
    store.surveys.set_open("s", False)
    url, auth = "/api/v1/surveys/s/results", ("ada", PASSWORD)
    return [client.get(url, query_string=query, auth=auth).status_code for query in ({}, *({"group": group} for group in GROUPS))]


def test_after_the_close_a_group_below_the_batch_stays_withheld_whatever_the_settings_are(store: Store, client: FlaskClient) -> None:
    assert statuses(store, client, [0, 9, 10, 1, 30, 0]) == [200, 200, 403, 200, 403, 200, 200]  # 9 and 1 are ten together


def test_a_group_whose_figures_would_give_a_small_one_away_stays_withheld_too(store: Store, client: FlaskClient) -> None:
    assert statuses(store, client, [0, 9, 10, 0, 30, 0]) == [200, 200, 403, 403, 200, 200, 200]


def test_the_control_a_minimum_without_the_batch_shows_a_group_of_one(
    store: Store, client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results, "release_of", lambda store, survey, **which: replace(release_of(store, survey, **which), least=1))
    assert statuses(store, client, [0, 9, 10, 1, 30, 0]) == [200] * 7


@pytest.mark.parametrize(("device", "groups"), [([0, 9, 10, 1, 30, 0], {None, "g2", "g4"}), ([9, 9, 9, 9, 9, 9], {None})])
def test_rows_without_a_group_are_in_the_download_where_nobody_answered_by_hand(
    store: Store, client: FlaskClient, device: list[int], groups: set[str | None]
) -> None:
    statuses(store, client, device)
    read = {part: sum(map(len, chunks)) for part, chunks in labelled_rows(store, SURVEY).read()}
    assert {part.group for part, n in read.items() if n} == groups
    assert sum(read.values()) == sum(device)
