"""No order of operations breaks the counts: the store beside a model made of dictionaries, step by step."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, rule, run_state_machine_as_test

from deniable.codes import invitation_hash, submission_id
from deniable.submission import Submission, pack, unpack
from deniable.survey import Survey
from deniable.tally import Tally
from deniable_server.store import ClosedError, ConflictError, InvitationError, StoreError, WithdrawnError
from deniable_server.store import sqlite as sqlite_store
from deniable_server.store.sqlite import SqliteStore

QUESTIONS = [{"id": f"q{i}", "text": "?", "type": "yes_no"} for i in range(3)]
BASE = {"deniable": 1, "title": "T", "about": "A.", "epsilon": "ln 3", "groups": ["North", "South"], "questions": QUESTIONS}
SURVEYS = {access: Survey.from_dict({**BASE, "id": access, "access": access}) for access in ("open", "invited")}
RUNS = settings(max_examples=100, stateful_step_count=30, deadline=None, database=None, suppress_health_check=list(HealthCheck))
CONTROL = settings(RUNS, max_examples=500, phases=[Phase.generate], derandomize=True, report_multiple_bugs=False)

codes = st.integers(0, 11).map(lambda number: bytes([number]) * 15)  # few, so that they meet again
surveys = st.sampled_from(sorted(SURVEYS))
groups = st.sampled_from(SURVEYS["open"].groups)
records = st.lists(st.lists(st.booleans(), min_size=3, max_size=3), min_size=1, max_size=3)


def submission(survey: Survey, code: bytes, answers: list[list[bool]], **fields: Any) -> Submission:
    bits = [np.stack([column, ~column], axis=1) for column in np.array(answers).T]
    return Submission(submission_id(code), survey.digest, len(answers), pack(survey, bits), **fields)


class Beside(RuleBasedStateMachine):
    """Every rule does one thing to the store and to the model, and expects the same of both."""

    sent: Bundle[tuple[str, Submission]] = Bundle("sent")

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="model-"))
        self.store = SqliteStore(self.folder / "deniable.db")
        self.is_open = {name: self.store.publish(survey) for name, survey in SURVEYS.items()}
        self.kept: dict[bytes, tuple[str, Submission]] = {}
        self.withdrawn: set[bytes] = set()
        self.spent: dict[bytes, bool] = {}

    def teardown(self) -> None:
        try:
            self.counts_are_those_of_the_model()
        finally:
            self.store.close()
            shutil.rmtree(self.folder)

    def expected(self, survey: str, new: Submission) -> bool | type[StoreError]:
        if new.id in self.kept:
            name, known = self.kept[new.id]
            return False if (name, replace(known, invitation=None)) == (survey, replace(new, invitation=None)) else ConflictError
        if new.id in self.withdrawn:
            return WithdrawnError
        if not self.is_open[survey]:
            return ClosedError
        return True if new.invitation is None or self.spent.get(new.invitation) is False else InvitationError

    def add(self, survey: str, new: Submission) -> tuple[str, Submission]:
        expected = self.expected(survey, new)
        try:
            outcome: bool | type[StoreError] = self.store.add(survey, new)
        except StoreError as error:
            outcome = type(error)
        assert outcome is expected
        if outcome is True:
            self.kept[new.id] = survey, new
            if new.invitation is not None:
                self.spent[new.invitation] = True
        return survey, new

    @rule(target=sent, code=codes, answers=records, group=groups, by_hand=st.booleans())
    def submit(self, code: bytes, answers: list[list[bool]], group: str, by_hand: bool) -> tuple[str, Submission]:
        return self.add("open", submission(SURVEYS["open"], code, answers, group=group, by_hand=by_hand))

    @rule(target=sent, code=codes, answers=records, group=groups, invitation=codes)
    def submit_with_an_invitation(self, code: bytes, answers: list[list[bool]], group: str, invitation: bytes) -> tuple[str, Submission]:
        return self.add("invited", submission(SURVEYS["invited"], code, answers[:1], group=group, invitation=invitation))

    @rule(earlier=sent)
    def repeat(self, earlier: tuple[str, Submission]) -> None:
        self.add(*earlier)

    @rule(earlier=sent, group=groups, by_hand=st.booleans())
    def repeat_with_another_label(self, earlier: tuple[str, Submission], group: str, by_hand: bool) -> None:
        self.add(earlier[0], replace(earlier[1], group=group, by_hand=by_hand))

    @rule(earlier=sent, survey=surveys)
    def withdraw(self, earlier: tuple[str, Submission], survey: str) -> None:
        self.store.withdraw(survey, earlier[1].id)
        self.kept.pop(earlier[1].id, None)
        self.withdrawn.add(earlier[1].id)

    @rule(code=codes, survey=surveys)
    def withdraw_whatever_it_is(self, code: bytes, survey: str) -> None:
        self.store.withdraw(survey, submission_id(code))
        self.kept.pop(submission_id(code), None)
        self.withdrawn.add(submission_id(code))

    @rule(made=st.lists(codes, max_size=3))
    def invite(self, made: list[bytes]) -> None:
        self.store.invite("invited", [invitation_hash("invited", code) for code in made])
        self.spent = dict.fromkeys(made, False) | self.spent

    @rule(survey=surveys, is_open=st.booleans())
    def open_or_close(self, survey: str, is_open: bool) -> None:
        self.store.set_open(survey, is_open)
        self.is_open[survey] = is_open

    @rule()
    def restart(self) -> None:
        self.store.close()
        self.store = SqliteStore(self.folder / "deniable.db")

    @rule()
    def counts_are_those_of_the_model(self) -> None:
        for name in SURVEYS:
            for part in [(group, by_hand) for group in (None, "North", "South") for by_hand in (False, True)]:
                expected, tally, recount = self.count(name, *part), self.store.tally(name, *part), self.store.recount(name, *part)
                assert (tally.n, tally.to_bytes()) == (recount.n, recount.to_bytes()) == (expected.n, expected.to_bytes())
        assert self.store.invitations("invited") == (len(self.spent), sum(self.spent.values()))

    def count(self, survey: str, group: str | None, by_hand: bool) -> Tally:
        """One by one, from what the model has kept."""
        own = [s for name, s in self.kept.values() if name == survey and s.by_hand == by_hand and group in (None, s.group)]
        return sum((Tally.from_bits(unpack(SURVEYS[survey], s.reports, s.count)) for s in own), Tally.empty(3))


def test_the_store_does_what_the_model_does_in_any_order() -> None:
    run_state_machine_as_test(Beside, settings=RUNS)


def broken_counts(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(sqlite_store.tallies, "subtract", lambda *_: None)


def forgotten_withdrawals(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(SqliteStore, "_refuse_later", lambda *_: True)


def invitations_for_ever(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(sqlite_store, "_spend", lambda *_: None)


def one_group_for_all(patch: pytest.MonkeyPatch) -> None:
    counted = sqlite_store._counted
    patch.setattr(sqlite_store, "_counted", lambda survey, rows: {("North", False): sum(counted(survey, rows).values(), Tally.empty(3))})


def never_closed(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(sqlite_store, "_refuse_closed", lambda *_: None)


@pytest.mark.parametrize("break_", [broken_counts, forgotten_withdrawals, invitations_for_ever, one_group_for_all, never_closed])
def test_a_store_that_does_something_else_is_found_out(break_: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    break_(monkeypatch)
    with pytest.raises(AssertionError):
        run_state_machine_as_test(Beside, settings=CONTROL)
