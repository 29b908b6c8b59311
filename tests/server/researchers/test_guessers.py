"""64 guessers at the login form and at Basic auth beside honest respondents. `make long NAME=guessers` takes its time and measures it."""

from __future__ import annotations

import http.client
import json
import math
import os
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from tests.kit import breaks
from tests.kit.breaks import guessers
from tests.kit.patience import PATIENCE

from deniable.survey import Survey
from deniable.wire.submission import Submission
from deniable_server.identity import account_links
from deniable_server.identity.passwords import set_password

pytestmark = pytest.mark.slow

SECONDS = float(os.environ.get("DENIABLE_GUESSERS_SECONDS", "3"))
MEASURED = "DENIABLE_GUESSERS_SECONDS" in os.environ
GUESSERS, HONEST, HASHES_AT_ONCE = 64, 4, 2
Make = Callable[..., Submission]


@dataclass
class Honest:
    """Respondents who send one record after another."""

    statuses: Counter[int] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)

    def send(self, url: str, like: Submission, until: float) -> None:
        with closing(http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)) as connection:
            while time.monotonic() < until:
                body = replace(like, id=os.urandom(16)).to_json()
                begun = time.monotonic()
                connection.request("POST", "/api/v1/surveys/study/submissions", body, {"Content-Type": "application/json"})
                reply = connection.getresponse()
                reply.read()
                self.seconds.append(time.monotonic() - begun)
                self.statuses[reply.status] += 1


def respondents(url: str, submissions: Make) -> Honest:
    """HONEST of them at once, for SECONDS."""
    made, until = Honest(), time.monotonic() + SECONDS
    with ThreadPoolExecutor(HONEST) as pool:
        list(pool.map(lambda like: made.send(url, like, until), [submissions() for _ in range(HONEST)]))
    return made


@dataclass(frozen=True)
class Attack:
    """What happened: to guesses and honest submissions, with the median of the honest before, and what the server took."""

    guesses: Counter[str]
    honest: Honest
    before: Honest
    kept: int
    most_hashes: int
    peak_mib: float

    def __str__(self) -> str:
        idle, under = (1000 * statistics.median(run.seconds) for run in (self.before, self.honest))
        worst = 1000 * max(self.honest.seconds)
        return "; ".join(
            (
                f"honest median {idle:.1f} ms idle, {under:.1f} ms under {GUESSERS} guessers (worst {worst:.0f} ms, "
                f"{len(self.honest.seconds):,} sent)",
                f"guesses by status {dict(self.guesses)}",
                f"{self.most_hashes} hashes at once",
                f"peak RSS {self.peak_mib:.0f} MiB",
            )
        )


def attack(server: Any, survey: Survey, submissions: Make, many: int = GUESSERS) -> Attack:
    hashes = Path(os.environ["DENIABLE_HASHES"])
    server.run("init", "--user", "ada", "--password-env", "PASSWORD")  # her password, hashed at its full cost
    server.publish(Survey.from_dict({**survey.to_dict(), "id": "study"}))
    server.start()
    before = respondents(server.url, submissions)
    running = [
        subprocess.Popen(
            [sys.executable, breaks.GUESSERS, server.url, way, str(many // 2), str(SECONDS + 1)], stdout=subprocess.PIPE, text=True
        )
        for way in ("form", "basic")
    ]
    honest = respondents(server.url, submissions)
    guesses: Counter[str] = Counter()
    for guesser in running:
        guesses += Counter(json.loads(guesser.communicate(timeout=120)[0]))
    peak = max(peak_mib(pid) for pid in processes(server.process.pid))
    server.stop()
    server.run("close", "study")  # counts all that waits
    kept = json.loads(server.run("results", "study", "--json"))["n"]
    return Attack(guesses, honest, before, kept, int(hashes.read_text()), peak)


def processes(parent: int) -> list[int]:
    children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    return [parent, *(pid for child in children for pid in processes(int(child)))]


def peak_mib(pid: int) -> float:
    (line,) = [line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1]) / 1024


@pytest.fixture(autouse=True)
def hashes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DENIABLE_HASHES", str(tmp_path / "hashes"))


def test_guessers_are_told_to_wait_and_respondents_are_not(make_server: Callable[..., Any], survey: Survey, submissions: Make) -> None:
    seen = attack(make_server("counts-hashes"), survey, submissions)
    print(seen)
    assert set(seen.guesses) <= {"401", "429"}
    assert seen.guesses["429"] > 0
    assert set(seen.honest.statuses) == {200}
    assert seen.kept == seen.honest.statuses[200] + seen.before.statuses[200]
    assert 1 <= seen.most_hashes <= HASHES_AT_ONCE
    if MEASURED:
        assert statistics.median(seen.honest.seconds) < 2 * statistics.median(seen.before.seconds)
        assert seen.peak_mib < 400


REFUSED = 11  # guesses at least
CONNECTIONS = 20  # each hears of a refusal after a second: 1,200 guesses a minute
GUESSES = {"ada": "401", "codes": "401", "links": "404"}
"""What a guess gets that was looked at."""


def looked_at(server: Any, store_of: Callable[[], Any], way: str) -> tuple[Counter[str], int, float]:
    """Guesses as fast as they are answered, for SECONDS and until some are refused: the statuses; eve's logins meanwhile; the seconds."""
    with store_of() as store:
        set_password(store.accounts, "eve", "correct horse battery")
        link = account_links.make(store, "", operator=False)
        if way == "codes":
            store.factors.set_secret("ada", os.urandom(20), 0, [])
    server.start()
    command = [sys.executable, breaks.GUESSERS, server.url, way, str(CONNECTIONS), str(SECONDS), str(REFUSED)]
    entered, begun = 0, time.monotonic()
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as guesser,
        httpx.Client(base_url=server.url, timeout=PATIENCE) as eve,
    ):
        while guesser.poll() is None:
            eve.cookies.clear()  # a device that nobody knows
            csrf = guessers.token_of(eve.get("/login").content)
            reply = eve.post("/login", data={"user": "eve", "password": "correct horse battery", "csrf_token": csrf})
            entered += reply.status_code == 302
            assert eve.get(link).status_code == 200
        statuses = Counter[str](json.loads(guesser.communicate(timeout=120)[0]))
    return statuses, entered, time.monotonic() - begun


@pytest.mark.parametrize("way", GUESSES)
def test_guesses_in_one_place_are_slowed_to_a_few_and_other_people_get_in(make_server: Callable[..., Any], way: str) -> None:
    """Five at once, and then one after 1, 2, 4, … seconds: ten in the first minute. Of links ten at once, and one in six seconds."""
    server = make_server()
    statuses, entered, took = looked_at(server, server.store, way)
    print(f"{way}: {dict(statuses)} in {took:.0f} s; eve got in {entered} times")
    assert set(statuses) <= {GUESSES[way], "429"}
    assert statuses["429"] >= REFUSED
    most = 10 + took / 6 if way == "links" else 5 + math.log2(took + 1) + 1
    assert 1 <= statuses[GUESSES[way]] <= most
    assert entered > 0


def test_a_server_that_hashes_whatever_comes_is_found_out(make_server: Callable[..., Any], survey: Survey, submissions: Make) -> None:
    seen = attack(make_server("hashes-without-limit"), survey, submissions, many=12)
    print(seen)
    assert seen.most_hashes > HASHES_AT_ONCE
    assert "429" not in seen.guesses
