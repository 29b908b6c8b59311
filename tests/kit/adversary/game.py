"""The game: hypothesis makes the moves, and the judge says whether anybody has learned more than a survey promises.

Played once, and then again with the records of people who are released together dealt to one another; and their codes likewise. See
docs/reference/adversary.md.
"""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from unittest import mock

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test
from tests.kit.adversary.cards import GROUPS, PEOPLE, Table, card_of, code_hash
from tests.kit.adversary.chance import Chance, controlled
from tests.kit.adversary.knowledge import chances
from tests.kit.adversary.views import View
from tests.kit.adversary.world import OWN, Beginning, Deal, World

from deniable_server.researchers import dashboard

LOOKS = ("stranger", "viewer", "analyst", "editor", "owner", "operator", "key", "checks", "backup")
OFTEN = ("key", "key", "checks", "backup", "backup") * 3
"""What is cheap to look at, and shows most."""

LOOK = st.integers(0, 255)
FINAL = ("key", "checks", "backup")

Move = tuple[Any, ...]


class Found(AssertionError):
    """The adversary has won."""


@dataclass
class Setup:
    """What a search may use.

    Attributes:
        tables: The surveys.
        looks: The looks of the adversary.
        copies: Whether an operator may keep a copy and restore it, which takes most of a game's time.
        without: Rules that are left out, by their names: what needs few moves is found sooner among few.
        tried: How many games were played, and what came of them.
    """

    tables: Sequence[Table]
    looks: Sequence[str] = (*LOOKS, *OFTEN)
    copies: bool = True
    without: Sequence[str] = ()
    chance: Chance = field(default_factory=Chance)
    tried: Counter[str] = field(default_factory=Counter)
    _beginnings: dict[Table, Beginning] = field(default_factory=dict)

    def beginning(self, table: Table) -> Beginning:
        """The database that games of this table begin with."""
        if table not in self._beginnings:
            self._beginnings[table] = Beginning(Path(tempfile.mkdtemp(prefix="beginning-")), table)
        return self._beginnings[table]

    def remove(self) -> None:
        """Removes the databases that games begin with."""
        for beginning in self._beginnings.values():
            shutil.rmtree(beginning.path.parent)
        self._beginnings.clear()

    def world(self, folder: Path, table: Table, deal: Deal) -> World:
        return World(folder, table, deal, self.chance, self.beginning(table))


STEPS = settings(stateful_step_count=25, deadline=None, database=None, suppress_health_check=list(HealthCheck), report_multiple_bugs=False)


def search(setup: Setup, games: int, *, derandomize: bool = True, shrink: bool = False) -> None:
    """Plays games until one is won, or so many have been played. Raises Found with what the adversary knows.

    Without `derandomize` each call plays other games. With `shrink` the moves of one that is won are made fewer before they are printed.
    """
    phases = [Phase.generate, Phase.shrink] if shrink else [Phase.generate]
    with controlled(setup.chance), mock.patch.object(dashboard, "COMPUTED", dashboard.MOST_CHECKED):  # all checks at the first view
        try:
            game = type("Game", (Game,), dict.fromkeys(setup.without))  # hypothesis collects the rules of the class
            run_state_machine_as_test(
                lambda: game(setup), settings=settings(STEPS, max_examples=games, phases=phases, derandomize=derandomize)
            )
        finally:
            setup.remove()


class Game(RuleBasedStateMachine):
    """One game. Every rule is a move, and the judge speaks at the end."""

    def __init__(self, setup: Setup) -> None:
        super().__init__()
        self.setup = setup
        self.moves: list[Move] = []
        self.folder = Path(tempfile.mkdtemp(prefix="game-"))
        self.world: World

    @initialize(number=st.integers(0, 999))
    def begin(self, number: int) -> None:
        self.table = self.setup.tables[number % len(self.setup.tables)]
        self.setup.chance.begin(number)
        self.world = self.setup.world(self.folder, self.table, Deal.first(self.table))

    def play(self, *move: Any) -> None:
        self.moves.append(move)
        self.setup.tried[f"{move[0]} {move[1] if move[0] in ('press', 'set') else ''}".strip()] += 1
        self.world.play(*move)

    def group(self, south: bool) -> str | None:
        return GROUPS[south] if self.table.groups else None

    def look(self, number: int) -> None:
        """One of the looks, or none: so that acts come together with looks more often than by chance."""
        if number % 2 == 0:
            self.play("look", self.setup.looks[number // 2 % len(self.setup.looks)])

    @precondition(lambda self: self.world.is_open and len(self.world.answered) < PEOPLE)
    @rule(look=LOOK, count=st.integers(1, 3))
    def people_answer(self, look: int, count: int) -> None:
        for _ in range(min(count, PEOPLE - len(self.world.answered))):
            self.play("answer")
        self.look(look)

    @precondition(lambda self: self.world.is_open and len(self.world.answered) < PEOPLE)
    @rule(look=LOOK)
    def somebody_answers(self, look: int) -> None:
        self.play("answer")
        self.look(look)

    @precondition(lambda self: len(self.world.answered) > 2 * len(self.world.withdrew) + 1)
    @rule(seat=st.integers(0, PEOPLE - 1))
    def somebody_withdraws(self, seat: int) -> None:
        self.play("withdraw", seat % len(self.world.answered))

    @precondition(lambda self: self.world.is_open and len(self.world.own) < OWN - 60)
    @rule(count=st.integers(1, 25), south=st.booleans(), look=LOOK)
    def the_adversary_sends(self, count: int, south: bool, look: int) -> None:
        self.play("send_own", count, self.group(south))
        self.look(look)

    @precondition(lambda self: self.world.own)
    @rule(count=st.integers(1, 25))
    def the_adversary_withdraws(self, count: int) -> None:
        self.play("withdraw_own", count)

    @precondition(lambda self: self.world.is_open and self.table.access == "open" and len(self.world.own) < OWN - 60)
    @rule(count=st.integers(2, 12), south=st.booleans())
    def a_key_sends_many(self, count: int, south: bool) -> None:
        self.play("send_many", count, self.group(south))

    @rule(look=LOOK)
    def the_adversary_looks(self, look: int) -> None:
        self.look(2 * look)

    @rule(name=st.sampled_from(("least", "close_at")), value=st.integers(1, 40))
    def an_owner_changes_a_setting(self, name: str, value: int) -> None:
        self.play("set", name, value)

    @precondition(lambda self: self.world.is_open)
    @rule(look=LOOK)
    def an_editor_pauses(self, look: int) -> None:
        self.play("press", "pause")
        self.look(look)
        self.play("press", "go on")

    @precondition(lambda self: self.world.is_open and len(self.world.answered) > 1)
    @rule(look=LOOK)
    def an_owner_closes(self, look: int) -> None:
        self.play("press", "close")
        self.look(look)

    @precondition(lambda self: not self.world.is_open)
    @rule()
    def an_operator_reopens(self) -> None:
        self.play("reopen")

    @rule(hours=st.integers(1, 30), look=LOOK)
    def time_passes(self, hours: int, look: int) -> None:
        self.play("wait", hours)
        self.look(look)

    @precondition(lambda self: self.setup.copies and self.world.is_open and not self.world.restorable)
    @rule()
    def an_operator_keeps_a_copy(self) -> None:
        self.play("keep_copy")

    @precondition(lambda self: self.world.restorable)
    @rule()
    def an_operator_restores(self) -> None:
        self.play("bring_back")

    def teardown(self) -> None:
        try:
            if len(self.world.answered) > 1:  # else there is nobody to confuse anybody with
                self.end()
        finally:
            self.world.close()
            shutil.rmtree(self.folder)

    def end(self) -> None:
        """Sees to it that there are enough records to be released, closes, and looks once more."""
        self.play("press", "go on")
        for south in {False, self.table.groups}:
            self.play("send_own", self.table.batch + 2, self.group(south))
        self.play("press", "close")
        self.play("wait", 49)
        for look in FINAL:
            self.play("look", look)
        self.setup.tried["games"] += 1
        self.setup.tried["moves"] += len(self.moves)
        judge(self.world, self.setup)
        compare(self.world, self.moves, self.folder, self.setup)


def judge(world: World, setup: Setup) -> None:
    """Fails where when records first showed tells whose they are, more than the survey's promise does; and codes likewise."""
    seen, there = world.seen(), world.there()
    setup.tried["views"] += len(seen)
    names = {person: (card_of(person, world.table).id, code_hash(world.deal.codes[person])) for person in range(PEOPLE)}
    for number, (what, shows) in enumerate((("record", lambda view: view.cards), ("code", lambda view: view.codes))):
        first: dict[int, View] = {}
        for view in sorted(seen, key=lambda view: view.move):
            first |= dict.fromkeys(shows(view) - first.keys(), view)
        if what == "record" and (again := world.untraced & first.keys()):
            raise Found(f"record {min(again)} was withdrawn before the release and shows: {first[min(again)].name}")
        stay = [person for person in first if names[person][number] in there and world.answered.get(person, -1) >= 0]
        company = _company(world, {person: names[person][number] for person in stay})
        known = chances({seat: world.answered[seat] for seat in stay}, {card: first[card].move for card in stay})
        setup.tried[f"{what}s that showed"] += len(stay)
        for (seat, card), chance in known.items():
            if chance * company[card] > 1:
                raise Found(f"{what} {card} is person {seat}'s with {chance}, not 1/{company[card]}: {first[card].name}")


def _company(world: World, names: dict[int, bytes]) -> dict[int, int]:
    """Among how many a survey promises to hide each record: all of people's, or all of those released on the same day."""
    if world.table.release == "close":
        return dict.fromkeys(names, len(names))
    days = Counter(world.days[name] for name in names.values())
    return {person: days[world.days[name]] for person, name in names.items()}


def compare(world: World, moves: Sequence[Move], folder: Path, setup: Setup) -> None:
    """Fails where anything that was looked at depends on which of the people who are released together sent which record, or code."""
    before = world.seen()
    for what, deal in _deals(world, setup):
        with _again(world, moves, folder / what, deal, setup) as other:
            if again := world.tokens() & other.tokens():
                raise Found(f"{len(again)} values in copies of the database are not random: they are the same in another game")
            for one, two in zip(before, other.seen(), strict=True):
                if one.content != two.content:
                    raise Found(f"{one.name} depends on whose {what} is whose: {_difference(one.content, two.content)}")


def _deals(world: World, setup: Setup) -> Iterator[tuple[str, Deal]]:
    """Other deals that nobody should be able to tell from the first one."""
    together: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    is_final = world.table.release == "close"  # else the numbers of a day tell how many of each group had answered by then
    cards, codes = list(world.deal.cards), list(world.deal.codes)
    there = world.there()
    for seat, sent in world.answered.items():
        name, code = cards[seat].id, code_hash(codes[seat])
        if name in there and seat not in world.withdrew:  # else their own act, which a restore has undone, shows the id
            together[world.left[name], world.left.get(code, -1), is_final or cards[seat].group].append(seat)
        elif seat in world.untraced or (name not in world.left and sent >= 0):  # withdrawn or lost before anybody saw it
            new = card_of(seat, world.table, " again")
            cards[seat] = replace(new, secret=cards[seat].secret, group=new.group if is_final else cards[seat].group)
            setup.tried["records without a trace"] += 1
    for seats in together.values():
        setup.tried["records dealt anew"] += len(seats) if len(seats) > 1 else 0
        for seat, other in zip(seats, seats[1:] + seats[:1], strict=True):
            cards[seat], codes[seat] = world.deal.cards[other], world.deal.codes[other]
    if cards != world.deal.cards:
        yield "record", Deal(cards, world.deal.codes)
    if codes != world.deal.codes and world.table.access == "invited":
        yield "code", Deal(world.deal.cards, codes)


@contextmanager
def _again(world: World, moves: Sequence[Move], folder: Path, deal: Deal, setup: Setup) -> Iterator[World]:
    folder.mkdir()
    setup.chance.repeat(world.left)
    other = setup.world(folder, world.table, deal)
    try:
        for move in moves:
            other.play(*move)
        yield other
    finally:
        other.close()


def _difference(one: str, two: str) -> str:
    start = next((index for index, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), min(len(one), len(two)))
    return f"{one[max(0, start - 40) : start + 80]!r} or {two[max(0, start - 40) : start + 80]!r}"
