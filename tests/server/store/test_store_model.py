"""No order of operations breaks the counts: the store beside a model made of dictionaries, step by step and day by day."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.errors import Flaky
from hypothesis.stateful import Bundle, RuleBasedStateMachine, rule, run_state_machine_as_test
from tests.kit.servers.release import Days
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
from deniable_server.store.blind_signing import SigningKey
from deniable_server.store.errors import ClosedError, ConflictError, InvitationError, StoreError
from deniable_server.store.life import LEAST
from deniable_server.store.sql import arrivals, batches, counting, duplicates, intake
from deniable_server.store.sql import submissions as submissions_shelf
from deniable_server.store.sql import surveys as surveys_shelf
from deniable_server.store.sql.intake import Intake
from deniable_server.store.sql.invitations import SqlInvitations
from deniable_server.store.sql.release import Releaser

pytestmark = pytest.mark.slow

QUESTIONS = [{"id": f"q{i}", "text": "?", "type": "yes_no"} for i in range(3)]
BASE = {"deniable": 1, "title": "T", "about": "A.", "epsilon": "ln 3", "groups": ["North", "South"], "questions": QUESTIONS}
KEYS: dict[str, dict[str, Any]] = {
    "open": {"batch": 3},
    "panel": {"batch": 2, "access": "invited", "release": "daily"},
    "once": {"batch": 2, "release": "close"},
}
SURVEYS = {name: Survey.from_dict({**BASE, "id": name, "accept_small_batches": True, **keys}) for name, keys in KEYS.items()}
RUNS = settings(stateful_step_count=40, deadline=None, database=None, suppress_health_check=list(HealthCheck))
CONTROL = settings(RUNS, max_examples=500, phases=[Phase.generate], derandomize=True, report_multiple_bugs=False)

codes = st.integers(0, 11).map(lambda number: bytes([number]) * 15)  # few, so that they meet again
surveys = st.sampled_from(sorted(SURVEYS))
invited = st.sampled_from([name for name, survey in SURVEYS.items() if survey.access == "invited"])
groups = st.sampled_from(SURVEYS["open"].groups)
record = st.lists(st.booleans(), min_size=3, max_size=3)
records = st.lists(record, min_size=1, max_size=3)


def submission(survey: Survey, code: bytes, answers: list[list[bool]], **fields: Any) -> Submission:
    bits = [np.stack([column, ~column], axis=1) for column in np.array(answers).T]
    return Submission(submission_id(code), survey.digest, len(answers), pack(survey, bits), **fields)


def is_bulk(one: Submission) -> bool:
    return one.mode == "organisation" or one.count > 1


PartOf = tuple[str | None, Mode]


@dataclass
class Part:
    """One part of a survey, of bulk submissions or of people's: waiting ones, counted ones, and erased ones that are still counted."""

    arrived: dict[bytes, Submission] = field(default_factory=dict)
    counted: dict[bytes, Submission] = field(default_factory=dict)
    erased: set[bytes] = field(default_factory=set)

    def release(self, batch: int) -> bool:
        """Of an open survey: counts a submission of a whole batch, and others beyond a batch that stays. Returns whether any came."""
        due = {id_ for id_, one in self.arrived.items() if one.count >= batch}
        due |= beyond({id_: one.count for id_, one in sorted(self.arrived.items()) if one.count < batch}, batch)
        if due or sum(self.counted[id_].count for id_ in self.erased) >= batch:
            self.count(due)
        return bool(due)

    def count(self, due: set[bytes]) -> None:
        self.counted |= {id_: self.arrived.pop(id_) for id_ in due}
        self.counted = {id_: one for id_, one in self.counted.items() if id_ not in self.erased}
        self.erased = set()


def beyond(counts: dict[bytes, int], batch: int) -> set[bytes]:
    """All after the first ones that make a batch, if they make one too."""
    before = dict(zip(counts, accumulate(counts.values(), initial=0), strict=False))
    goes = {key for key in counts if before[key] >= batch}
    return goes if sum(counts[key] for key in goes) >= batch else set()


@dataclass
class Model:
    """One survey.

    Attributes:
        codes: Used codes that are not marked yet.
        spent: All codes, and whether they are marked.
        withdrawals: The number of submissions that were withdrawn.
        due: The day of the next daily release.
        released_on: The day of the last release.
    """

    survey: Survey
    is_open: bool = True
    bulk: dict[PartOf, Part] = field(default_factory=dict)
    people: dict[PartOf, Part] = field(default_factory=dict)
    codes: set[bytes] = field(default_factory=set)
    spent: dict[bytes, bool] = field(default_factory=dict)
    withdrawals: int = 0
    due: int | None = None
    released_on: int | None = None

    @property
    def parts(self) -> list[tuple[PartOf, Part]]:
        return [*self.bulk.items(), *self.people.items()]

    def waiting(self, mode: str) -> int:
        return sum(len(part.arrived) for (_, own), part in self.people.items() if own == mode)

    @property
    def tens(self) -> tuple[int, int]:
        return self.waiting("device") // 10, self.waiting("by_hand") // 10

    def find(self, id_: bytes) -> tuple[PartOf, Submission] | None:
        for part_of, part in self.parts:
            known = part.arrived.get(id_) or (part.counted.get(id_) if id_ not in part.erased else None)
            if known:
                return part_of, known
        return None

    def add(self, new: Submission, day: int) -> None:
        before = self.tens
        (self.bulk if is_bulk(new) else self.people).setdefault((new.group, new.mode), Part()).arrived[new.id] = new
        if new.invitation:
            self.codes.add(new.invitation)
        if not is_bulk(new) and self.waiting(new.mode) == 1:
            self.draw(day)
        if is_bulk(new) or self.tens != before:
            self.settle(day)

    def erase(self, id_: bytes, day: int) -> None:
        """Erases a submission, if it is one of this survey's."""
        before, is_touched = self.tens, False
        for parts in (self.bulk, self.people):
            for part in parts.values():
                if id_ in part.counted and id_ not in part.erased:
                    part.erased.add(id_)
                    self.withdrawals, is_touched = self.withdrawals + 1, True
                    if parts is self.people:
                        self.draw(day)
                elif part.arrived.pop(id_, None):
                    self.withdrawals, is_touched = self.withdrawals + 1, is_touched or parts is self.bulk
        if is_touched or self.tens != before:
            self.settle(day)

    def draw(self, day: int) -> None:
        if self.survey.release == "daily" and self.due is None:
            self.due = day + 1

    def settle(self, day: int) -> None:
        """Bulk submissions are counted as far as another batch waits; of a closed survey everything, but people's once a day."""
        for part in self.bulk.values():
            if self.is_open:
                part.release(self.survey.batch)
            else:
                part.count(set(part.arrived))
        if not self.is_open:
            self.close(day, erased_only=not self.may_release(day))

    def may_release(self, day: int) -> bool:
        return self.survey.release == "close" or self.released_on != day

    def close(self, day: int, *, erased_only: bool) -> bool:
        """Counts all records of people, unless they are fewer than a batch."""
        total = self.waiting("device") + self.waiting("by_hand")
        counts = not erased_only and total >= self.survey.batch
        for part in self.people.values():
            part.count(set(part.arrived) if counts else set())
        if counts:
            self.spent |= dict.fromkeys(self.codes, True)
            self.codes, self.released_on, self.due = set(), day, None
        return counts

    def release(self, day: int) -> bool:
        """Releases what is due. Returns whether records came."""
        if self.due is None or self.due > day:
            return False
        before, self.due, may_release, came = self.tens, None, self.may_release(day), False
        if may_release and self.is_open:
            came = True in {part.release(self.survey.batch) for part in self.people.values()}
            if came:
                hashed = sorted(self.codes, key=lambda code: invitation_hash(self.survey.id, code))
                marked = beyond(dict.fromkeys(hashed, 1), self.survey.batch)
                self.spent |= dict.fromkeys(marked, True)
                self.codes, self.released_on = self.codes - marked, day
        elif may_release:
            came = self.close(day, erased_only=False)
        if self.waiting("device") + self.waiting("by_hand") or not may_release:
            self.draw(day)
        if self.tens != before:
            self.settle(day)
        return came


@cache
def issuer() -> str:
    """Returns the public key of all surveys by invitation: it takes long to make, and no token is used here."""
    return SigningKey.generate().issuer


class Beside(RuleBasedStateMachine):
    """Every rule does one thing to the store and to the model, and expects the same of both. Two stores take turns on one database."""

    sent: Bundle[tuple[str, Submission]] = Bundle("sent")

    def __init__(self, databases: Databases, days: Days) -> None:
        super().__init__()
        self.databases, self.url, self.days, self.day = databases, databases.new(), days, 1
        days.set(1)
        self.store, self.other = (open_store(self.url) for _ in range(2))
        for survey in SURVEYS.values():
            is_invited = survey.access == "invited"
            self.store.surveys.publish(survey.with_issuer(issuer() if is_invited else ""), with_key=False)
        self.models = {name: Model(survey) for name, survey in SURVEYS.items()}
        self.withdrawn: set[bytes] = set()
        self.tallied: dict[tuple[str, tuple[int, ...]], dict[StoredPart, bytes]] = {}

    def teardown(self) -> None:
        try:
            self.counts_are_those_of_the_model()
        finally:
            self.store.close()
            self.other.close()
            self.databases.discard(self.url)

    def find(self, id_: bytes) -> tuple[str, PartOf, Submission] | None:
        found = [(name, *known) for name, model in self.models.items() if (known := model.find(id_))]
        return found[0] if found else None

    def expected(self, survey: str, new: Submission) -> bool | type[StoreError]:
        known, model = self.find(new.id), self.models[survey]
        if known and known == (survey, (new.group, new.mode), replace(new, invitation=known[2].invitation)):
            return False
        if not model.is_open:
            return ClosedError
        if known or new.id in self.withdrawn:
            return ConflictError
        code = new.invitation
        return InvitationError if code is not None and (code in model.codes or model.spent.get(code, True)) else True

    def add(self, survey: str, new: Submission) -> tuple[str, Submission]:
        expected = self.expected(survey, new)
        try:
            outcome: bool | type[StoreError] = self.store.submissions.add(survey, new)
        except StoreError as error:
            outcome = type(error)
        assert outcome is expected
        if outcome is True:
            self.models[survey].add(new, self.day)
        return survey, new

    def erase(self, id_: bytes) -> None:
        self.withdrawn.add(id_)
        for model in self.models.values():
            model.erase(id_, self.day)

    @rule(target=sent, code=codes, answers=record, group=groups, mode=st.sampled_from(("device", "by_hand")))
    def submit(self, code: bytes, answers: list[bool], group: str, mode: Mode) -> tuple[str, Submission]:
        return self.add("open", submission(SURVEYS["open"], code, [answers], group=group, mode=mode))

    @rule(target=sent, code=codes, survey=surveys, answers=records, group=groups, mode=st.sampled_from(MODES))
    def submit_in_bulk(self, code: bytes, survey: str, answers: list[list[bool]], group: str, mode: Mode) -> tuple[str, Submission]:
        return self.add(survey, submission(SURVEYS[survey], code, answers, group=group, mode=mode))

    @rule(target=sent, code=codes, survey=invited, answers=record, group=groups, own=codes)
    def submit_with_an_invitation(self, code: bytes, survey: str, answers: list[bool], group: str, own: bytes) -> tuple[str, Submission]:
        return self.add(survey, submission(SURVEYS[survey], code, [answers], group=group, invitation=own))

    @rule(target=sent, survey=surveys, first=st.integers(0, 8), people=st.integers(1, 7), answers=record, group=groups)
    def several_answer(self, survey: str, first: int, people: int, answers: list[bool], group: str) -> tuple[str, Submission]:
        """So many that a release is likely, each with a code of their own where codes are needed."""
        for number in range(first, first + people):
            code = bytes([number]) * 15
            if SURVEYS[survey].access == "invited":
                self.invite([code], survey)
            own = code if SURVEYS[survey].access == "invited" else None
            last = self.add(survey, submission(SURVEYS[survey], code, [answers], group=group, invitation=own))
        return last

    @rule(earlier=sent)
    def repeat(self, earlier: tuple[str, Submission]) -> None:
        self.add(*earlier)

    @rule(earlier=sent, group=groups, mode=st.sampled_from(MODES))
    def repeat_with_another_label(self, earlier: tuple[str, Submission], group: str, mode: Mode) -> None:
        self.add(earlier[0], replace(earlier[1], group=group, mode=mode))

    @rule(earlier=sent, code=codes, group=groups)
    def use_an_invitation_again(self, earlier: tuple[str, Submission], code: bytes, group: str) -> None:
        if earlier[1].invitation:
            self.add(earlier[0], replace(earlier[1], id=submission_id(code), group=group))

    @rule(earlier=sent, survey=surveys)
    def withdraw(self, earlier: tuple[str, Submission], survey: str) -> None:
        self.store.submissions.withdraw(survey, earlier[1].id)
        self.erase(earlier[1].id)

    @rule(code=codes, survey=surveys)
    def withdraw_any_code(self, code: bytes, survey: str) -> None:
        self.store.submissions.withdraw(survey, submission_id(code))
        self.erase(submission_id(code))

    @rule(made=st.lists(codes, max_size=6), survey=invited)
    def make_codes(self, made: list[bytes], survey: str) -> None:
        self.invite(made, survey)

    def invite(self, made: list[bytes], survey: str) -> None:
        self.store.invitations.add(survey, [invitation_hash(survey, code) for code in made])
        self.models[survey].spent = dict.fromkeys(made, False) | self.models[survey].spent

    @rule(survey=surveys, is_open=st.booleans())
    def open_or_close(self, survey: str, is_open: bool) -> None:
        model = self.models[survey]
        shown_once = model.survey.release == "close" and model.released_on is not None
        if is_open and not model.is_open and (shown_once or model.survey.access == "invited"):
            refused = False
            try:
                self.store.surveys.set_open(survey, True)
            except ClosedError:
                refused = True
            assert refused, "not `pytest.raises`, whose failure is no AssertionError: the controls look for these"
            return
        self.store.surveys.set_open(survey, is_open)
        model.is_open = is_open
        model.settle(self.day)

    @rule(later=st.integers(0, 2))
    def release_at_the_end_of_a_day(self, later: int) -> None:
        self.days.set(self.day)
        released = self.store.submissions.release_due(self.days.end(self.day))
        assert released == [name for name, model in sorted(self.models.items()) if model.release(self.day)]
        self.day += later
        self.days.set(self.day)

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
        for name, model in self.models.items():
            for part in [(group, by_hand) for group in (None, "North", "South") for by_hand in (False, True)]:
                expected, tally, recount = self.count(name, *part), tally_of(self.store, name, *part), recount_of(self.store, name, *part)
                assert count_of(self.store, name, *part) == tally.n
                assert (tally.n, tally.to_bytes()) == (recount.n, recount.to_bytes()) == (expected.n, expected.to_bytes())
            state, parts = self.store.submissions.state(name), self.store.submissions.counts(name)
            tallied = {part: self.store.submissions.tally(name, [part]).to_bytes() for part in parts}
            assert self.tallied.setdefault((name, state), tallied) == tallied, "the same state of the counts, but other counts"
            waiting = {mode: model.waiting(mode) // 10 * 10 for mode in ("device", "by_hand")}
            assert self.store.submissions.waiting(name) == waiting
            reported = count_of(self.store, name) + waiting["device"]
            assert sum(span.n for span in self.store.life.spans(name)) == (reported if reported >= LEAST else 0)
            withdrawals = model.withdrawals // 10 * 10 if model.is_open else model.withdrawals
            assert self.store.submissions.withdrawn(name) == withdrawals
            assert self.store.invitations.count(name) == (len(model.spent), sum(model.spent.values()))
        used = {(name, code) for name, model in self.models.items() for code in {*model.codes, *(c for c in model.spent if model.spent[c])}}
        assert self.store.invitations.used() == sorted((name, invitation_hash(name, code)) for name, code in used)

    def count(self, survey: str, group: str | None, by_hand: bool) -> Tally:
        """One by one, from what the model has counted."""
        parts = [part for (own, mode), part in self.models[survey].parts if (mode == "by_hand") == by_hand and group in (None, own)]
        own = [one for part in parts for one in part.counted.values()]
        return sum((Tally.from_bits(unpack(SURVEYS[survey], s.reports, s.count)) for s in own), Tally.empty(3))


@pytest.fixture(autouse=True)
def those_who_stay_are_the_first_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not by chance, so that the model knows them."""
    monkeypatch.setattr(batches, "in_random_order", sorted)


def test_the_store_does_what_the_model_does_in_any_order(databases: Databases, days: Days) -> None:
    run_state_machine_as_test(lambda: Beside(databases, days), settings=settings(RUNS, max_examples=databases.runs))


def bulk_counted_at_once(patch: pytest.MonkeyPatch) -> None:
    count = Releaser._count
    patch.setattr(Releaser, "_count", lambda self, survey, waiting, everything: count(self, survey, waiting, everything=True))


def people_counted_as_bulk(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(intake, "is_bulk", lambda *_: True)


def never_counted(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Releaser, "_count", lambda *_, **__: False)


def lost_when_it_stops(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Intake, "_write_rows", lambda self, ids: [self._new.pop(id_) for id_ in ids])


def blind_to_waiting_submissions(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(duplicates, "tag", lambda *_: bytes(16))


def erased_and_always_counted(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Intake, "take_out", lambda *_: None)


def forgotten_withdrawals(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(submissions_shelf, "_refuse_later", lambda *_: True)


def codes_that_can_be_used_while_they_wait(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Intake, "holds_code", lambda *_: False)


def invitations_for_ever(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(SqlInvitations, "admits", lambda *_: True)


def codes_that_are_never_marked(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Releaser, "_spend", lambda *_, **__: None)


def one_group_for_all(patch: pytest.MonkeyPatch) -> None:
    change = counting.tallies.change

    def into_one(connection: Any, survey: Any, _: Any, more: Any) -> None:
        change(connection, survey, StoredPart("North"), more)

    patch.setattr(counting.tallies, "change", into_one)


def a_close_that_counts_nothing(patch: pytest.MonkeyPatch) -> None:
    people = Releaser._release_people

    def not_at_the_close(self: Any, survey: Any, *, everything: bool, erased_only: bool = False) -> bool:
        return False if everything else people(self, survey, everything=everything, erased_only=erased_only)

    patch.setattr(Releaser, "_release_people", not_at_the_close)


def a_close_that_counts_one(patch: pytest.MonkeyPatch) -> None:
    people = Releaser._release_people

    def of_any_number(self: Any, survey: Any, **how: bool) -> bool:
        return people(self, replace(survey, batch=1) if how["everything"] else survey, **how)

    patch.setattr(Releaser, "_release_people", of_any_number)


def opened_again_after_the_only_look(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(surveys_shelf, "_shown_at_close", lambda *_: None)


def a_rest_that_is_never_due(patch: pytest.MonkeyPatch) -> None:
    draw = arrivals.draw_due
    patch.setattr(arrivals, "draw_due", lambda connection, survey, now=None: draw(connection, survey) if now is None else None)


def due_on_the_same_day(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(arrivals, "DAY", arrivals.DAY * 0 + arrivals.timedelta(seconds=1))


def exact_numbers(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(arrivals, "rounded", lambda n: n)


BREAKS = [
    *(bulk_counted_at_once, people_counted_as_bulk, never_counted, lost_when_it_stops, blind_to_waiting_submissions),
    *(erased_and_always_counted, forgotten_withdrawals, codes_that_can_be_used_while_they_wait, invitations_for_ever),
    *(codes_that_are_never_marked, one_group_for_all, a_close_that_counts_nothing, a_close_that_counts_one),
    *(opened_again_after_the_only_look, a_rest_that_is_never_due, due_on_the_same_day, exact_numbers),
]


@pytest.mark.parametrize("break_", BREAKS)
def test_a_store_that_does_something_else_is_found_out(break_: Any, tmp_path: Path, days: Days, monkeypatch: pytest.MonkeyPatch) -> None:
    break_(monkeypatch)
    files = SqliteFiles(tmp_path)  # what is broken is the same on every database
    with pytest.raises((AssertionError, Flaky)):  # what it has lost can depend on when; then it does not even do the same twice
        run_state_machine_as_test(lambda: Beside(files, days), settings=CONTROL)
