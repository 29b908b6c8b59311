"""Ask sensitive questions and learn the truth about the group without being able to learn it about anyone.

The way of an answer: `encode` it, `randomize` it, `pack` it, send it; `unpack` it, count it in a `Tally`,
`deniable.estimate.estimate` the shares. `SurveyClient` does the first half, a `deniable-server` the second.
"""

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
    from deniable.sdk.client import SurveyClient

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
    "RefusedError",
    "RejectedError",
    "Submission",
    "SubmissionError",
    "Survey",
    "SurveyClient",
    "SurveyError",
    "Tally",
    "encode",
    "encode_column",
    "os_words",
    "pack",
    "randomize",
    "unpack",
]


def __getattr__(name: str) -> Any:
    """`SurveyClient` when it is first asked for: an HTTP library comes with it, which takes longer to load than all else."""
    if name != "SurveyClient":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from deniable.sdk.client import SurveyClient

    return SurveyClient


def __dir__() -> list[str]:
    """Returns the public names, `SurveyClient` among them, for completion in a shell or an editor."""
    return [*__all__, "__version__"]
