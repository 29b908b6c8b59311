"""Remote analysis of a survey: its tally on a server, and the perturbed records for callers with access to them."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import IO, TYPE_CHECKING, Any
from zipfile import BadZipFile, ZipFile

import httpx

from deniable.delivery.transport import Transport
from deniable.errors import DeliveryError, SubmissionError
from deniable.survey import Survey
from deniable.survey.document import strict_json
from deniable.survey.survey import MAX_DEFINITION
from deniable.wire.record import unpack
from deniable.wire.tally import Tally

if TYPE_CHECKING:
    from deniable.estimate.analysis import Analysis
    from deniable.estimate.samples.sample import Sample

MAX_REPORTS = 1 << 30
"""Most bytes of records that are fetched."""
_TIMES = 5  # attempts to fetch a tally and records of the same moment: a batch may be counted between the two
_DESCRIBED: dict[str, tuple[type, ...]] = {
    "group": (str, type(None)),
    "by_hand": (bool,),
    "waiting": (int,),
    "n_by_hand": (int,),
    "n_organisation": (int,),
}
"""Fields of `Results` that the server sends with a tally; the last two are absent for records made by hand."""


_MEMBERS = {"README.md", "SHA256SUMS", "survey.json", "rows.csv", "codebook.csv", "estimates.csv"}
"""Files of every bundle."""


@dataclass(frozen=True)
class RemoteRecords:
    """A survey's records on a server, restricted by `params` (group and by_hand, as the server takes them)."""

    transport: Transport
    auth: httpx.Auth | None
    survey: Survey
    params: Mapping[str, str | int]

    def sample(self, sample: Sample, **interval: Any) -> Analysis:
        """Returns the analysis of a sample, from the tally of each group; `interval` as in `analyse`. Raises as `analysis` does."""
        from deniable.estimate.analysis import analyse

        _, described = self._tally()
        groups = {group: replace(self, params={**self.params, "group": group})._tally()[0] for group in self.survey.groups}
        return replace(analyse(self.survey, groups, sample=sample, **interval), described=described)

    def analysis(self, reports: bool, **interval: Any) -> Analysis:
        """Returns the `Analysis` of the tally, and with `reports` of the records that it counts; `interval` as in `analyse`.

        Raises:
            RejectedError: The server rejected the request.
            DeliveryError: The server could not be reached, or its reply is not about this survey.
            EstimateError: The interval is invalid.
        """
        from deniable.estimate.analysis import Analysis

        bits, (tally, described) = None, self._tally()
        if reports:
            for _ in range(_TIMES):
                bits = self._bits()
                if len(bits) == tally.n and Tally.from_bits(bits).to_bytes() == tally.to_bytes():
                    break
                tally, described = self._tally()
            else:
                raise DeliveryError(f"{self.transport.url} has records that its tally of survey {self.survey.id} does not count")
        result = Analysis(self.survey, tally, bits, described=described, **interval)
        result.results  # noqa: B018 - raises here if the interval is invalid
        return result

    def _tally(self) -> tuple[Tally, dict[str, Any]]:
        raw = self._get("tally")
        try:
            reply = strict_json(raw)
            if reply["digest"] != self.survey.digest or not _is_count(reply["n"]):
                raise ValueError
            described = {name: reply[name] for name in _DESCRIBED if name in reply}
            if not all(
                type(value) in _DESCRIBED[name] and (type(value) is not int or _is_count(value)) for name, value in described.items()
            ):
                raise ValueError
            return Tally.from_bytes(reply["n"], self.survey.record.bits, base64.b64decode(reply["pairs"], validate=True)), described
        except (ValueError, KeyError, TypeError):
            raise self._other("tally") from None

    def _bits(self) -> Any:
        raw = self._get("reports", MAX_REPORTS)
        try:
            return unpack(self.survey, raw, len(raw) // self.survey.record.bytes)
        except SubmissionError:
            raise self._other("records") from None

    def _get(self, what: str, limit: int | None = None) -> bytes:
        return self.transport.get(f"/api/v1/surveys/{self.survey.id}/{what}", self.params, self.auth, limit)

    def _other(self, what: str) -> DeliveryError:
        return DeliveryError(f"{self.transport.url} answered with no {what} of survey {self.survey.id}; is it the right address?")


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**63


def check_bundle(file: IO[bytes], survey: Survey, url: str) -> None:
    """Checks that a file is the bundle of a survey: a zip with the files of every bundle, this survey's definition among them.

    Only the definition is unpacked, up to its largest size.

    Raises:
        DeliveryError: It is not.
    """
    try:
        with ZipFile(file) as archive:
            names = set(archive.namelist())
            with archive.open("survey.json") as member:
                definition = member.read(MAX_DEFINITION + 1)
    except (BadZipFile, KeyError, OSError, EOFError, RuntimeError, ValueError, zlib.error):
        names, definition = set(), b""
    outside = any(name.startswith("/") or "\\" in name or ".." in name.split("/") for name in names)
    if not names >= _MEMBERS or outside or definition != survey.definition:
        raise DeliveryError(f"{url} answered with no bundle of survey {survey.id}; is it the right address?")
