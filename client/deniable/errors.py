"""Exceptions: every error that `deniable` raises on purpose.

DeniableError
├── SurveyError        a survey file or definition breaks the rules; lists every problem
├── AnswerError        an answer is not allowed by its question (the answer itself is never quoted)
├── SubmissionError    a submission does not have the format of the survey's records
├── RefusedError       this client refuses to send: pin, cap or definition do not hold
├── DeliveryError      the server could not be reached, or kept failing; the outbox keeps the bytes
├── RejectedError      the server rejected the request
├── EstimateError      no estimate exists for this design or these counts
│   └── ModelError     no estimate of a regression exists: what happened, why, and what else to try
│   └── UnknownNameError  there is no question, option or figure of that name; also a KeyError
├── ExportError        a folder is not a complete export of a survey's records
└── MissingExtraError  an optional dependency is not installed; also a ModuleNotFoundError
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self


class DeniableError(Exception):
    """Base class of all errors in this tree."""

    def __reduce__(self) -> tuple[Any, ...]:
        # By default pickle calls the class with `args`, the message alone. Some classes take more arguments, and a process pool waits
        # forever for a worker whose error it cannot unpickle.
        return _remade, (type(self), self.args), vars(self)


def _remade(kind: type[DeniableError], args: tuple[Any, ...]) -> DeniableError:
    """Returns an error with the same message, without calling its constructor; unpickling then sets its attributes."""
    return kind.__new__(kind, *args)


@dataclass(frozen=True)
class Problem:
    """A mistake in a survey file: its position, and the rule that it breaks."""

    where: str
    message: str
    line: int | None = None

    def __str__(self) -> str:
        at = f" (line {self.line})" if self.line is not None else ""
        return f"{self.where}{at}: {self.message}"


class RejectedRow(NamedTuple):
    """A row that was not sent: its number from 1, the question ("" if the row itself is invalid), and the rule it breaks."""

    row: int
    question: str
    reason: str

    def __str__(self) -> str:
        return f"row {self.row:,}{', ' + self.question if self.question else ''}: {self.reason}"


class SurveyError(DeniableError):
    """A survey file or definition breaks the rules. `problems` lists all mistakes, in the file's order."""

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in problems))


class AnswerError(DeniableError):
    """An answer is missing, or its question does not allow it. The message never quotes the answer."""


class SubmissionError(DeniableError):
    """A submission's envelope or records break a rule; `rule` is its name, one word."""

    def __init__(self, rule: str, message: str) -> None:
        self.rule = rule
        super().__init__(message)


class RefusedError(DeniableError):
    """This client refuses to take part in the survey as it is offered. Nothing was sent."""


class DeliveryError(DeniableError):
    """The server could not be reached or kept failing. The perturbed bytes stay in the outbox."""


class RejectedError(DeniableError):
    """The server rejected the request; `status` is its HTTP status."""

    def __init__(self, status: int, message: str) -> None:
        self.status = status
        super().__init__(message)


class EstimateError(DeniableError):
    """The design or the counts allow no estimate; the message says why."""


class ModelError(EstimateError):
    """No estimate of a regression exists for these reports. The message joins the parts below, which a page may show separately.

    Attributes:
        what: The event, in plain words.
        why: The cause; empty if `what` says it.
        ways: Alternatives to try, each a clause.
        statistics: The same in the terms of statistics.
        concerned: Affected variables, each with its affected categories; without categories if no single one is affected.
        terms: The affected coefficients.
    """

    def __init__(
        self,
        what: str,
        why: str = "",
        ways: Sequence[str] = (),
        statistics: str = "",
        concerned: Sequence[tuple[str, tuple[str, ...]]] = (),
        terms: Sequence[str] = (),
    ) -> None:
        self.what, self.why, self.ways, self.statistics = what, why, tuple(ways), statistics
        self.concerned, self.terms = tuple((name, tuple(categories)) for name, categories in concerned), tuple(terms)
        parts = [what, why, f"What you can do: {'; '.join(ways)}" if ways else "", f"In statistics: {statistics}" if statistics else ""]
        super().__init__(". ".join(part for part in parts if part))


class UnknownNameError(EstimateError, KeyError):
    """There is no question, option or figure of that name. The message lists some valid names, and suggests the most similar one."""

    __str__ = Exception.__str__  # KeyError's own quotes the message

    @classmethod
    def of(cls, what: str, name: Any, valid: Iterable[str]) -> Self:
        """Returns the error for an unknown name.

        Args:
            what: The rule for the name, at the beginning of the message.
            name: The name that was not recognized.
            valid: The valid names.
        """
        names = list(dict.fromkeys(valid))
        near = difflib.get_close_matches(name, names, 1) if isinstance(name, str) else []
        some = f"{', '.join(names[:8])}{', …' if len(names) > 8 else ''}" or "none"
        return cls(f"{what} ({some}), got {name!r}{f'; did you mean {near[0]!r}?' if near else ''}")


class ExportError(DeniableError):
    """A folder is not a complete export of a survey's records; the message names the file and the problem."""


class MissingExtraError(DeniableError, ModuleNotFoundError):
    """A feature needs packages that come with an extra of `deniable`; the message names both."""

    def __reduce__(self) -> tuple[Any, ...]:
        # keeps `name` and `path`, which are not in `__dict__`
        return ModuleNotFoundError.__reduce__(self)  # type: ignore[return-value]
