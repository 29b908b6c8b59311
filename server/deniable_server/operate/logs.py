"""Logging to stderr: one event a line, as text for people or as JSON for programs.

No line has an address, a path or any other data of a request. Errors are logged by kind and source line, never with their message,
which may quote data; records of other libraries by the library's name only. Times are cut to the minute, and to the day for events that
a request caused: the moment of a failed submission is the moment of a respondent's answer.
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
    """Formatter for people; levels below warning are not named."""

    def format(self, record: logging.LogRecord) -> str:
        """Formats a record as a line of text."""
        if record.levelno == logging.INFO:
            return _event(record)
        return "\n".join([f"{_time(record)} {record.levelname} {_event(record)}", *_traceback_lines(record)])


class Json(logging.Formatter):
    """Formatter for programs: time, level, event, and the lines of an error's traceback."""

    def format(self, record: logging.LogRecord) -> str:
        """Formats a record as a line of JSON."""
        line: dict[str, Any] = {"time": _time(record), "level": record.levelname.lower(), "event": _event(record)}
        if lines_of_error := _traceback_lines(record):
            line["error"] = lines_of_error
        return json.dumps(line)


FORMS: dict[str, type[logging.Formatter]] = {"text": Text, "json": Json}


class _Handler(logging.StreamHandler[Any]):
    """Handler that reports a failure to format; Python's own handlers would write the message and its arguments."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - Python's name for it
        """Reports that a line could not be formatted."""
        with contextlib.suppress(Exception):
            self.stream.write(f"a line of the log could not be formatted{self.terminator}")


def line(form: str, level: int, event: str) -> str:
    """Formats an event with the current time, for failures before logging has begun."""
    return FORMS[form]().format(logging.LogRecord(OWN, level, "", 0, "%s", (event,), None))


def begin(form: str, stream: Any = None) -> None:
    """Sets the log format of this process, one of FORMS. Uncaught errors are logged, too."""
    handler = _Handler(stream)
    handler.setFormatter(FORMS[form]())
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    logging.captureWarnings(True)
    own = logging.getLogger(OWN)
    own.setLevel(logging.INFO)
    sys.excepthook = lambda kind, error, trace: own.critical("the server failed", exc_info=error)
    threading.excepthook = lambda uncaught: own.error("a thread failed", exc_info=uncaught.exc_value)
    sys.unraisablehook = lambda uncaught: own.error("an error in the background was ignored", exc_info=uncaught.exc_value)


def _time(record: logging.LogRecord) -> str:
    from flask import has_request_context  # imported here, since most commands do not need Flask

    moment = datetime.fromtimestamp(record.created, UTC)
    return moment.date().isoformat() if record.name != OWN or has_request_context() else moment.strftime("%Y-%m-%dT%H:%MZ")


def _event(record: logging.LogRecord) -> str:
    return " ".join(record.getMessage().split()) if record.name == OWN else f"a message of {record.name}"


def _traceback_lines(record: logging.LogRecord) -> list[str]:
    """Returns the kinds and source lines of an error and its causes in Python's order, without messages and code."""
    error = record.exc_info[1] if isinstance(record.exc_info, tuple) else None
    return [] if error is None else _lines(error, ())


def _lines(error: BaseException, seen_ids: tuple[int, ...]) -> list[str]:
    """Returns the lines of one error. `seen_ids` are those already described, since errors can refer to each other."""
    before = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    seen_ids = (*seen_ids, id(error))
    stack = traceback.StackSummary.extract(traceback.walk_tb(error.__traceback__), lookup_lines=False)
    frames = [f'  File "{frame.filename}", line {frame.lineno}, in {frame.name}' for frame in stack]
    first = _lines(before, seen_ids) if before and id(before) not in seen_ids else []
    return [*first, "Traceback (most recent call last):", *frames, type(error).__qualname__]
