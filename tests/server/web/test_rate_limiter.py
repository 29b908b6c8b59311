"""Too many tries are told to wait, and a stranger's tries keep nobody out for good. Time is the test's own here."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import argon2
import pytest

from deniable_server.identity import passwords as password_checks
from deniable_server.identity.passwords import Passwords, set_password
from deniable_server.store.protocol import Store
from deniable_server.web import rate_limiter
from deniable_server.web.rate_limiter import Delays, HashingQueue, Rate, RateLimitError, ServerShare

RIGHT, WRONG = "correct horse battery", "another horse battery"


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def passwords(store: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Passwords:
    """With ada's account, and hashes that cost little."""
    monkeypatch.setattr(password_checks, "_hasher", argon2.PasswordHasher(time_cost=1, memory_cost=64, parallelism=1))
    password_checks._dummy_hash.cache_clear()
    set_password(store.accounts, "ada", RIGHT)
    return Passwords(store.accounts, clock)


def waits(attempt: Callable[[], object]) -> int:
    """How many seconds it is told to wait; 0 for none."""
    try:
        attempt()
    except RateLimitError as error:
        return error.seconds
    return 0


# How many in a second.


def test_a_rate_lets_a_burst_pass_and_then_so_many_a_second(clock: Clock) -> None:
    rate = Rate(per_second=5, burst=20, clock=clock)
    assert [waits(rate.take) for _ in range(22)] == [0] * 20 + [1] * 2
    for _ in range(10):
        clock.now += 1
        assert [waits(rate.take) for _ in range(7)] == [0] * 5 + [1] * 2
    clock.now += 3600
    assert [waits(rate.take) for _ in range(21)] == [0] * 20 + [1]


def test_a_slow_rate_says_how_long_to_wait_and_what_is_given_back_counts_for_nothing(clock: Clock) -> None:
    rate = Rate(per_second=0.1, burst=1, clock=clock)
    assert [waits(rate.take), waits(rate.take)] == [0, 10]
    clock.now += 9
    assert waits(rate.take) == 1
    rate.give_back()
    assert [waits(rate.take), waits(rate.take)] == [0, 10]


def test_a_thousand_threads_get_no_more_than_the_burst(clock: Clock) -> None:
    rate = Rate(per_second=1, burst=100, clock=clock)
    with ThreadPoolExecutor(50) as pool:
        assert sum(pool.map(lambda _: not waits(rate.take), range(1000))) == 100


@pytest.mark.parametrize("servers", [1, 2, 4, 5])
def test_several_servers_together_grant_the_rate_of_one(clock: Clock, servers: int) -> None:
    share = ServerShare(servers)
    rates = [Rate(per_second=20, burst=40, clock=clock, share=share) for _ in range(servers)]
    assert sum(not waits(rate.take) for rate in rates for _ in range(50)) == 40
    clock.now += 1
    assert sum(not waits(rate.take) for rate in rates for _ in range(50)) == 20
    assert {rate.policy for rate in rates} == {'"all";q=40;w=2'}


def test_a_server_that_is_alone_again_grants_the_whole_rate(clock: Clock) -> None:
    share = ServerShare(4)
    rate = Rate(per_second=20, burst=40, clock=clock, share=share)
    assert sum(not waits(rate.take) for _ in range(50)) == 10
    share.servers = 1
    clock.now += 2
    assert sum(not waits(rate.take) for _ in range(50)) == 40


@pytest.mark.parametrize("servers", [2, 3, 5])
def test_several_servers_together_let_a_name_guess_no_more_than_one(clock: Clock, servers: int) -> None:
    def granted(count: int) -> int:
        """How many guesses are checked in an hour by a guesser that asks every server all the time."""
        every = [Delays(clock, share=ServerShare(count)) for _ in range(count)]
        checked = 0
        for _ in range(3600):
            checked += sum(not waits(lambda each=each: each.begin("ada")) for each in every for _ in range(6))  # type: ignore[misc]
            clock.now += 1
        return checked

    assert granted(servers) <= granted(1)


# Delays by name.


def test_after_five_wrong_passwords_a_name_waits_longer_and_longer_and_a_minute_at_most(clock: Clock) -> None:
    delays, waited = Delays(clock), []
    for _ in range(rate_limiter.FREE):
        delays.begin("ada")
    for _ in range(9):
        waited.append(waits(lambda: delays.begin("ada")))
        clock.now += waited[-1]
        delays.begin("ada")
    assert waited == [1, 2, 4, 8, 16, 32, 60, 60, 60]
    assert waits(lambda: delays.begin("eve")) == 0
    clock.now += rate_limiter.FORGET + 1
    assert [waits(lambda: delays.begin("ada")) for _ in range(6)] == [0] * 5 + [1]


def test_asking_again_too_early_lengthens_nothing(clock: Clock) -> None:
    delays = Delays(clock)
    for _ in range(rate_limiter.FREE):
        delays.begin("ada")
    assert {waits(lambda: delays.begin("ada")) for _ in range(100)} == {1}
    clock.now += 1
    delays.begin("ada")


def test_the_right_password_ends_the_delay(clock: Clock) -> None:
    delays = Delays(clock)
    for _ in range(rate_limiter.FREE):
        delays.begin("ada")
    delays.forgive("ada")
    assert waits(lambda: delays.begin("ada")) == 0


def test_names_are_kept_as_keyed_hashes_and_not_without_end(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate_limiter, "NAMES", 50)
    delays = Delays(clock)
    for number in range(500):
        delays.begin(f"canary {number}")
    assert len(delays._names) == 50
    assert "canary" not in repr(vars(delays))
    assert set(delays._names) & set(_names_after(clock)) == set()  # another process has other hashes


def _names_after(clock: Clock) -> list[bytes]:
    other = Delays(clock)
    for number in range(500):
        other.begin(f"canary {number}")
    return list(other._names)


# Hashes at the same time.


def test_one_password_is_hashed_at_a_time_and_three_wait(clock: Clock) -> None:
    lane, inside, most = HashingQueue(clock), threading.Semaphore(0), []
    hashing: list[str] = []
    end = threading.Event()

    def attempt(name: str) -> int:
        try:
            with lane.attempt(name):
                hashing.append(name)
                most.append(len(hashing))
                inside.release()
                end.wait(30)
                hashing.remove(name)
        except RateLimitError as error:
            return error.seconds
        return 0

    with ThreadPoolExecutor(64) as pool:
        first = pool.submit(attempt, "first")
        inside.acquire()
        others = [pool.submit(attempt, f"name {number}") for number in range(63)]
        while sum(other.done() for other in others) < 60:
            pass
        assert not first.done()
        end.set()
        results = [other.result() for other in others]
    assert sorted(results) == [0] * 3 + [1] * 60
    assert set(most) == {1}
    assert waits(lambda: lane.attempt("later").__enter__()) == 0


def test_a_try_that_is_told_to_wait_leaves_its_place(clock: Clock) -> None:
    lane = HashingQueue(clock)
    for _ in range(rate_limiter.BURST):
        with lane.attempt("one of many"):
            clock.now += 60
    for _ in range(100):
        assert waits(lambda: lane.attempt("one of many").__enter__()) in (0, 1, 60)
    clock.now += 60
    with lane.attempt("ada"):
        pass


def test_all_names_together_are_hashed_twice_a_second(passwords: Passwords, clock: Clock) -> None:
    held = [waits(lambda n=number: passwords.verify(f"name {n}", WRONG)) for number in range(100)]
    assert held.count(0) == rate_limiter.BURST
    hashed = 0
    for _ in range(30):
        clock.now += 1
        names = [f"name {clock.now} {number}" for number in range(20)]
        hashed += sum(not waits(lambda n=name: passwords.verify(n, WRONG)) for name in names)
    assert hashed == 30 * rate_limiter.HASHES_PER_SECOND


# Passwords.


def test_an_unknown_name_waits_like_a_known_one(passwords: Passwords, clock: Clock) -> None:
    told = {}
    for name in ("ada", "nobody"):
        clock.now += 3600
        told[name] = [waits(lambda n=name: passwords.verify(n, WRONG)) for _ in range(8)]
    assert told["ada"] == told["nobody"] == [0] * 5 + [1] * 3


def test_an_unknown_name_costs_the_hash_of_a_known_one(passwords: Passwords, monkeypatch: pytest.MonkeyPatch) -> None:
    hashed = []
    verified = password_checks._matches
    monkeypatch.setattr(password_checks, "_matches", lambda stored, password: hashed.append(stored) or verified(stored, password))
    for name in ("ada", "nobody"):
        assert not passwords.verify(name, WRONG)
    known, unknown = (argon2.extract_parameters(stored) for stored in hashed)
    assert known == unknown


def test_a_guesser_at_work_keeps_nobody_out_of_a_device_that_is_known(passwords: Passwords, clock: Clock) -> None:
    for number in range(1000):
        waits(lambda: passwords.verify("ada", WRONG))
        waits(lambda n=number: passwords.verify(f"name {n}", WRONG))
    assert waits(lambda: passwords.verify("ada", RIGHT)) > 0
    assert passwords.verify("ada", RIGHT, "device")


def test_a_known_device_gets_no_more_tries_than_others(passwords: Passwords) -> None:
    assert [waits(lambda: passwords.verify("ada", WRONG, "device")) for _ in range(7)] == [0] * 5 + [1] * 2


def test_the_longest_wait_ends_so_that_nobody_is_locked_out_for_good(passwords: Passwords, clock: Clock) -> None:
    for _ in range(1000):
        waits(lambda: passwords.verify("ada", WRONG))
        clock.now += 1
    clock.now += rate_limiter.LONGEST
    assert passwords.verify("ada", RIGHT)


def test_a_password_that_held_costs_no_hash_for_five_minutes_or_until_it_changes(
    passwords: Passwords, store: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    hashed = []
    verified = password_checks._matches
    monkeypatch.setattr(password_checks, "_matches", lambda stored, password: hashed.append(1) or verified(stored, password))
    assert all(passwords.verify("ada", RIGHT) for _ in range(100))
    assert len(hashed) == 1
    assert not passwords.verify("ada", WRONG)
    assert len(hashed) == 2
    clock.now += password_checks.REMEMBERED + 1
    assert passwords.verify("ada", RIGHT)
    assert len(hashed) == 3
    set_password(store.accounts, "ada", WRONG)
    assert not passwords.verify("ada", RIGHT)
    assert passwords.verify("ada", WRONG)
    store.accounts.remove_user("ada")
    assert not passwords.verify("ada", WRONG)


def test_what_is_remembered_of_a_password_is_a_keyed_hash_and_bounded(
    passwords: Passwords, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(password_checks, "_MOST_REMEMBERED", 3)
    for name in "abcdef":
        set_password(store.accounts, name, RIGHT)
        assert passwords.verify(name, RIGHT)
    assert len(passwords._cache._until) == 3
    assert RIGHT not in repr(vars(passwords._cache))
