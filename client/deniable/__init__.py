"""Surveys about sensitive questions under local differential privacy: learn about the group, never about one person.

An answer is encoded (`encode`), randomized (`randomize`), packed (`pack`) and sent; a server unpacks it (`unpack`), counts it in a
`Tally`, and `deniable.estimate.estimate` computes the shares. `SurveyClient` encodes, randomizes, packs
and sends; a `deniable-server` does the rest.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from deniable.delivery.jobs import SubmissionReport
    from deniable.delivery.outbox import RefusedSubmission
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
    from deniable.sdk.client import ResendResult, SurveyClient
    from deniable.sdk.session import Receipt, SurveySession, UnsentSubmission
    from deniable.sdk.survey_list import SurveySummary
    from deniable.survey import Survey
    from deniable.survey.question import Question
    from deniable.wire.record import pack, unpack
    from deniable.wire.submission import Submission
    from deniable.wire.tally import Tally

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

_MODULES = {
    **dict.fromkeys(("encode", "encode_column"), "device.encode"),
    "os_words": "device.entropy",
    "randomize": "device.randomize",
    "File": "device.sources.file",
    "RefusedSubmission": "delivery.outbox",
    "SubmissionReport": "delivery.jobs",
    "Channel": "mechanism",
    **dict.fromkeys(("ResendResult", "SurveyClient"), "sdk.client"),
    **dict.fromkeys(("Receipt", "SurveySession", "UnsentSubmission"), "sdk.session"),
    "SurveySummary": "sdk.survey_list",
    "Survey": "survey",
    "Question": "survey.question",
    **dict.fromkeys(("pack", "unpack"), "wire.record"),
    "Submission": "wire.submission",
    "Tally": "wire.tally",
}
"""The module of each public name that is not an error."""


def __getattr__(name: str) -> Any:
    """Loads a public name when it is first used: programs that only print help need neither numpy nor the HTTP library."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"deniable.{_MODULES.get(name, 'errors')}"), name)
    return value


def __dir__() -> list[str]:
    """Returns the public names, which are loaded later, for completion in a shell or an editor."""
    return [*__all__, "__version__"]
