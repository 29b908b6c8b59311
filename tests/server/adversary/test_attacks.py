"""Attacks on a survey's release, each as its attacker would run it: programs that act between two looks, and a group of one.

Every attack is also run on the release by number alone, where it links each of twelve named people to their record. Labels that look
alike are refused before a survey is published: `tests/client/survey/test_lookalikes.py`.
"""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pytest
from tests.kit.adversary import broken
from tests.kit.adversary.cards import Card, Table, own_card, own_code
from tests.kit.adversary.chance import Chance, controlled
from tests.kit.adversary.world import Beginning, Deal, World

from deniable_server.results import disclosure_control

pytestmark = pytest.mark.slow

PEOPLE = 12
FIRST = 600  # the number of the first named person's card and code; those below are the attacker's own
LUCK = 5  # of twelve people: a matching at random has six or more right in 1 of 1,700 cases
Open = Callable[[Table], World]


@pytest.fixture
def begin(tmp_path: Path) -> Iterator[Open]:
    """Begins with a survey that nobody has answered."""
    worlds: list[World] = []
    chance, coins = Chance(), random.Random(7)
    chance.order = lambda entries: coins.sample(list(entries), len(entries))  # type: ignore[method-assign]

    def new(table: Table) -> World:
        chance.begin(0)
        own = FIRST + PEOPLE if table.access == "invited" else 0
        worlds.append(World(tmp_path, table, Deal.first(table), chance, Beginning(tmp_path, table, own)))
        return worlds[-1]

    with controlled(chance):
        yield new
        for world in worlds:
            world.close()


class Attacker:
    """A researcher with a key for the records, the list of codes, and codes of their own."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.own: list[Card] = []
        self.linked: dict[int, bytes] = {}

    def send(self, count: int) -> None:
        """Sends records of their own."""
        for _ in range(count):
            card = own_card(len(self.own), None)
            assert self.world.send(card, own_code(len(self.own))) == 200
            self.own.append(card)

    def rows(self) -> set[bytes]:
        """The records that are shown, without their own and those that they have linked."""
        reply = self.world.device.get("/api/v1/surveys/game/reports", headers={"Authorization": f"Bearer {self.world.look_key}"})
        size = self.world.survey.record.bytes
        rows = {reply.data[start : start + size] for start in range(0, len(reply.data), size)} if reply.status_code == 200 else set()
        return rows - {card.reports(self.world.survey) for card in self.own} - set(self.linked.values())

    def look(self, person: int) -> bool:
        """Links the person who has just answered with a record that is new, if one is."""
        rows = self.rows()
        if len(rows) == 1:
            self.linked[person] = rows.pop()
        return person in self.linked


def card(person: int) -> Card:
    return own_card(FIRST + person, None)


def right(world: World, pairs: dict[int, bytes]) -> int:
    return sum(card(person).reports(world.survey) == row for person, row in pairs.items())


def people_answer(world: World, after_each: Callable[[int], object]) -> list[int]:
    """The named people, in the order in which they answer."""
    people = random.Random(7).sample(range(PEOPLE), PEOPLE)
    for person in people:
        assert world.send(card(person), own_code(FIRST + person)) == 200
        after_each(person)
    return people


def guessed(attacker: Attacker, people: list[int]) -> int:
    """How many are right of those that are matched at random, or by place, when all rows are there and the own ones are withdrawn."""
    world = attacker.world
    world.play("press", "close")
    for own in attacker.own:
        world.erase(own.secret)
    rows = sorted(attacker.rows())
    assert rows == sorted(card(person).reports(world.survey) for person in range(PEOPLE)), "they are all released, and nothing else"
    return right(world, dict(zip(people, rows, strict=True)))


def isolate(world: World, most: int) -> tuple[Attacker, list[int]]:
    """The attacker keeps almost two batches of their own waiting, and after each person sends batches of own ones until a record shows."""
    attacker = Attacker(world)
    attacker.send(19)

    def flush(person: int) -> None:
        for _ in range(most):
            if not attacker.look(person):
                attacker.send(10)
        attacker.look(person)

    return attacker, people_answer(world, flush)


def test_own_records_that_are_withdrawn_afterwards_isolate_nobody(begin: Open) -> None:
    attacker, people = isolate(begin(Table("invited", "close", 10)), 2)
    assert attacker.linked == {}
    assert guessed(attacker, people) <= LUCK


def test_own_records_isolate_everybody_where_records_are_released_by_number(begin: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    broken.released_by_number(monkeypatch)
    world = begin(Table("invited", "close", 10))
    attacker, _ = isolate(world, 12)
    print(f"{len(attacker.own)} own records: {right(world, attacker.linked)} of {PEOPLE} linked rightly")
    assert right(world, attacker.linked) == PEOPLE


def test_a_batch_of_one_shows_no_record_as_it_comes(begin: Open) -> None:
    attacker = Attacker(begin(Table("invited", "close", 1)))
    people = people_answer(attacker.world, attacker.look)
    assert attacker.linked == {}
    assert guessed(attacker, people) <= LUCK


def test_a_batch_of_one_shows_each_record_where_they_are_released_by_number(begin: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    broken.released_by_number(monkeypatch)
    attacker = Attacker(begin(Table("invited", "close", 1)))
    people_answer(attacker.world, attacker.look)
    assert right(attacker.world, attacker.linked) == PEOPLE


def marks(world: World, copy: Path) -> tuple[int, int]:
    """A copy of the database, without the key: how many records it shows, and how many codes are marked."""
    world.store.backup(copy)
    with closing(sqlite3.connect(copy)) as connection:
        counts = [connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in ("submissions", "invitations WHERE spent")]
    copy.unlink()
    return counts[0], counts[1]


def watched(world: World, tmp_path: Path) -> list[tuple[str, tuple[int, int]]]:
    """What the replies about a code, and a copy of the database, say after each answer."""
    seen: list[tuple[str, tuple[int, int]]] = []
    people_answer(world, lambda person: seen.append((world.check(own_code(FIRST + person)), marks(world, tmp_path / "night.db"))))
    return seen


def test_codes_that_are_asked_about_and_copies_of_the_database_say_nothing_before_the_close(begin: Open, tmp_path: Path) -> None:
    world = begin(Table("invited", "close", 10))
    unused = world.check(own_code(0))
    assert watched(world, tmp_path) == [(unused, (0, 0))] * PEOPLE
    world.play("press", "close")
    assert marks(world, tmp_path / "last.db") == (PEOPLE, PEOPLE)
    assert world.check(own_code(FIRST)) == unused


def test_marks_and_records_show_one_by_one_where_they_are_released_by_number(
    begin: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken.released_by_number(monkeypatch)
    seen = watched(begin(Table("invited", "close", 1)), tmp_path)
    assert [copy for _, copy in seen] == [(number, number) for number in range(1, PEOPLE + 1)]


def groups_shown(world: World) -> set[str | None]:
    """The labels of rows in an analyst's download, whatever an owner sets."""
    labels: set[str | None] = set()
    for least in (1, 30, 2):
        world.play("set", "least", least)
        for name in ("reports?form=arrow", "reports?group=South&form=arrow"):
            reply = world.device.get(f"/api/v1/surveys/game/{name}", headers={"Authorization": f"Bearer {world.look_key}"})
            if reply.status_code == 200:
                labels |= set(pa.ipc.open_stream(reply.data).read_all()["group"].to_pylist())
    return labels


def group_of_one(world: World) -> set[str | None]:
    """Somebody is alone in South; the attacker fills North, closes, and withdraws a part of their own records."""
    assert world.send(own_card(FIRST, "South"), b"") == 200
    world.play("send_own", 25, "North")
    world.play("press", "close")
    labels = groups_shown(world)
    world.play("withdraw_own", 10)
    return labels | groups_shown(world)


def test_a_group_of_one_is_never_named(begin: Open) -> None:
    assert group_of_one(begin(Table("open", "close", 10, groups=True))) == {None}


def test_a_group_of_one_is_named_where_the_least_is_the_owners(begin: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = disclosure_control.release_of

    def owners(*arguments: object, **options: object) -> object:
        from dataclasses import replace

        return replace(shown(*arguments, **options), least=1)  # type: ignore[arg-type]

    monkeypatch.setattr(disclosure_control, "release_of", owners)
    monkeypatch.setattr("deniable_server.results.results.release_of", owners)
    assert "South" in group_of_one(begin(Table("open", "close", 10, groups=True)))
