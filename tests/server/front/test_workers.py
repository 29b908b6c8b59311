"""Threads for requests that anyone can send rest three times as long as they have computed, one at a time."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import pytest
from flask import Flask
from tests.kit.patience import PATIENCE

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


def test_a_thread_rests_after_each_request_and_after_a_failure_too(rests: list[float]) -> None:
    results = run(RestingWorkers("test", 1, 8, Lane.RESEARCHERS), *[lambda: 7] * 4, lambda: 1 // 0)
    assert results[:4] == [7] * 4
    assert isinstance(results[4], ZeroDivisionError)
    assert rests == pytest.approx([0.01 * workers.REST] * 5)


def test_rests_are_one_at_a_time_and_work_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    resting, together, most = [0], threading.Barrier(4), []

    def rest(_: float) -> None:
        resting[0] += 1
        most.append(resting[0])
        time.sleep(0.001)
        resting[0] -= 1

    monkeypatch.setattr(workers, "time", type("Clock", (), {"thread_time": time.thread_time, "sleep": rest}))
    run(RestingWorkers("test", 4, 8, Lane.RESEARCHERS), *[lambda: together.wait(PATIENCE)] * 4)
    assert most == [1] * 4


def test_no_rest_is_long(rests: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "REST", 1000.0)
    run(RestingWorkers("test", 1, 8, Lane.RESEARCHERS), time.time)
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
