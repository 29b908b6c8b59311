"""Scheduled tasks: closes surveys after their last day, deletes records on their day, and notifies webhooks.

They run when the server starts, and when a day begins in UTC; messages that did not arrive are sent again in between.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from deniable_server.operate import logs
from deniable_server.operate.notices import note
from deniable_server.operate.sending import Post, send_due
from deniable_server.store.errors import StoreError
from deniable_server.store.protocol import Store

AGAIN = 60.0  # seconds after which failed tasks are tried again
LOOK = 3600.0  # seconds after which the clock is read again, since a person may set it

logger = logging.getLogger(logs.OWN)


def upkeep(store: Store, today: str) -> list[str]:
    """Performs what is due on a day, YYYY-MM-DD. Returns a line for each act. Raises what the store raises: the rest stays due."""
    acts = []
    all_settings = store.life.all_settings()
    for published in store.surveys.all():
        survey_id = published.survey.id
        if (settings := all_settings.get(survey_id)) is None or settings.deleted_on:
            continue
        if settings.delete_on and settings.delete_on <= today:
            store.life.erase(survey_id, today)
            acts.append(f"{survey_id}: its records are deleted, as its settings say")
        elif published.is_open and settings.close_on and settings.close_on < today:
            store.surveys.set_open(survey_id, False)
            acts.append(f"{survey_id} is closed: its last day is over")
    return acts


def keep_up(store: Store, post: Post, now: Callable[[], datetime], wait: Callable[[float], bool]) -> None:
    """Runs the tasks at once, and whenever a day begins in UTC, until `wait` returns True."""
    done_on, failure = "", ""
    while True:
        today, pause = now().date().isoformat(), LOOK
        try:
            if today != done_on:
                for line in upkeep(store, today):
                    logger.warning("%s", line)
                note(store, today, int(now().timestamp()))
                done_on = today
            pause, failure = min(pause, send_due(store, post, now)), ""
        except StoreError as error:
            if str(error) != failure:  # once, not each minute
                logger.warning("today's scheduled tasks failed, and are tried again: %s", error)
            pause, failure = AGAIN, str(error)
        if wait(min(pause, _until_midnight(now()))):
            return


def begin(store: Store, post: Post) -> threading.Event:
    """Starts `keep_up` in a thread, which ends when the returned event is set. `post` sends to webhooks."""
    over = threading.Event()
    thread = threading.Thread(target=keep_up, args=(store, post, lambda: datetime.now(UTC), over.wait), name="deniable-upkeep", daemon=True)
    thread.start()
    return over


def _until_midnight(now: datetime) -> float:
    """Returns the seconds until the next day begins."""
    tomorrow = datetime.combine(now.date() + timedelta(days=1), datetime.min.time(), now.tzinfo)
    return (tomorrow - now).total_seconds() + 0.5
