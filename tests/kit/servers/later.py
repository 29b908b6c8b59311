"""A submission that a store is asked to keep without waiting, as a future."""

from __future__ import annotations

from concurrent.futures import Future

from deniable.wire.submission import Submission
from deniable_server.store.protocol import Notify, Store


def adding(store: Store, survey_id: str, submission: Submission) -> Future[bool]:
    """What becomes of it."""
    done: Future[bool] = Future()
    store.submissions.add_later(survey_id, submission, telling(done))
    return done


def telling(done: Future[bool]) -> Notify:
    """Tells a future."""

    def notify(outcome: bool | BaseException) -> None:
        if isinstance(outcome, bool):
            done.set_result(outcome)
        else:
            done.set_exception(outcome)

    return notify
