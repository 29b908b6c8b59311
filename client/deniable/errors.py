"""Everything that `deniable` raises on purpose.

DeniableError
├── SurveyError        a survey file or a definition breaks the rules; lists every problem
├── AnswerError        an answer is not one the question allows (the answer itself is never quoted)
├── SubmissionError    the bits of a submission are not what the survey's records look like
├── RefusedError       this client will not send: pin, cap or definition do not hold
├── DeliveryError      the server could not be reached, or kept failing; the outbox keeps the bytes
├── RejectedError      the server answered, and said no
├── EstimateError      no estimate exists for this design or these counts
│   └── ModelError     no estimate of a regression exists: what happened, why, and what else to try
│   └── UnknownNameError  there is no question, option or figure of that name; also a KeyError
├── ExportError        a folder is not a whole export of a survey's records
└── MissingExtraError  something needs an extra that is not installed; also a ModuleNotFoundError
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self


class DeniableError(Exception):
    """Base of the tree above; catch it to catch all of them."""

    def __reduce__(self) -> tuple[Any, ...]:
        # Python would call the class with `args`, the message alone. Some classes take more, and a pool of processes whose worker raised
        # what it cannot read waits for ever.
        return _remade, (type(self), self.args), vars(self)


def _remade(kind: type[DeniableError], args: tuple[Any, ...]) -> DeniableError:
    """An error with the same message, as a copy or another process has it; its attributes are set by whoever asked for it."""
    return kind.__new__(kind, *args)


@dataclass(frozen=True)
class Problem:
    """One mistake in a survey file: where it is, and what the rule is."""

    where: str
    message: str
    line: int | None = None

    def __str__(self) -> str:
        at = f" (line {self.line})" if self.line is not None else ""
        return f"{self.where}{at}: {self.message}"


class Rejected(NamedTuple):
    """A row that was not sent: its number from 1, the question ("" where it is the row itself), and the rule."""

    row: int
    question: str
    reason: str

    def __str__(self) -> str:
        return f"row {self.row:,}{', ' + self.question if self.question else ''}: {self.reason}"


class SurveyError(DeniableError):
    """A survey file or definition breaks the rules. `problems` lists all of them, in the file's order."""

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in problems))


class AnswerError(DeniableError):
    """An answer is missing or not one that its question allows. The message never quotes the answer."""


class SubmissionError(DeniableError):
    """A submission's envelope or records break a rule, which `rule` names in one word."""

    def __init__(self, rule: str, message: str) -> None:
        self.rule = rule
        super().__init__(message)


class RefusedError(DeniableError):
    """This client will not take part in this survey as it is offered. Nothing was sent."""


class DeliveryError(DeniableError):
    """The server could not be reached or kept failing. The perturbed bytes wait in the outbox."""


class RejectedError(DeniableError):
    """The server understood the request and turned it down; `status` is its HTTP status."""

    def __init__(self, status: int, message: str) -> None:
        self.status = status
        super().__init__(message)


class EstimateError(DeniableError):
    """The design or the counts admit no estimate; the message says why."""


class ModelError(EstimateError):
    """No estimate of a regression exists for these reports. The message joins the parts below; a page may lay them out.

    Attributes:
        what: What happened, in plain words.
        why: Why it happens; empty where `what` says it.
        ways: What to try instead, each a clause.
        statistics: The same in the terms of statistics.
        concerned: Variables, each with those of its categories that are concerned; empty where no single category is.
        terms: The coefficients concerned.
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
    """There is no question, option or figure of that name; the message lists some that there are, and one that is like it."""

    __str__ = Exception.__str__  # a KeyError shows itself in quotes

    @classmethod
    def of(cls, what: str, name: Any, known: Iterable[str]) -> Self:
        """Returns the error for a name that is not among those known; `what` says what it must be the name of."""
        there = list(dict.fromkeys(known))
        near = difflib.get_close_matches(name, there, 1) if isinstance(name, str) else []
        some = f"{', '.join(there[:8])}{', …' if len(there) > 8 else ''}" or "none"
        return cls(f"{what} ({some}), got {name!r}{f'; did you mean {near[0]!r}?' if near else ''}")


class ExportError(DeniableError):
    """A folder is not a whole export of a survey's records, as it was written; the message names the file and what is wrong."""


class MissingExtraError(DeniableError, ModuleNotFoundError):
    """Something needs packages that come with an extra of `deniable`; the message names both."""

    def __reduce__(self) -> tuple[Any, ...]:
        # knows `name` and `path`, which are not kept where other attributes are
        return ModuleNotFoundError.__reduce__(self)  # type: ignore[return-value]
