"""What a server writes about itself, to stderr: an event a line, as text for people or as JSON for programs.

No line has an address, a path or anything else that somebody sent. Of an error there is its kind and where it happened, never its message,
which may quote what it was about; of what another library says, its name alone. A time is that of the minute, and what a request caused
has the day only: the moment at which a submission fails is the moment at which somebody answers.
"""

from __future__ import annotations

import contextlib
import json
import logging
import sys
import threading
import traceback
from datetime import UTC, datetime
from typing import Any

OWN = "deniable_server"


class Text(logging.Formatter):
    """For people: what is no warning stands there by itself."""

    def format(self, record: logging.LogRecord) -> str:
        if record.levelno == logging.INFO:
            return _event(record)
        return "\n".join([f"{_time(record)} {record.levelname} {_event(record)}", *_told(record)])


class Json(logging.Formatter):
    """For programs: time, level, event, and of an error the lines of its traceback."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {"time": _time(record), "level": record.levelname.lower(), "event": _event(record)}
        if told := _told(record):
            line["error"] = told
        return json.dumps(line)


FORMS: dict[str, type[logging.Formatter]] = {"text": Text, "json": Json}


class _Handler(logging.StreamHandler[Any]):
    """Where a line cannot be made, says so: Python's own handlers write the error down with its message, and with all that it came from."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - Python's name for it
        with contextlib.suppress(Exception):
            self.stream.write(f"a line of the log could not be made{self.terminator}")


def line(form: str, level: int, event: str) -> str:
    """A line of one event of now, for what goes wrong before anything is logged."""
    return FORMS[form]().format(logging.LogRecord(OWN, level, "", 0, "%s", (event,), None))


def begin(form: str, stream: Any = None) -> None:
    """From now on all that this process logs is written so; form: one of FORMS. What nobody caught is logged, too."""
    handler = _Handler(stream)
    handler.setFormatter(FORMS[form]())
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    logging.captureWarnings(True)
    own = logging.getLogger(OWN)
    own.setLevel(logging.INFO)
    sys.excepthook = lambda kind, error, trace: own.critical("the server failed", exc_info=error)
    threading.excepthook = lambda uncaught: own.error("a thread failed", exc_info=uncaught.exc_value)
    sys.unraisablehook = lambda uncaught: own.error("something failed where nobody waited for it", exc_info=uncaught.exc_value)


def _time(record: logging.LogRecord) -> str:
    from flask import has_request_context  # here, since most commands need none of it

    moment = datetime.fromtimestamp(record.created, UTC)
    return moment.date().isoformat() if record.name != OWN or has_request_context() else moment.strftime("%Y-%m-%dT%H:%MZ")


def _event(record: logging.LogRecord) -> str:
    return " ".join(record.getMessage().split()) if record.name == OWN else f"a message of {record.name}"


def _told(record: logging.LogRecord) -> list[str]:
    """Kinds and places of an error and of those that it came from, as Python shows them, without messages and without lines of code."""
    error = record.exc_info[1] if isinstance(record.exc_info, tuple) else None
    return [] if error is None else _lines(error, ())


def _lines(error: BaseException, told: tuple[int, ...]) -> list[str]:
    """told: the ids of those that are told already, since errors may lead to one another."""
    before = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    told = (*told, id(error))
    stack = traceback.StackSummary.extract(traceback.walk_tb(error.__traceback__), lookup_lines=False)
    frames = [f'  File "{frame.filename}", line {frame.lineno}, in {frame.name}' for frame in stack]
    first = _lines(before, told) if before and id(before) not in told else []
    return [*first, "Traceback (most recent call last):", *frames, type(error).__qualname__]
