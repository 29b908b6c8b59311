"""Scheduled tasks: closes surveys after their last day, deletes records on their day, and notifies webhooks.

They run when the server starts, and when a day begins in UTC; messages that did not arrive are sent again in between.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from math import inf

from deniable_server.operate import logs
from deniable_server.operate.notices import note
from deniable_server.operate.sending import Post, send_due
from deniable_server.store.errors import StoreError
from deniable_server.store.moments import DEFAULT_ZONE, in_zone
from deniable_server.store.protocol import Store

AGAIN = 60.0  # seconds after which failed tasks are tried again
LOOK = 3600.0  # seconds after which the clock is read again, since a person may set it
COMPILED = 50  # surveys in one transaction, while respondents wait for the next

logger = logging.getLogger(logs.OWN)


def upkeep(store: Store, today: str) -> list[str]:
    """Performs what is due on a day, YYYY-MM-DD. Returns a line for each act. Raises what the store raises: the rest stays due."""
    acts = []
    all_settings = store.life.all_settings()
    for heading in store.surveys.headings(all_settings):
        survey_id, settings = heading.id, all_settings[heading.id]
        if settings.deleted_on:
            continue
        if settings.delete_on and settings.delete_on <= today:
            store.life.erase(survey_id, today)
            acts.append(f"{survey_id}: its records are deleted, as its settings say")
        elif heading.is_open and settings.close_on and settings.close_on < today:
            store.surveys.set_open(survey_id, False)
            acts.append(f"{survey_id} is closed: its last day is over")
        elif heading.is_open and heading.is_over:
            store.surveys.set_open(survey_id, False)
            acts.append(f"{survey_id} is closed: its time is over")
    return acts


def seconds_to_closing(store: Store, now: datetime) -> float:
    """Returns the seconds until the next survey closes at a minute, 0 if one is due, or infinity."""
    moments = {survey_id: own.closes_at for survey_id, own in store.life.all_settings().items() if own.closes_at}
    closings = [in_zone(moments[heading.id], DEFAULT_ZONE) for heading in store.surveys.headings(moments) if heading.is_open]
    return min((max(0.0, (closing - now).total_seconds()) for closing in closings), default=inf)


def keep_up(store: Store, post: Post, now: Callable[[], datetime], wait: Callable[[float], bool]) -> None:
    """Runs the tasks at once, and whenever a day begins in UTC, until `wait` returns True."""
    done_on, failure = "", ""
    while True:
        today, pause = now().date().isoformat(), LOOK
        try:
            while store.surveys.compile_some(COMPILED):
                pass
            if today != done_on or seconds_to_closing(store, now()) == 0:
                for line in upkeep(store, today):
                    logger.warning("%s", line)
                note(store, today, int(now().timestamp()))
                store.tidy()
                done_on = today
            store.submissions.release_due(now())
            pause, failure = min(pause, send_due(store, post, now), seconds_to_closing(store, now()) + 0.5), ""
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
