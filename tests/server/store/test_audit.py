"""The log of what researchers and operators did, on every database: what is in it, and that nothing can be changed in it unseen."""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import pytest
from tests.kit.issuer import issued

from deniable.survey import Survey
from deniable.wire.submission import Submission
from deniable_server.store.accounts import ApiKey
from deniable_server.store.audit import BEGINNING, Act, AuditEntry, acting, check
from deniable_server.store.errors import ClosedError, StoreError
from deniable_server.store.factors import Passkey
from deniable_server.store.people import AccountLink
from deniable_server.store.protocol import Store
from deniable_server.store.roles import Role

Row = tuple[int, str, str]


def acts(store: Store) -> list[tuple[str | None, str, str, str]]:
    """All that the log has after the first entry, which published the survey of every test."""
    return [(entry.did.who, entry.did.act, entry.did.on, entry.did.detail) for entry in reversed(store.audit.entries())][1:]


def test_every_act_is_noted_with_who_did_it_to_what(store: Store, survey: Survey) -> None:
    mine = issued(Survey.from_dict({**survey.to_dict(), "id": "mine", "access": "invited"}))
    with acting("ada"):
        for user in ("ada", "eve", "bob"):
            store.accounts.set_password(user, "hash")
        store.accounts.set_password("eve", "another")
        store.people.set_operator("ada", True)
        store.people.set_operator("eve", True)
        store.people.set_operator("eve", False)
        store.surveys.publish(mine, "ada")
        store.surveys.publish(mine, "ada")  # again, which does nothing
        store.invitations.add("mine", [b"1", b"2"])
        store.roles.grant("mine", "eve", Role.EDITOR)
        store.roles.revoke("mine", "eve")
        store.roles.revoke("mine", "eve")
        store.accounts.add_key(ApiKey("lab", ("submit", "results"), "mine", "2026-01-01"), b"k")
        store.accounts.remove_key("lab")
        store.accounts.remove_key("lab")
        store.people.set_disabled("eve", True)
        store.people.set_disabled("eve", False)
        store.people.add_link(AccountLink(b"\x01" * 32, True, 900, "ada"), 1)
        store.people.add_link(AccountLink(b"\x02" * 32, False, 900, "ada"), 1)
        store.people.revoke(b"\x02" * 32)
        store.people.revoke(b"\x02" * 32)
        for closing in ("mine", "study"):
            store.surveys.set_open(closing, False)
        with pytest.raises(ClosedError):
            store.surveys.set_open("mine", True)
    store.surveys.set_open("study", True)
    store.people.accept(b"\x01" * 32, "zoe", "hash", 2)
    store.accounts.open_session("zoe", b"t", 1, 9)
    store.accounts.open_session("nobody", b"n", 1, 9)
    with acting("zoe"):
        store.factors.set_secret("zoe", b"secret", 1, [b"r"])
        store.factors.take_step("zoe", 2)
        store.factors.take_recovery("zoe", b"r")
        store.factors.take_recovery("zoe", b"r")
        store.factors.add_passkey("zoe", Passkey(b"p", "phone", b"public", 0, "2026-01-01"), [])
        store.factors.remove("zoe")
        store.factors.remove("zoe")
        store.accounts.end_sessions("zoe")
    store.accounts.remove_user("bob")
    store.accounts.remove_user("bob")
    assert acts(store) == [
        ("ada", "account.make", "ada", ""),
        ("ada", "account.make", "eve", ""),
        ("ada", "account.make", "bob", ""),
        ("ada", "account.password", "eve", ""),
        ("ada", "account.operator", "ada", ""),
        ("ada", "account.operator", "eve", ""),
        ("ada", "account.researcher", "eve", ""),
        ("ada", "survey.publish", "mine", f"digest {store.surveys.published('mine').survey.digest}, owner ada"),
        ("ada", "codes.make", "mine", "2 codes"),
        ("ada", "role.give", "mine", "eve is editor"),
        ("ada", "role.take", "mine", "eve has no role"),
        ("ada", "key.make", "lab", "submit results for mine"),
        ("ada", "key.revoke", "lab", ""),
        ("ada", "account.disable", "eve", ""),
        ("ada", "account.enable", "eve", ""),
        ("ada", "link.make", "01" * 8, "for an operator"),
        ("ada", "link.make", "02" * 8, "for a researcher"),
        ("ada", "link.take-back", "02" * 8, ""),
        ("ada", "survey.close", "mine", ""),
        ("ada", "survey.close", "study", ""),
        (None, "survey.reopen", "study", ""),
        ("zoe", "account.make", "zoe", "by link 0101010101010101"),
        ("zoe", "account.log-in", "zoe", ""),
        ("zoe", "factor.set", "zoe", ""),
        ("zoe", "factor.recover", "zoe", ""),
        ("zoe", "passkey.add", "zoe", "phone"),
        ("zoe", "factor.remove", "zoe", ""),
        ("zoe", "account.log-out-everywhere", "zoe", ""),
        (None, "account.remove", "bob", ""),
    ]
    assert store.audit.verify().faults == ()
    now = time.time()
    for entry in store.audit.entries():
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", entry.did.at)
        assert abs(time.mktime(time.strptime(entry.did.at, "%Y-%m-%dT%H:%M:%SZ")) - time.timezone - now) < 3600


def test_what_fails_is_not_noted(store: Store, survey: Survey) -> None:
    store.accounts.set_password("ada", "hash")
    store.people.set_operator("ada", True)
    store.surveys.publish(Survey.from_dict({**survey.to_dict(), "id": "mine"}), "ada")
    before = store.audit.verify()
    attempts: list[Callable[[], Any]] = [
        lambda: store.surveys.publish(Survey.from_dict({**survey.to_dict(), "id": "new"}), "nobody"),
        lambda: store.surveys.publish(Survey.from_dict({**survey.to_dict(), "title": "Another"})),
        lambda: store.surveys.set_open("nothing", False),
        lambda: store.invitations.add("nothing", [b"1"]),
        lambda: store.roles.grant("mine", "ada", Role.VIEWER),
        lambda: store.roles.grant("mine", "nobody", Role.VIEWER),
        lambda: store.roles.revoke("mine", "ada"),
        lambda: store.people.set_operator("ada", False),
        lambda: store.people.set_disabled("ada", True),
        lambda: store.accounts.remove_user("ada"),
        lambda: store.accounts.add_key(ApiKey("lab", ("submit",), "nothing", "2026-01-01"), b"k"),
        lambda: store.people.accept(b"none", "eve", "hash", 1),
        lambda: store.factors.set_secret("nobody", b"s", 1, []),
    ]
    for attempt in attempts:
        with pytest.raises(StoreError):
            attempt()
    assert store.audit.verify() == before


def test_nothing_that_respondents_do_is_noted(store: Store, survey: Survey, submissions: Callable[..., Submission]) -> None:
    before = store.audit.verify()
    one = submissions(12)
    assert store.submissions.add("study", one)
    store.submissions.withdraw("study", one.id)
    store.submissions.withdraw("study", os.urandom(16))
    assert store.audit.verify() == before


def test_many_who_act_at_once_make_one_chain(store: Store) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: store.accounts.set_password(f"user{number}", "hash"), range(40)))
    found = store.audit.verify()
    assert (found.count, found.faults) == (41, ())
    assert found.head == store.audit.entries(most=1)[0].hash


def test_pages_of_the_log_have_each_entry_once(store: Store) -> None:
    for number in range(9):
        store.accounts.set_password(f"user{number}", "hash")
    numbers, before = [], None
    while page := store.audit.entries(before, 4):
        numbers += [entry.number for entry in page]
        before = page[-1].number
    assert numbers == list(range(10, 0, -1))


# A chain by itself, and what is done to it.


def chain(many: int = 6) -> list[Row]:
    rows: list[Row] = []
    for number in range(1, many + 1):
        entry = AuditEntry(number, Act("2026-01-01T00:00:00Z", "ada", "survey.publish", f"Ä{number}"), rows[-1][2] if rows else BEGINNING)
        rows.append((number, entry.text, entry.hash))
    return rows


def kept(rows: Sequence[Row]) -> tuple[int, str]:
    return (len(rows), rows[-1][2]) if rows else (0, BEGINNING)


def changed(row: Row, **fields: Any) -> Row:
    """An entry with another text, and with the hash of that: what somebody writes who knows how the log is made."""
    text = json.dumps({**json.loads(row[1]), **fields}, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return row[0], text, hashlib.sha256(text.encode()).hexdigest()


def test_an_entry_is_canonical_json_and_its_hash_that_of_all_of_it() -> None:
    (number, text, digest), second = chain(2)
    zeros = "0" * 64
    assert text == (
        '{"act":"survey.publish","at":"2026-01-01T00:00:00Z","detail":"","number":1,"on":"Ä1","previous":"' + zeros + '","who":"ada"}'
    )
    assert digest == hashlib.sha256(text.encode()).hexdigest()
    assert (number, json.loads(second[1])["previous"]) == (1, digest)
    assert AuditEntry.of(text).text == text


def test_a_whole_log_has_no_fault() -> None:
    for many in (0, 1, 6):
        rows = chain(many)
        for noted in (None, BEGINNING, *(row[2] for row in rows)):
            found = check(rows, kept(rows), noted)
            assert (found.count, found.head, found.faults) == (many, kept(rows)[1], ())


def spoiled() -> list[list[Row]]:
    """The log after one thing was done to it, at each place: a field, a text or a hash changed, an entry removed, doubled or moved."""
    rows, found = chain(), []
    for place, row in enumerate(rows):
        fields = ({"who": "eve"}, {"at": "2026-01-01T00:00:01Z"}, {"act": "survey.close"}, {"on": "x"}, {"detail": "x"}, {"number": 99})
        others = [changed(row, **one) for one in (*fields, {"previous": "1" * 64}, {"extra": 1})]
        others += [(row[0], text, row[2]) for text in ("", "null", "[]", "1", row[1] + " ", row[1].replace("ada", "eve"))]
        others += [(row[0], row[1], "1" * 64), (row[0] + 100, row[1], row[2])]
        found += [[*rows[:place], other, *rows[place + 1 :]] for other in others]
        found += [rows[:place] + rows[place + 1 :], rows[:place], [*rows[:place], row, *rows[place:]]]
        gap = [(number - (number > row[0]), text, digest) for number, text, digest in rows if number != row[0]]
        found.append(gap)  # removed, and those after it numbered anew
        if place:
            first, second = rows[place - 1], row
            moved = [(first[0], second[1], second[2]), (second[0], first[1], first[2])]
            found += [[*rows[: place - 1], *moved, *rows[place + 1 :]], [*rows[: place - 1], second, first, *rows[place + 1 :]]]
    return [rows for rows in found if rows != chain()]


def test_whatever_is_changed_removed_or_moved_is_found() -> None:
    made = spoiled()
    assert len(made) > 100
    assert [rows for rows in made if not check(rows, kept(chain())).faults] == []


def test_a_check_that_looks_at_hashes_alone_would_not_find_it() -> None:
    """The control: some of what was spoiled has right hashes everywhere."""
    alone = [rows for rows in spoiled() if all(hashlib.sha256(text.encode()).hexdigest() == digest for _, text, digest in rows)]
    assert len(alone) > 20


def test_a_log_that_was_cut_and_written_anew_is_found_by_the_head_that_was_noted() -> None:
    rows = chain()
    anew = chain(3)
    entry = AuditEntry(4, Act("2026-01-01T00:00:00Z", "eve", "survey.publish", "x"), anew[-1][2])
    anew.append((4, entry.text, entry.hash))
    assert check(anew, kept(anew)).faults == ()  # by itself it is whole
    assert any("noted" in fault for fault in check(anew, kept(anew), rows[-1][2]).faults)
    assert check(anew, kept(anew), rows[2][2]).faults == ()


def test_what_is_no_log_at_all_is_told_and_nothing_fails() -> None:
    for text in ('{"number": "1"}', '{"act": 1}', "\ud83d\ude00", '{"number": 1, "previous": 2, "who": []}'):
        with suppress(UnicodeEncodeError):
            assert check([(1, text, "x")], (1, "x")).faults
