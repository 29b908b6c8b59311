"""The matching game: a server that keeps all it receives, but has no clock and no addresses, matches codes to records at chance.

A thousand people exchange their codes in one random order and send their records in another. The adversary has every request and reply,
the database, the server's key, the signing key and the log, and names for each code the record that it takes for its owner's. A matching
that knows nothing has one right pair on average, whatever the number of people, and more than 8 with a chance of 1 in 900,000 (the number
of right pairs is Poisson with mean 1). Controls: codes that travel with the records, and tokens that are not blinded, give everybody away.
"""

from __future__ import annotations

import math
import secrets
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.kit.issuer import base64url
from tests.kit.patience import PATIENCE
from tests.kit.surveys import submission

from deniable.delivery.tokens import draw
from deniable.survey import Survey
from deniable.wire import access_codes, blind_rsa
from deniable.wire.submission import Submission, exchange_of
from deniable.wire.tokens import BlindedToken, Token, modulus_of, token_message
from deniable_server.config import key_file
from deniable_server.store import open_store
from deniable_server.store.blind_signing import SigningKey
from deniable_server.store.sql.encryption import Seal
from deniable_server.store.sql.intake import code_tag

PEOPLE = 1000
MOST_RIGHT = 8
QUESTIONS = [{"id": f"q{i}", "text": "?", "type": "yes_no"} for i in range(3)]
KEYS = {"deniable": 1, "id": "staff", "title": "T", "about": "A.", "epsilon": "ln 27", "access": "invited", "questions": QUESTIONS}


@dataclass
class View:
    """What the adversary has: requests in the order of their arrival, and the disk at the end."""

    survey: Survey
    db: Path
    log: Path
    exchanges: list[tuple[bytes, bytes, bytes]] = field(default_factory=list)  # code, blinded token, blind signature
    records: list[Submission] = field(default_factory=list)
    key: SigningKey | None = None

    @property
    def modulus(self) -> int:
        return modulus_of(self.survey.issuer)

    def tokens(self) -> list[Token]:
        return [record.token for record in self.records if record.token]


Matching = Sequence[int]
"""For each exchange the number of the record that is taken for the same person's."""
Strategy = Callable[[View], Matching]


def by_rank(left: Sequence[Any], right: Sequence[Any]) -> Matching:
    """The smallest with the smallest, and so on."""
    order_left, order_right = (sorted(range(len(side)), key=side.__getitem__) for side in (left, right))
    result = [0] * len(left)
    for one, other in zip(order_left, order_right, strict=True):
        result[one] = other
    return result


def by_order_of_arrival(view: View) -> Matching:
    return range(len(view.exchanges))


def by_size_of_the_numbers(view: View) -> Matching:
    return by_rank([blinded for _, blinded, _ in view.exchanges], [token.signature for token in view.tokens()])


def by_code_and_nonce(view: View) -> Matching:
    return by_rank([code for code, _, _ in view.exchanges], [token.nonce for token in view.tokens()])


def encoded(view: View, token: Token) -> int:
    """The message that was blinded: anyone can compute it from the token."""
    return pow(int.from_bytes(token.signature, "big"), blind_rsa.EXPONENT, view.modulus)


def residues(view: View, number: int) -> tuple[bool, bool]:
    """Whether a number is a square modulo each prime: with the signing key, two bits of a message that a bad factor would not hide."""
    assert view.key is not None
    return tuple(pow(number, (prime - 1) // 2, prime) == 1 for prime in (view.key.p, view.key.q))  # type: ignore[return-value]


def by_squares(view: View) -> Matching:
    left = [residues(view, int.from_bytes(blinded, "big")) for _, blinded, _ in view.exchanges]
    return by_rank(left, [residues(view, encoded(view, token)) for token in view.tokens()])


def by_smallest_factor(view: View) -> Matching:
    """Each pair implies a factor; the record whose factor would be the smallest is taken, each record once."""
    modulus = view.modulus
    inverses = [pow(int.from_bytes(token.signature, "big"), -1, modulus) for token in view.tokens()]
    free, result = set(range(len(inverses))), []
    for _, _, signed in view.exchanges:
        number = int.from_bytes(signed, "big")
        result.append(min(free, key=lambda record: number * inverses[record] % modulus))
        free.discard(result[-1])
    return result


def by_marks_on_the_disk(view: View) -> Matching:
    """With the server's key: the place of each code's mark in the file, and of each token's."""
    content, seal = view.db.read_bytes(), Seal.of(key_file(view.db))
    marks = [code_tag(seal, "staff", access_codes.invitation_hash("staff", code)) for code, _, _ in view.exchanges]
    spent = [seal.tag("token of staff", token.nonce) for token in view.tokens()]
    assert all(mark in content for mark in (*marks, *spent)), "the adversary finds them"
    return by_rank([content.find(mark) for mark in marks], [content.find(mark) for mark in spent])


def by_rows_on_the_disk(view: View) -> Matching:
    """The order in which the database gives the rows of codes and of waiting records."""
    with closing(sqlite3.connect(view.db)) as db:
        tags = [bytes(tag) for (tag,) in db.execute("SELECT tag FROM used_codes")]
        waiting = [bytes(tag) for (tag,) in db.execute("SELECT tag FROM intake ORDER BY key")]
    seal = Seal.of(key_file(view.db))
    codes = [tags.index(code_tag(seal, "staff", access_codes.invitation_hash("staff", code))) for code, _, _ in view.exchanges]
    return by_rank(codes, [waiting.index(seal.tag("submission", record.id)) for record in view.records])


def by_code_in_the_record(view: View) -> Matching:
    carried = {record.invitation: number for number, record in enumerate(view.records)}
    return [carried.get(code, 0) for code, _, _ in view.exchanges]


def by_message_in_the_open(view: View) -> Matching:
    """What was to be signed, if nothing blinds it, is what the record's signature is on."""
    records = {encoded(view, token): number for number, token in enumerate(view.tokens())}
    return [records.get(int.from_bytes(blinded, "big"), 0) for _, blinded, _ in view.exchanges]


STRATEGIES: tuple[Strategy, ...] = (
    by_order_of_arrival,
    by_size_of_the_numbers,
    by_code_and_nonce,
    by_squares,
    by_smallest_factor,
    by_marks_on_the_disk,
    by_rows_on_the_disk,
    by_code_in_the_record,
    by_message_in_the_open,
)


def shuffled(count: int) -> list[int]:
    order = list(range(count))
    secrets.SystemRandom().shuffle(order)
    return order


@dataclass
class Game:
    """One game: the view of the adversary, and the truth."""

    view: View
    truth: list[int]  # for each exchange the number of the record

    def right(self, strategy: Strategy) -> int:
        return sum(one == other for one, other in zip(strategy(self.view), self.truth, strict=True))


def not_blinded(survey: Survey) -> BlindedToken:
    return BlindedToken.of(survey, secrets.token_bytes(32), secrets.token_bytes(48), 1)


def play(server: Any, people: int, drawing: Callable[[Survey], BlindedToken] = draw, order: Callable[[int], list[int]] = shuffled) -> Game:
    """Everybody exchanges a code, and sends a record in another order."""
    survey = server.publish(Survey.from_dict(KEYS))
    codes = [access_codes.read(code) for code in server.run("invite", "staff", "--count", str(people)).split()]
    with server.store() as store, store.database.reading() as connection:
        from deniable_server.store.sql import issuers

        key = issuers.find(connection, store.database.seal, "staff")
    server.start()
    view, tokens = View(survey, server.db, server.log, key=key), {}
    api = f"{server.url}/api/v1/surveys/staff"
    exchanging = shuffled(people)
    with httpx.Client(timeout=PATIENCE, headers={"Content-Type": "application/json"}) as http:
        for person in exchanging:
            drawn = drawing(survey)
            body = f'{{"code":"{base64url(codes[person])}","blinded":"{base64url(drawn.blinded)}"}}'.encode()
            signed = decoded(http.post(f"{api}/tokens", content=body).raise_for_status().json()["signature"])
            view.exchanges.append((*exchange_of(body), signed))
            tokens[person] = drawn.finish(signed)
        sending = [exchanging[place] for place in order(people)]
        for person in sending:
            view.records.append(submission(survey, token=tokens[person]))
            http.post(f"{api}/submissions", content=view.records[-1].to_json()).raise_for_status()
    server.stop()
    return Game(view, [sending.index(person) for person in exchanging])


def decoded(text: str) -> bytes:
    import base64

    return base64.urlsafe_b64decode(text + "==")


@pytest.fixture(scope="module")
def game(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Game]:
    from tests.kit.servers.process import ServerProcess

    server = ServerProcess(tmp_path_factory.mktemp("game"))
    yield play(server, PEOPLE)
    server.close()


@pytest.mark.slow
@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda strategy: strategy.__name__)
def test_a_server_that_keeps_everything_but_the_time_matches_codes_to_records_at_chance(strategy: Strategy, game: Game) -> None:
    right = game.right(strategy)
    print(f"{strategy.__name__}: {right} of {PEOPLE} right; a guess has 1 on average")
    assert right <= MOST_RIGHT


@pytest.mark.slow
def test_every_record_fits_every_exchange_so_no_other_strategy_can_do_better(game: Game) -> None:
    """For each pair there is exactly one factor that makes it true, and factors are uniform: the pairs are equally likely."""
    view, modulus = game.view, game.view.modulus
    assert view.key is not None
    tokens = view.tokens()[:40]
    for _, blinded, signed in view.exchanges[:40]:
        for token in tokens:
            factor = int.from_bytes(signed, "big") * pow(int.from_bytes(token.signature, "big"), -1, modulus) % modulus
            assert math.gcd(factor, modulus) == 1
            assert encoded(view, token) * pow(factor, blind_rsa.EXPONENT, modulus) % modulus == int.from_bytes(blinded, "big")


def windows_of(content: bytes) -> set[bytes]:
    """Every ten bytes in a row."""
    return {content[at : at + 10] for at in range(len(content) - 9)}


@pytest.mark.slow
def test_no_byte_of_an_exchange_is_in_a_record_the_log_or_the_rows_of_records(game: Game) -> None:
    view = game.view
    records = b"\0".join(record.to_json() for record in view.records)
    raw = b"\0".join(token.nonce + token.signature + record.id for token, record in zip(view.tokens(), view.records, strict=True))
    windows, texts = windows_of(raw), windows_of(records + view.log.read_bytes())
    for code, blinded, signed in view.exchanges:
        for secret in (code, blinded, signed):
            assert windows.isdisjoint(windows_of(secret))
            assert texts.isdisjoint(windows_of(base64url(secret).encode()))
    store = open_store(view.db)
    try:
        with store.database.reading() as connection:
            sealed = [
                store.database.seal.open(bytes(row[0]), "staff") for row in connection.execute("SELECT sealed FROM intake").fetchall()
            ]
    finally:
        store.close()
    assert len(sealed) == PEOPLE
    content = windows_of(b"\0".join(sealed))
    assert all(content.isdisjoint(windows_of(token.nonce) | windows_of(token.signature)) for token in view.tokens())


@pytest.mark.slow
def test_the_control_codes_that_travel_with_the_records_give_everybody_away(game: Game) -> None:
    plain = [Submission(record.id, record.digest, 1, record.reports, invitation=b"") for record in game.view.records]
    for place, record in enumerate(game.truth):
        code = game.view.exchanges[place][0]
        plain[record] = Submission(plain[record].id, plain[record].digest, 1, plain[record].reports, invitation=code)
    control = Game(View(game.view.survey, game.view.db, game.view.log, game.view.exchanges, plain), game.truth)
    assert control.right(by_code_in_the_record) == PEOPLE


@pytest.mark.slow
def test_the_control_tokens_that_are_not_blinded_give_everybody_away(make_server: Callable[..., Any]) -> None:
    game = play(make_server(), 50, not_blinded)
    assert game.right(by_message_in_the_open) == game.right(by_smallest_factor) == 50


@pytest.mark.slow
def test_the_control_records_in_the_order_of_the_exchanges_give_everybody_away(make_server: Callable[..., Any]) -> None:
    """What time reveals, and no mathematics hides: who sends at once is next in both orders."""
    game = play(make_server(), 50, order=lambda people: list(range(people)))
    assert game.right(by_order_of_arrival) == 50
    assert game.right(by_size_of_the_numbers) <= MOST_RIGHT


def test_the_signed_message_names_the_survey_so_no_token_is_good_for_another(game: Game) -> None:
    token = game.view.tokens()[0]
    assert blind_rsa.verify(game.view.modulus, token_message(game.view.survey.digest, token.nonce), token.signature)
    assert not blind_rsa.verify(game.view.modulus, token_message("0" * 64, token.nonce), token.signature)
