"""Something is done in the background, one thing at a time; whoever leaves waits for it, and gets its error."""

from __future__ import annotations

import threading

import pytest

from deniable.delivery.background import BackgroundThread


def fails() -> None:
    raise ValueError("why")


def test_one_thing_is_done_at_a_time_and_in_order() -> None:
    done, free = list[int](), threading.Event()
    with BackgroundThread() as background:
        background.start(lambda: done.append(int(free.wait())))
        assert done == []  # it is under way
        free.set()
        background.start(lambda: done.append(2))
        assert done[0] == 1
    assert done == [1, 2]


@pytest.mark.parametrize("late", [False, True])
def test_an_error_is_raised_by_whoever_waits_once(late: bool) -> None:
    with pytest.raises(ValueError, match="why"), BackgroundThread() as background:  # noqa: PT012 - it may come at each of these lines
        background.start(fails)
        if not late:
            background.wait()
            pytest.fail("it was not raised")
    background.wait()


def test_whoever_leaves_with_an_error_waits_and_the_earlier_error_is_the_one() -> None:
    done: list[int] = []
    with pytest.raises(KeyError), BackgroundThread() as background:  # noqa: PT012
        background.start(lambda: done.append(1))
        raise KeyError
    assert done == [1]
    with pytest.raises(ValueError, match="why"), BackgroundThread() as background:  # noqa: PT012
        background.start(fails)
        raise KeyError


def test_an_interrupt_waits_for_nothing() -> None:
    free, ended = threading.Event(), threading.Event()
    with pytest.raises(KeyboardInterrupt), BackgroundThread() as background:  # noqa: PT012
        background.start(lambda: free.wait() and ended.set())
        raise KeyboardInterrupt
    assert not ended.is_set()
    free.set()
    background.wait()
    assert ended.is_set()
