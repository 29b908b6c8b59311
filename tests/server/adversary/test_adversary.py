"""The game of docs/reference/adversary.md: no moves of any role tell one person's record from another's; broken servers are found out."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Sequence

import pytest
from tests.kit.adversary import broken
from tests.kit.adversary.cards import Table
from tests.kit.adversary.game import Found, Setup, search

pytestmark = pytest.mark.slow

SECONDS = float(os.environ.get("DENIABLE_ADVERSARY_SECONDS", "0"))  # make long NAME=adversary: half an hour
GAMES = 24
TABLES = [
    Table(access, release, batch, groups)
    for batch in (2, 10)
    for access in ("open", "invited")
    for release in ("close", "daily")
    for groups in (False, True)
]
INVITED, OPEN, DAILY = Table("invited", "close", 10), Table("open", "close", 2), Table("open", "daily", 2)


def test_no_moves_of_any_role_single_out_a_record() -> None:
    setup = Setup(TABLES)
    begun = time.monotonic()
    search(setup, GAMES)
    while time.monotonic() - begun < SECONDS:
        search(setup, 60, derandomize=False, shrink=True)
        print(f"{time.monotonic() - begun:.0f} s, nothing found: {dict(setup.tried)}", flush=True)
    assert setup.tried["records that showed"] > 10, "games in which nothing is released show nothing"
    assert setup.tried["records dealt anew"] > 10
    assert setup.tried["records without a trace"] > 0


IDLE = ("a_key_sends_many", "an_owner_changes_a_setting", "an_editor_pauses", "somebody_withdraws", "the_adversary_withdraws")
CONTROLS: list[tuple[Callable[[pytest.MonkeyPatch], None], Table, Sequence[str]]] = [
    (broken.released_by_number, INVITED, ("key", "analyst", "checks")),  # own records between two looks
    (broken.released_by_number, Table("invited", "close", 1), ("key",)),  # a batch of one
    (broken.released_by_number, INVITED, ("backup",)),  # copies of the database, night by night
    (broken.codes_marked_at_once, INVITED, ("backup",)),
    (broken.sizes_of_groups_shown, Table("open", "close", 2, True), ("viewer",)),
    (broken.reopened_after_its_release, OPEN, ("key",)),
    (broken.released_twice_a_day, DAILY, ("key",)),
    (broken.withdrawn_and_released, OPEN, ("key",)),
    (broken.rows_unsealed, OPEN, ("backup",)),
    (broken.tags_without_a_key, OPEN, ("backup",)),
    (broken.keys_that_stay, OPEN, ("backup",)),
]


WITHOUT = {
    broken.reopened_after_its_release: (*IDLE, "time_passes"),
    broken.released_twice_a_day: IDLE,
}
"""The rules that a game leaves out whose combination of moves is rare."""


def search_on(setup: Setup) -> None:
    """Searches again with other games where the first ones find nothing: they change with the version of hypothesis."""
    for number in range(8):
        search(setup, 100, derandomize=number == 0)


@pytest.mark.timeout(1800)
@pytest.mark.parametrize(("break_", "table", "looks"), CONTROLS, ids=[f"{break_.__name__}-{looks[0]}" for break_, _, looks in CONTROLS])
def test_a_broken_release_is_found_out(
    break_: Callable[[pytest.MonkeyPatch], None], table: Table, looks: Sequence[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    break_(monkeypatch)
    tried: Counter[str] = Counter()
    begun = time.monotonic()
    with pytest.raises(Found) as found:
        search_on(Setup([table], looks, copies=False, without=WITHOUT.get(break_, ()), tried=tried))
    print(f"{break_.__name__}: {tried['games']} games, {time.monotonic() - begun:.1f} s: {found.value}")
