"""Regression in a subprocess with a time limit, so that a slow model does not block the server.

The process reads randomized records and a formula from standard input, and prints the fit as JSON. One runs at a time.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from deniable.errors import EstimateError, ModelError
from deniable.estimate import PerturbedVariable, Regression, analyse, regress
from deniable.estimate.regression.formula import names_alone, split
from deniable.survey import Survey
from deniable_server.web.errors import ModelBusyError

SECONDS = 15
"""CPU time for one model."""

MODELS = ("logit", "linear")
_TOO_LONG = f"this model takes longer than the {SECONDS} seconds of a page: leave a question out, or use the command line"
_TOO_BUSY = "this server is too busy to compute a model: try again later, or use the command line"
_TURN = threading.Lock()
_WAIT = 5.0  # seconds for another model to end
_LONGEST = 45.0  # seconds of wall time, on a busy machine


@dataclass(frozen=True)
class Model:
    """A model to fit: a formula of a survey's questions, and the questions that enter as numbers."""

    formula: str
    model: str = "logit"
    scored: tuple[str, ...] = ()


@dataclass(frozen=True)
class Fit:
    """A fitted model: the library's dictionary, a description and the coefficients.

    A coefficient is (name, value, low, high). naive: coefficients without correction for the randomization; None if a record
    cannot be read as an answer, or without a fit. references: the reference answer of each categorical question.
    """

    regression: Mapping[str, Any]
    about: tuple[str, ...]
    nobs: int
    coefficients: tuple[tuple[str, float, float, float], ...]
    naive: Mapping[str, tuple[float, float, float]] | None
    references: Mapping[str, str]


def fit_model(survey: Survey, reports: bytes, model: Model) -> Fit:
    """Fits a model to packed records.

    Raises:
        ModelError: The library has no estimate; with what to try instead.
        EstimateError: The model is refused, or takes longer than SECONDS.
        ModelBusyError: Another model is being computed, or the server is too busy.
    """
    head = json.dumps({"bytes": len(survey.definition), "formula": model.formula, "model": model.model, "scored": model.scored}).encode()
    if not _TURN.acquire(timeout=_WAIT):
        raise ModelBusyError("another model is being computed: try again in a moment")
    try:
        command = [sys.executable, "-m", "deniable_server.results.model_fits"]
        message = head + b"\n" + survey.definition + reports
        process = subprocess.run(command, input=message, capture_output=True, timeout=_LONGEST, check=False)  # noqa: S603 - our own module
    except subprocess.TimeoutExpired:
        raise ModelBusyError(_TOO_BUSY) from None
    finally:
        _TURN.release()
    if process.returncode == -signal.SIGXCPU:
        raise EstimateError(_TOO_LONG)
    process.check_returncode()
    reply = json.loads(process.stdout)
    if "failure" in reply:
        raise ModelError(**reply["failure"])
    if "error" in reply:
        raise EstimateError(reply["error"])
    naive = reply["naive"] and {name: tuple(values) for name, values in reply["naive"].items()}
    rows = tuple((name, *values) for name, values in reply["coefficients"].items())
    return Fit(reply["regression"], tuple(reply["about"]), reply["nobs"], rows, naive, reply["references"])


def main() -> None:
    """Runs the subprocess."""
    os.nice(int(os.environ.get("DENIABLE_NICENESS", "10")))  # as the computing processes do
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 5))
    head = json.loads(sys.stdin.buffer.readline())
    survey = Survey.from_definition(sys.stdin.buffer.read(head["bytes"]))
    try:
        reply = _fit(survey, sys.stdin.buffer.read(), Model(head["formula"], head["model"], tuple(head["scored"])))
    except ModelError as error:
        reply = {"failure": vars(error)}
    except EstimateError as error:
        reply = {"error": str(error)}
    sys.stdout.write(json.dumps(reply))


def _fit(survey: Survey, reports: bytes, model: Model) -> dict[str, Any]:
    if not names_alone(split(model.formula)[1]):
        raise EstimateError("a formula on this page must have only questions")
    analysis = analyse(survey, reports)
    regression = analysis.regress(model.formula, model=model.model, scored=model.scored)
    variables = analysis.perturbed(model.scored)
    return {
        "regression": regression.to_dict(),
        "about": regression.tables()[0].about,
        "nobs": regression.nobs,
        "coefficients": _coefficients(regression),
        "naive": _naive(variables, model),
        "references": {name: variable.reference for name, variable in variables.items() if variable.scores is None},
    }


def _naive(variables: Mapping[str, PerturbedVariable], model: Model) -> dict[str, Sequence[float]] | None:
    """Fits the model to the records as if they were answers. None if a record names several options or an output of a window."""
    as_answers = {}
    for name, variable in variables.items():
        if (variable.bits.sum(axis=1) == 1).all() and variable.bits.shape[1] == len(variable.categories):
            as_answers[name] = replace(variable, channel=np.eye(len(variable.categories)))
    try:
        return _coefficients(regress(model.formula, None, as_answers, model=model.model))
    except EstimateError:
        return None


def _coefficients(regression: Regression) -> dict[str, Sequence[float]]:
    limits = regression.conf_int()
    names = [" · ".join(reversed(label)) if isinstance(label, tuple) else str(label) for label in regression.params.index]
    return dict(zip(names, zip(regression.params.tolist(), limits["low"].tolist(), limits["high"].tolist(), strict=True), strict=True))


if __name__ == "__main__":
    main()
