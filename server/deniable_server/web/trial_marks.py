"""Marks of trials: the kind of trial that the current page is of, for the notice on each screen, and for each table that is downloaded."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

from flask import Flask, Response, request

from deniable_server.store.trials import TrialId

COLUMN = "data"
"""The column, or the key, that says what kind of data a table of a trial has."""


def register(app: Flask) -> None:
    """Adds `trial` to the templates, and the kind of data to tables of trials."""
    app.add_template_global(current_trial, "trial")
    app.after_request(_mark)


def current_trial() -> str:
    """Returns the kind of the trial in the current request's address, or "" for other pages."""
    trial = TrialId.of((request.view_args or {}).get("survey_id", ""))
    return trial.kind if trial else ""


def _mark(response: Response) -> Response:
    """Adds the kind of data to each row of a downloaded table, and to each JSON object."""
    kind = current_trial()
    if not kind or response.status_code != 200 or "attachment" not in response.headers.get("Content-Disposition", ""):
        return response
    if response.mimetype == "text/csv":
        response.direct_passthrough = False
        response.set_data(marked_csv(response.get_data(as_text=True), kind))
    elif response.mimetype == "application/json":
        response.direct_passthrough = False
        response.set_data(marked_json(response.get_data(as_text=True), kind))
    return response


def marked_csv(text: str, kind: str) -> str:
    """Returns a table with one more column."""
    out = io.StringIO()
    writer = csv.writer(out)
    for number, row in enumerate(csv.reader(io.StringIO(text, newline=""))):
        writer.writerow([*row, kind if number else COLUMN])
    return out.getvalue()


def marked_json(text: str, kind: str) -> str:
    """Returns an object with one more key; other values as they are."""
    value: Any = json.loads(text)
    return json.dumps({COLUMN: kind, **value}, ensure_ascii=False) if isinstance(value, dict) else text
