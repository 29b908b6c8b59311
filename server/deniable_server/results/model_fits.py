"""A regression in a process of its own, which has some seconds and then ends: however long a model takes, the server goes on.

The process gets perturbed records and a formula on its standard input, and prints the fit as JSON. One runs at a time.
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

SECONDS = 15
"""Of computing, for one model."""

MODELS = ("logit", "linear")
_TOO_LONG = f"this model takes longer than the {SECONDS} seconds that a page has: leave a question out, or use the command line"
_TOO_BUSY = "this server has too much else to do to compute a model: try again later, or use the command line"
_TURN = threading.Lock()
_WAIT = 5.0  # seconds for another model to end
_LONGEST = 45.0  # seconds on the clock, where others use the machine, too


@dataclass(frozen=True)
class Model:
    """What is to be fitted: a formula of a survey's questions, and those of them that enter as numbers."""

    formula: str
    model: str = "logit"
    scored: tuple[str, ...] = ()


@dataclass(frozen=True)
class Fit:
    """What came out: the library's dictionary, what was fitted in words, and the coefficients; naive: those of records taken at face value.

    A coefficient is (its names, its value, low, high). naive is None where a record is no answer that could be taken so, or has no fit.
    references: of each question that enters as a category, the answer that its others are compared with.
    """

    found: Mapping[str, Any]
    about: tuple[str, ...]
    nobs: int
    coefficients: tuple[tuple[str, float, float, float], ...]
    naive: Mapping[str, tuple[float, float, float]] | None
    references: Mapping[str, str]


def fitted(survey: Survey, reports: bytes, model: Model) -> Fit:
    """Fits a model to packed records.

    Raises:
        ModelError: The library has no estimate; with what to try instead.
        EstimateError: The model is refused, takes longer than SECONDS, or the server is too busy.
    """
    head = json.dumps({"bytes": len(survey.definition), "formula": model.formula, "model": model.model, "scored": model.scored}).encode()
    if not _TURN.acquire(timeout=_WAIT):
        raise EstimateError("another model is being computed: try again in a moment")
    try:
        command = [sys.executable, "-m", "deniable_server.results.model_fits"]
        given = head + b"\n" + survey.definition + reports
        done = subprocess.run(command, input=given, capture_output=True, timeout=_LONGEST, check=False)  # noqa: S603 - our own module
    except subprocess.TimeoutExpired:
        raise EstimateError(_TOO_BUSY) from None
    finally:
        _TURN.release()
    if done.returncode == -signal.SIGXCPU:
        raise EstimateError(_TOO_LONG)
    done.check_returncode()
    told = json.loads(done.stdout)
    if "failure" in told:
        raise ModelError(**told["failure"])
    if "error" in told:
        raise EstimateError(told["error"])
    naive = told["naive"] and {name: tuple(values) for name, values in told["naive"].items()}
    rows = tuple((name, *values) for name, values in told["coefficients"].items())
    return Fit(told["found"], tuple(told["about"]), told["nobs"], rows, naive, told["references"])


def main() -> None:
    """What the process does."""
    os.nice(10)
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 5))
    head = json.loads(sys.stdin.buffer.readline())
    survey = Survey.from_definition(sys.stdin.buffer.read(head["bytes"]))
    try:
        told = _fit(survey, sys.stdin.buffer.read(), Model(head["formula"], head["model"], tuple(head["scored"])))
    except ModelError as error:
        told = {"failure": vars(error)}
    except EstimateError as error:
        told = {"error": str(error)}
    sys.stdout.write(json.dumps(told))


def _fit(survey: Survey, reports: bytes, model: Model) -> dict[str, Any]:
    if not names_alone(split(model.formula)[1]):
        raise EstimateError("a formula of this page is made of questions alone")
    analysis = analyse(survey, reports)
    found = analysis.regress(model.formula, model=model.model, scored=model.scored)
    variables = analysis.perturbed(model.scored)
    return {
        "found": found.to_dict(),
        "about": found.tables()[0].about,
        "nobs": found.nobs,
        "coefficients": _coefficients(found),
        "naive": _naive(variables, model),
        "references": {name: variable.reference for name, variable in variables.items() if variable.scores is None},
    }


def _naive(variables: Mapping[str, PerturbedVariable], model: Model) -> dict[str, Sequence[float]] | None:
    """The same model of the records as if they were answers. None where a record names several options, or an output of a window."""
    as_told = {}
    for name, variable in variables.items():
        if (variable.bits.sum(axis=1) == 1).all() and variable.bits.shape[1] == len(variable.categories):
            as_told[name] = replace(variable, channel=np.eye(len(variable.categories)))
    try:
        return _coefficients(regress(model.formula, None, as_told, model=model.model))
    except EstimateError:
        return None


def _coefficients(found: Regression) -> dict[str, Sequence[float]]:
    limits = found.conf_int()
    names = [" · ".join(reversed(label)) if isinstance(label, tuple) else str(label) for label in found.params.index]
    return dict(zip(names, zip(found.params.tolist(), limits["low"].tolist(), limits["high"].tolist(), strict=True), strict=True))


if __name__ == "__main__":
    main()
