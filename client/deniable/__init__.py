"""Surveys about sensitive questions under local differential privacy: learn about the group, never about one person.

An answer is encoded (`encode`), randomized (`randomize`), packed (`pack`) and sent; a server unpacks it (`unpack`), counts it in a
`Tally`, and `deniable.estimate.estimate` computes the shares. `SurveyClient` encodes, randomizes, packs
and sends; a `deniable-server` does the rest.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from deniable.device.encode import encode, encode_column
from deniable.device.entropy import os_words
from deniable.device.randomize import randomize
from deniable.device.sources.file import File
from deniable.errors import (
    AnswerError,
    DeliveryError,
    DeniableError,
    EstimateError,
    MissingExtraError,
    RefusedError,
    RejectedError,
    RejectedRow,
    SubmissionError,
    SurveyError,
)
from deniable.mechanism import Channel
from deniable.survey import Survey
from deniable.survey.question import Question
from deniable.wire.record import pack, unpack
from deniable.wire.submission import Submission
from deniable.wire.tally import Tally

if TYPE_CHECKING:
    from deniable.delivery.jobs import SubmissionReport
    from deniable.delivery.outbox import RefusedSubmission
    from deniable.sdk.client import ResendResult, SurveyClient
    from deniable.sdk.session import Receipt, SurveySession, UnsentSubmission
    from deniable.sdk.survey_list import SurveySummary

__version__ = "0.1.0"

__all__ = [
    "AnswerError",
    "Channel",
    "DeliveryError",
    "DeniableError",
    "EstimateError",
    "File",
    "MissingExtraError",
    "Question",
    "Receipt",
    "RefusedError",
    "RefusedSubmission",
    "RejectedError",
    "RejectedRow",
    "ResendResult",
    "Submission",
    "SubmissionError",
    "SubmissionReport",
    "Survey",
    "SurveyClient",
    "SurveyError",
    "SurveySession",
    "SurveySummary",
    "Tally",
    "UnsentSubmission",
    "encode",
    "encode_column",
    "os_words",
    "pack",
    "randomize",
    "unpack",
]

_CLIENT = {
    "Receipt": "deniable.sdk.session",
    "RefusedSubmission": "deniable.delivery.outbox",
    "ResendResult": "deniable.sdk.client",
    "SubmissionReport": "deniable.delivery.jobs",
    "SurveyClient": "deniable.sdk.client",
    "SurveySession": "deniable.sdk.session",
    "SurveySummary": "deniable.sdk.survey_list",
    "UnsentSubmission": "deniable.sdk.session",
}
"""Names of the client, each with its module."""


def __getattr__(name: str) -> Any:
    """Loads a name of the client when it is first used: the HTTP library that comes with it loads more slowly than the rest."""
    if name not in _CLIENT:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_CLIENT[name]), name)


def __dir__() -> list[str]:
    """Returns the public names, those loaded later included, for completion in a shell or an editor."""
    return [*__all__, "__version__"]
