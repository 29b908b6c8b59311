"""Requests that anyone can send have one thread, which rests for twice the time that it has computed."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import pytest
from flask import Flask

from deniable_server.api.submissions import DirectSubmissions
from deniable_server.context import services_of
from deniable_server.front import Front, workers
from deniable_server.front.workers import RestingWorkers
from deniable_server.web.lanes import Lane


@pytest.fixture
def rests(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The rests that are taken, in seconds. Each look at the thread's clock is 10 milliseconds after the one before."""
    seconds: list[float] = []
    clock = iter(range(1000))
    monkeypatch.setattr(workers, "time", type("Clock", (), {"thread_time": lambda: next(clock) / 100, "sleep": seconds.append}))
    return seconds


def run(pool: RestingWorkers, *works: Any) -> list[Any]:
    async def all_at_once() -> list[Any]:
        return await asyncio.gather(*(pool.run(work) for work in works), return_exceptions=True)

    return asyncio.run(all_at_once())


def test_one_thread_rests_after_each_request_for_twice_its_computing_and_after_a_failure_too(rests: list[float]) -> None:
    pool = RestingWorkers("test", 8, Lane.RESEARCHERS)
    threads = run(pool, *[threading.get_ident] * 4, lambda: 1 // 0)
    assert len(set(threads[:4])) == 1
    assert isinstance(threads[4], ZeroDivisionError)
    assert rests == pytest.approx([0.02] * 5)


def test_no_rest_is_long(rests: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "REST", 1000.0)
    run(RestingWorkers("test", 8, Lane.RESEARCHERS), time.time)
    assert rests == [workers.LONGEST_REST]


COOKIE, KEY = {"HTTP_COOKIE": "a=b"}, {"HTTP_AUTHORIZATION": "Bearer x"}


@pytest.mark.parametrize(
    ("lane", "method", "more", "rested"),
    [
        (Lane.RESPONDENTS, "GET", {}, True),
        (Lane.RESEARCHERS, "GET", {}, True),
        (Lane.RESEARCHERS, "HEAD", {}, True),
        (Lane.RESEARCHERS, "OPTIONS", {}, True),
        (Lane.RESEARCHERS, "GET", COOKIE, False),
        (Lane.RESEARCHERS, "GET", KEY, False),
        (Lane.RESEARCHERS, "POST", {}, False),
        (Lane.RESPONDENTS, "POST", {}, False),
        (Lane.COMPUTING, "GET", {}, False),
        (Lane.BULK, "POST", KEY, False),
    ],
)
def test_only_reading_requests_without_a_login_rest(app: Flask, lane: Lane, method: str, more: dict[str, str], rested: bool) -> None:
    front = Front(app, services_of(app).get(DirectSubmissions), "localhost", 8000)
    assert isinstance(front._workers(lane, {"REQUEST_METHOD": method, **more}), RestingWorkers) == rested
