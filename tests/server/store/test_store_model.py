"""No order of operations breaks the counts: the store beside a model made of dictionaries, step by step."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.errors import Flaky
from hypothesis.stateful import Bundle, RuleBasedStateMachine, rule, run_state_machine_as_test
from tests.kit.servers.tallies import count_of, recount_of, tally_of
from tests.server.store.conftest import Databases, SqliteFiles

from deniable.survey import Survey
from deniable.wire.access_codes import invitation_hash, submission_id
from deniable.wire.part import MODES, Mode
from deniable.wire.part import Part as StoredPart
from deniable.wire.record import pack, unpack
from deniable.wire.submission import Submission
from deniable.wire.tally import Tally
from deniable_server.store import open_store
from deniable_server.store.errors import ClosedError, ConflictError, InvitationError, StoreError
from deniable_server.store.sql import batch_release, batches
from deniable_server.store.sql import submissions as submissions_shelf
from deniable_server.store.sql.intake import Intake
from deniable_server.store.sql.invitations import SqlInvitations

pytestmark = pytest.mark.slow

QUESTIONS = [{"id": f"q{i}", "text": "?", "type": "yes_no"} for i in range(3)]
BASE = {"deniable": 1, "title": "T", "about": "A.", "epsilon": "ln 3", "groups": ["North", "South"], "questions": QUESTIONS}
BATCHES = {"open": 3, "invited": 2}
SURVEYS = {access: Survey.from_dict({**BASE, "id": access, "access": access, "batch": batch}) for access, batch in BATCHES.items()}
RUNS = settings(stateful_step_count=30, deadline=None, database=None, suppress_health_check=list(HealthCheck))
CONTROL = settings(RUNS, max_examples=500, phases=[Phase.generate], derandomize=True, report_multiple_bugs=False)

codes = st.integers(0, 11).map(lambda number: bytes([number]) * 15)  # few, so that they meet again
surveys = st.sampled_from(sorted(SURVEYS))
groups = st.sampled_from(SURVEYS["open"].groups)
records = st.lists(st.lists(st.booleans(), min_size=3, max_size=3), min_size=1, max_size=3)


def submission(survey: Survey, code: bytes, answers: list[list[bool]], **fields: Any) -> Submission:
    bits = [np.stack([column, ~column], axis=1) for column in np.array(answers).T]
    return Submission(submission_id(code), survey.digest, len(answers), pack(survey, bits), **fields)


Place = tuple[str, str, Mode]


@dataclass
class Part:
    """One part of a survey: what waits, what is counted, what is erased and still counted, and the codes that are not marked yet."""

    arrived: dict[bytes, Submission] = field(default_factory=dict)
    counted: dict[bytes, Submission] = field(default_factory=dict)
    erased: set[bytes] = field(default_factory=set)
    codes: set[bytes] = field(default_factory=set)

    def release(self, batch: int) -> set[bytes]:
        """Of an open survey: counts a submission of a whole batch, and others beyond a batch that stays. Gives the codes to mark."""
        due = {id_ for id_, one in self.arrived.items() if one.count >= batch}
        due |= beyond({id_: one.count for id_, one in sorted(self.arrived.items()) if one.count < batch}, batch)
        if due or sum(self.counted[id_].count for id_ in self.erased) >= batch:
            self.count(due)
        codes = beyond(dict.fromkeys(sorted(self.codes, key=lambda code: invitation_hash("invited", code)), 1), batch)
        self.codes -= codes
        return codes

    def close(self) -> set[bytes]:
        """Counts all that waits. Gives the codes to mark."""
        self.count(set(self.arrived))
        codes, self.codes = self.codes, set()
        return codes

    def count(self, due: set[bytes]) -> None:
        self.counted |= {id_: self.arrived.pop(id_) for id_ in due}
        self.counted = {id_: one for id_, one in self.counted.items() if id_ not in self.erased}
        self.erased = set()


def beyond(counts: dict[bytes, int], batch: int) -> set[bytes]:
    """All after the first ones that make a batch, if they make one too."""
    before = dict(zip(counts, accumulate(counts.values(), initial=0), strict=False))
    goes = {key for key in counts if before[key] >= batch}
    return goes if sum(counts[key] for key in goes) >= batch else set()


class Beside(RuleBasedStateMachine):
    """Every rule does one thing to the store and to the model, and expects the same of both. Two stores take turns on one database."""

    sent: Bundle[tuple[str, Submission]] = Bundle("sent")

    def __init__(self, databases: Databases) -> None:
        super().__init__()
        self.databases, self.url = databases, databases.new()
        self.store, self.other = (open_store(self.url) for _ in range(2))
        self.is_open = {name: self.store.surveys.publish(survey) for name, survey in SURVEYS.items()}
        self.parts: dict[Place, Part] = {}
        self.withdrawn: set[bytes] = set()
        self.spent: dict[bytes, bool] = {}

    def teardown(self) -> None:
        try:
            self.counts_are_those_of_the_model()
        finally:
            self.store.close()
            self.other.close()
            self.databases.discard(self.url)

    def find(self, id_: bytes) -> tuple[Place, Submission] | None:
        for place, part in self.parts.items():
            known = part.arrived.get(id_) or (part.counted.get(id_) if id_ not in part.erased else None)
            if known:
                return place, known
        return None

    def used(self, code: bytes) -> bool:
        return self.spent[code] or any(code in part.codes for part in self.parts.values())

    def expected(self, survey: str, new: Submission) -> bool | type[StoreError]:
        known = self.find(new.id)
        if known and known == ((survey, new.group, new.mode), replace(new, invitation=known[1].invitation)):
            return False
        if not self.is_open[survey]:
            return ClosedError
        if known or new.id in self.withdrawn:
            return ConflictError
        refused = new.invitation is not None and (new.invitation not in self.spent or self.used(new.invitation))
        return InvitationError if refused else True

    def add(self, survey: str, new: Submission) -> tuple[str, Submission]:
        expected = self.expected(survey, new)
        try:
            outcome: bool | type[StoreError] = self.store.submissions.add(survey, new)
        except StoreError as error:
            outcome = type(error)
        assert outcome is expected
        if outcome is True:
            part = self.parts.setdefault((survey, str(new.group), new.mode), Part())
            part.arrived[new.id] = new
            part.codes |= {new.invitation} - {None}
            self.settle()
        return survey, new

    def erase(self, id_: bytes) -> None:
        self.withdrawn.add(id_)
        for part in self.parts.values():
            if id_ in part.counted:
                part.erased.add(id_)
            part.arrived.pop(id_, None)
        self.settle()

    def settle(self) -> None:
        """A part is counted as far as another batch of it waits, and all of it when its survey is closed; and codes likewise."""
        for (survey, *_), part in self.parts.items():
            marked = part.release(SURVEYS[survey].batch) if self.is_open[survey] else part.close()
            self.spent |= dict.fromkeys(marked, True)

    @rule(target=sent, code=codes, answers=records, group=groups, mode=st.sampled_from(MODES))
    def submit(self, code: bytes, answers: list[list[bool]], group: str, mode: Mode) -> tuple[str, Submission]:
        return self.add("open", submission(SURVEYS["open"], code, answers, group=group, mode=mode))

    @rule(target=sent, code=codes, answers=records, group=groups, invitation=codes)
    def submit_with_an_invitation(self, code: bytes, answers: list[list[bool]], group: str, invitation: bytes) -> tuple[str, Submission]:
        return self.add("invited", submission(SURVEYS["invited"], code, answers[:1], group=group, invitation=invitation))

    @rule(earlier=sent)
    def repeat(self, earlier: tuple[str, Submission]) -> None:
        self.add(*earlier)

    @rule(earlier=sent, group=groups, mode=st.sampled_from(MODES))
    def repeat_with_another_label(self, earlier: tuple[str, Submission], group: str, mode: Mode) -> None:
        self.add(earlier[0], replace(earlier[1], group=group, mode=mode))

    @rule(earlier=sent, code=codes, group=groups)
    def use_an_invitation_again(self, earlier: tuple[str, Submission], code: bytes, group: str) -> None:
        if earlier[1].invitation:
            self.add("invited", replace(earlier[1], id=submission_id(code), group=group))

    @rule(earlier=sent, survey=surveys)
    def withdraw(self, earlier: tuple[str, Submission], survey: str) -> None:
        self.store.submissions.withdraw(survey, earlier[1].id)
        self.erase(earlier[1].id)

    @rule(code=codes, survey=surveys)
    def withdraw_whatever_it_is(self, code: bytes, survey: str) -> None:
        self.store.submissions.withdraw(survey, submission_id(code))
        self.erase(submission_id(code))

    @rule(made=st.lists(codes, max_size=3))
    def invite(self, made: list[bytes]) -> None:
        self.store.invitations.add("invited", [invitation_hash("invited", code) for code in made])
        self.spent = dict.fromkeys(made, False) | self.spent

    @rule(survey=surveys, is_open=st.booleans())
    def open_or_close(self, survey: str, is_open: bool) -> None:
        self.store.surveys.set_open(survey, is_open)
        self.is_open[survey] = is_open
        self.settle()

    @rule()
    def another_process(self) -> None:
        self.store, self.other = self.other, self.store

    @rule()
    def restore_a_backup(self) -> None:
        self.url = self.databases.restored(self.url, [self.store, self.other])
        self.store, self.other = (open_store(self.url) for _ in range(2))

    @rule()
    def restart(self) -> None:
        self.store.close()
        self.store = open_store(self.url)

    @rule()
    def counts_are_those_of_the_model(self) -> None:
        for name in SURVEYS:
            for part in [(group, by_hand) for group in (None, "North", "South") for by_hand in (False, True)]:
                expected, tally, recount = self.count(name, *part), tally_of(self.store, name, *part), recount_of(self.store, name, *part)
                assert count_of(self.store, name, *part) == tally.n
                assert (tally.n, tally.to_bytes()) == (recount.n, recount.to_bytes()) == (expected.n, expected.to_bytes())
        assert self.store.invitations.count("invited") == (len(self.spent), sum(self.spent.values()))

    def count(self, survey: str, group: str | None, by_hand: bool) -> Tally:
        """One by one, from what the model has counted."""
        parts = [
            part
            for place, part in self.parts.items()
            if place[0] == survey and (place[2] == "by_hand") == by_hand and group in (None, place[1])
        ]
        own = [one for part in parts for one in part.counted.values()]
        return sum((Tally.from_bits(unpack(SURVEYS[survey], s.reports, s.count)) for s in own), Tally.empty(3))


@pytest.fixture(autouse=True)
def those_who_stay_are_the_first_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not by chance, so that the model knows them."""
    monkeypatch.setattr(batches, "in_random_order", sorted)


def test_the_store_does_what_the_model_does_in_any_order(databases: Databases) -> None:
    run_state_machine_as_test(lambda: Beside(databases), settings=settings(RUNS, max_examples=databases.runs))


def counted_at_once(patch: pytest.MonkeyPatch) -> None:
    due = Intake._due
    patch.setattr(Intake, "_due", lambda self, place, survey, _: due(self, place, survey, False))


def never_counted(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Intake, "_due", lambda *_: None)


def lost_when_it_stops(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Intake, "_write", lambda *_: None)


def blind_to_other_processes(patch: pytest.MonkeyPatch) -> None:
    refresh = Intake.refresh
    patch.setattr(Intake, "refresh", lambda self, connection: None if self._version else refresh(self, connection))


def erased_and_always_counted(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Intake, "take_out", lambda *_: None)


def forgotten_withdrawals(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(submissions_shelf, "_refuse_later", lambda *_: True)


def codes_that_can_be_used_while_they_wait(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Intake, "holds_code", lambda *_: False)


def invitations_for_ever(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(SqlInvitations, "admits", lambda *_: True)


def one_group_for_all(patch: pytest.MonkeyPatch) -> None:
    change = batch_release.tallies.change

    def into_one(connection: Any, survey: Any, _: Any, more: Any) -> None:
        change(connection, survey, StoredPart("North"), more)

    patch.setattr(batch_release.tallies, "change", into_one)


def a_close_that_counts_nothing(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Intake, "touch", lambda *_: None)


BREAKS = [
    *(counted_at_once, never_counted, lost_when_it_stops, blind_to_other_processes, erased_and_always_counted, forgotten_withdrawals),
    *(codes_that_can_be_used_while_they_wait, invitations_for_ever, one_group_for_all, a_close_that_counts_nothing),
]


@pytest.mark.parametrize("break_", BREAKS)
def test_a_store_that_does_something_else_is_found_out(break_: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    break_(monkeypatch)
    files = SqliteFiles(tmp_path)  # what is broken is the same on every database
    with pytest.raises((AssertionError, Flaky)):  # what it has lost can depend on when; then it does not even do the same twice
        run_state_machine_as_test(lambda: Beside(files), settings=CONTROL)
