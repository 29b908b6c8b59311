"""One server that the game is played on: its moves, its looks, and the truth about it."""

from __future__ import annotations

import base64
import hashlib
import itertools
import os
import shutil
import sqlite3
import time
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from flask.testing import FlaskClient
from tests.kit.adversary import backups, views
from tests.kit.adversary.cards import PEOPLE, SURVEY, Card, Table, card_of, code_hash, code_of, own_card, own_code
from tests.kit.adversary.chance import Chance
from tests.kit.adversary.views import View
from tests.kit.servers.process import PASSWORD

from deniable.delivery.tokens import draw
from deniable.wire.tokens import BlindedToken, Token
from deniable_server import Config, create_app
from deniable_server.access import api_keys
from deniable_server.config import key_file
from deniable_server.identity.passwords import set_password
from deniable_server.operate.restore import restore
from deniable_server.operate.upkeep import upkeep
from deniable_server.store import open_store
from deniable_server.store.errors import StoreError
from deniable_server.store.life import revised
from deniable_server.store.roles import Role
from deniable_server.store.sql.encryption import Seal

OWN = 200  # codes of the adversary
STEP_HOURS = 4
JSON = {"content_type": "application/json"}


@dataclass
class Deal:
    """Who has which record and which code: by the order in which people answer."""

    cards: list[Card]
    codes: list[bytes]

    @classmethod
    def first(cls, table: Table) -> Deal:
        return cls([card_of(person, table) for person in range(PEOPLE)], [code_of(person) for person in range(PEOPLE)])


class Beginning:
    """A database with the survey, the accounts and the codes, made once and copied for each game."""

    def __init__(self, folder: Path, table: Table, own: int = OWN) -> None:
        self.path = folder / "beginning.db"
        self._drawn: dict[bytes, BlindedToken] = {}
        self._tokens: dict[bytes, Token] = {}
        with closing(open_store(self.path)) as store:
            for user in (*(role.word for role in Role), "operator"):
                set_password(store.accounts, user, PASSWORD)
            store.people.set_operator("operator", True)
            store.surveys.publish(table.survey(), "owner")
            self.survey = store.surveys.published(SURVEY).survey
            for role in Role:
                store.roles.grant(SURVEY, role.word, role)
            if table.access == "invited":
                codes = [*(code_of(person) for person in range(PEOPLE)), *(own_code(number) for number in range(own))]
                store.invitations.add(SURVEY, [code_hash(code) for code in codes])
            self.keys = api_keys.make(store, "bulk", ["submit"], SURVEY), api_keys.make(store, "look", ["results", "reports"], SURVEY)

    def copy(self, path: Path) -> tuple[str, str]:
        """Copies the database, for a server with a key of its own. Returns the API keys: to send many records, and to look."""
        shutil.copy(self.path, path)
        before, after = (Seal.of(key_file(each)) for each in (self.path, path))
        with closing(sqlite3.connect(path)) as connection, connection:
            for (sealed,) in connection.execute("SELECT sealed FROM issuers").fetchall():
                key = before.open(sealed, f"issuer of {SURVEY}")
                connection.execute("UPDATE issuers SET sealed = ?", [after.close(key, f"issuer of {SURVEY}")])
        return self.keys

    def drawn(self, code: bytes) -> BlindedToken:
        """The token of a code, the same in each game."""
        return self._drawn.setdefault(code, self._drawn.get(code) or draw(self.survey))

    def token(self, code: bytes, signature: bytes) -> Token:
        """The token of a code, which is computed once."""
        if code not in self._tokens:
            self._tokens[code] = self.drawn(code).finish(signature)
        return self._tokens[code]


class World:
    """A server in this process, with its own database, on which moves are made one after the other.

    Attributes:
        left: When each record and each code left the waiting ones, by id or hash, in order; the truth, for the judge.
        days: The day on which it did.
    """

    def __init__(self, folder: Path, table: Table, deal: Deal, chance: Chance, beginning: Beginning) -> None:
        self.folder, self.table, self.deal, self.chance = folder, table, deal, chance
        self.survey, self._beginning = beginning.survey, beginning
        self.moves = 0
        self.answered: dict[int, int] = {}  # the move of each person's answer, by seat
        self.withdrew: set[int] = set()
        self.untraced: set[int] = set()  # who withdrew before a release
        self.own: list[tuple[bytes, bytes | None]] = []
        self.views: list[View] = []
        self.copies: list[tuple[int, backups.Rows, frozenset[int]]] = []
        self.restorable: list[tuple[Path, frozenset[bytes], frozenset[int]]] = []
        self.left: dict[bytes, int] = {}
        self.days: dict[bytes, str] = {}
        self._files = itertools.count()
        self._withdrew = 0
        self._looked = 0
        self.path = folder / "0.db"
        self.submit_key, self.look_key = beginning.copy(self.path)
        self._open()

    def _open(self) -> None:
        self.store = open_store(self.path)
        self.app = create_app(Config(self.path, "x" * 40), self.store)
        self.app.config["WTF_CSRF_ENABLED"] = False
        self.device = self.app.test_client()
        self.clients: dict[str, FlaskClient] = {}

    def close(self) -> None:
        self.store.close()

    def client(self, user: str) -> FlaskClient:
        """The browser of somebody who is logged in."""
        if user not in self.clients:
            self.clients[user] = client = self.app.test_client()
            token, now = os.urandom(16).hex(), int(time.time())
            with client.session_transaction("/manage") as session:
                session["token"] = token
            assert self.store.accounts.open_session(user, hashlib.sha256(token.encode()).digest(), now, now + 3600)
        return self.clients[user]

    # Moves.

    def play(self, name: str, *arguments: Any) -> None:
        getattr(self, name)(*arguments)
        self.moves += 1
        self._note_truth()

    def answer(self) -> None:
        """The next person sends a record."""
        seat = len(self.answered)
        reply = self.send(self.deal.cards[seat], self.deal.codes[seat])
        self.answered[seat] = self.moves if reply == 200 else -1

    def withdraw(self, seat: int) -> None:
        """A person withdraws the record."""
        self.withdrew.add(seat)
        if self.deal.cards[seat].id not in self.left:
            self.untraced.add(seat)
        self.erase(self.deal.cards[seat].secret)

    def send_own(self, count: int, group: str | None) -> None:
        """The adversary sends records, each with a code of their own where one is needed."""
        for _ in range(count):
            card, code = own_card(len(self.own), group), own_code(len(self.own))
            self.send(card, code)
            self.own.append((card.secret, code))

    def withdraw_own(self, count: int) -> None:
        """The adversary withdraws records, the oldest first."""
        for secret, _ in self.own[self._withdrew : self._withdrew + count]:
            self.erase(secret)
        self._withdrew += count

    def send_many(self, count: int, group: str | None) -> None:
        """Somebody with a key sends many records at once."""
        if self.table.access == "invited":
            return
        cards = [own_card(len(self.own) + number, group) for number in range(count)]
        many = replace(cards[0].submission(self.survey, None), count=count, reports=b"".join(card.reports(self.survey) for card in cards))
        self.own += [(cards[0].secret, None)] + [(card.secret, None) for card in cards[1:]]
        headers = {"Authorization": f"Bearer {self.submit_key}"}
        self.device.post(f"/api/v1/surveys/{SURVEY}/submissions", data=many.to_json(), headers=headers, **JSON)

    def set(self, name: str, value: int | None) -> None:
        """An owner changes a setting."""
        self.store.life.keep(SURVEY, revised(self.store.life.settings(SURVEY), self.chance.today, {name: value}))

    def press(self, button: str) -> None:
        """An editor pauses the survey or goes on; an owner closes it."""
        user, form = {"pause": ("editor", {}), "go on": ("editor", {"end": "1"}), "close": ("owner", {})}[button]
        self.client(user).post(f"/manage/surveys/{SURVEY}/{'close' if button == 'close' else 'pause'}", data=form)

    def reopen(self) -> None:
        """An operator opens the survey again, if the server lets them."""
        with suppress(StoreError):
            self.store.surveys.set_open(SURVEY, True)

    def wait(self, hours: int) -> None:
        """Time passes, some hours at a time, and the server does what is due."""
        for passed in range(0, hours, STEP_HOURS):
            now = self.chance.pass_time(min(STEP_HOURS, hours - passed))
            upkeep(self.store, self.chance.today)
            self.store.submissions.release_due(now)
            self._note_truth()

    def keep_copy(self) -> None:
        """An operator makes a copy to be restored one day."""
        path = self.folder / f"kept{next(self._files)}.db"
        self.store.backup(path)
        self.restorable.append((path, frozenset(self._released()), frozenset(self.untraced)))

    def bring_back(self) -> None:
        """An honest operator restores the last copy, unless records were released since: those are out, whatever is restored.

        Whoever withdrew meanwhile has to do so again.
        """
        source, released, untraced = self.restorable.pop()
        if released != self._released():
            return
        self.untraced = set(untraced)
        key = key_file(self.path)
        self.store.close()
        self.path = self.folder / f"restored{next(self._files)}.db"
        restore(source, key, None, self.path)
        self._open()

    def send(self, card: Card, code: bytes) -> int:
        """Sends a record, for a token where one is needed. Returns the status of the reply."""
        token = self._exchange(code) if self.table.access == "invited" else None
        submission = card.submission(self.survey, token)
        if token is None and self.table.access == "invited":
            return 403
        status = self.device.post(f"/api/v1/surveys/{SURVEY}/submissions", data=submission.to_json(), **JSON).status_code
        assert status < 500
        return status

    def _exchange(self, code: bytes) -> Token | None:
        """The token of a code, or None where the server gives none."""
        body = {**_coded(code), "blinded": _base64url(self._beginning.drawn(code).blinded)}
        reply = self.device.post(f"/api/v1/surveys/{SURVEY}/tokens", json=body)
        if reply.status_code != 200:
            return None
        signature = reply.json["signature"]
        return self._beginning.token(code, base64.urlsafe_b64decode(signature + "=" * (-len(signature) % 4)))

    def erase(self, secret: bytes) -> None:
        """Withdraws a record, as the owner of its code."""
        self.device.post(f"/api/v1/surveys/{SURVEY}/withdrawals", json=_coded(secret))

    @property
    def is_open(self) -> bool:
        return self.store.surveys.published(SURVEY).is_open

    # Looks.

    def look(self, role: str) -> None:
        """Somebody looks at everything that their role lets them see."""
        if role == "backup":
            self._copy()
        elif role == "checks":
            self._check_codes()
        else:
            self._pages(role)
            self._api(role)

    def _note(
        self, role: str, channel: str, content: str, cards: frozenset[int] = frozenset(), codes: frozenset[int] = frozenset()
    ) -> None:
        assert not content.startswith("5"), f"{role}: {channel} fails: {content[:200]}"
        self.views.append(View(self.moves, role, channel, content, cards, codes))

    def _pages(self, role: str) -> None:
        for page in views.PAGES.get(role, ()):
            reply = (self.device if role == "stranger" else self.client(role)).get(page)
            self._note(role, page, f"{reply.status_code} {views.without_tokens(reply.text)}")

    def _api(self, role: str) -> None:
        access: dict[str, Any] = {"auth": (role, PASSWORD)}
        if role == "key":
            access = {"headers": {"Authorization": f"Bearer {self.look_key}"}}
        for operation in views.API.get(role, ()):
            reply = self.device.get(f"/api/v1/surveys/{SURVEY}/{operation}", **access)
            cards: frozenset[int] = frozenset()
            if reply.status_code == 200 and operation in ("reports", "reports?group=North"):
                cards = views.in_records(reply.data, self._patterns())
            elif reply.status_code == 200 and operation.startswith("tally"):
                cards = views.in_tally(reply.data, PEOPLE, self.survey.record.bits)
            self._note(role, operation, f"{reply.status_code} {reply.data.hex()}", cards)

    def _check_codes(self) -> None:
        """Asks about each code of the list of people."""
        self._note("checks", "invitations/check", "".join(self.check(code_of(person)) for person in range(PEOPLE)))

    def check(self, code: bytes) -> str:
        """The reply about a code."""
        return self.device.post(f"/api/v1/surveys/{SURVEY}/invitations/check", json=_coded(code)).text

    def _copy(self) -> None:
        """An operator without the key reads a copy: its rows, and whether a record's bytes are anywhere in it."""
        path = self.folder / f"copy{next(self._files)}.db"
        self.store.backup(path)
        raw = path.read_bytes()
        cards = frozenset(person for person, pattern in self._patterns().items() if pattern in raw)
        self.copies.append((self.moves, backups.rows_of(path), cards))
        path.unlink()

    def _patterns(self) -> dict[int, bytes]:
        return {person: card_of(person, self.table).reports(self.survey) for person in range(PEOPLE)}

    def seen(self) -> list[View]:
        """All that was looked at, copies of the database included."""
        contents = backups.canonical([rows for _, rows, _ in self.copies])
        hashes = {code_hash(code_of(person)): person for person in range(PEOPLE)}
        copied = [
            View(move, "backup", "rows", "\n".join(rows), cards, _spent(copy, hashes))
            for (move, copy, cards), rows in zip(self.copies, contents, strict=True)
        ]
        return [*self.views, *copied]

    def tokens(self) -> set[object]:
        """All random values that an operator without the key has seen."""
        return set().union(*(backups.tokens(rows) for _, rows, _ in self.copies))

    # The truth.

    def _released(self) -> set[bytes]:
        with closing(sqlite3.connect(self.path)) as connection:
            ids = {bytes(row[0]) for row in connection.execute("SELECT id FROM submissions")}
            return ids | {bytes(row[0]) for row in connection.execute("SELECT hash FROM invitations WHERE spent")}

    def _note_truth(self) -> None:
        self._looked += 1
        for name in self._released() - self.left.keys():
            self.left[name], self.days[name] = self._looked, self.chance.today

    def there(self) -> set[bytes]:
        """The records and used codes that the server shows at the end."""
        return self._released()


def _spent(copy: backups.Rows, hashes: dict[bytes, int]) -> frozenset[int]:
    return frozenset(hashes[row["hash"]] for row in copy["invitations"] if row["spent"] and row["hash"] in hashes)


def _coded(secret: bytes) -> dict[str, str]:
    return {"code": _base64url(secret)}


def _base64url(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
