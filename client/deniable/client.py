"""SurveyClient: fetch a survey, check it, randomize answers on this machine, send what came out.

The only file besides the browser's form that draws the words for the coins. What leaves is a `Submission`;
it is in the outbox before its first attempt.
"""

from __future__ import annotations

import json
import re
import secrets
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self
from urllib.parse import urlsplit

import click
import numpy as np
from numpy.typing import NDArray

from deniable.branching import hide
from deniable.codes import ID_BYTES
from deniable.encode import Answer, allowed, places, settle
from deniable.entropy import os_words
from deniable.epsilon import parse_epsilon
from deniable.errors import AnswerError, DeliveryError, EstimateError, RefusedError, RejectedError
from deniable.outbox import Job, Kept, Outbox
from deniable.parse import SURVEY_ID
from deniable.randomize import randomize
from deniable.rows import MISSING, Batch, Rejected, Rows, as_rows, batches, each_answer
from deniable.sampling import draw
from deniable.submission import MAX_COUNT, Submission, pack
from deniable.survey import Survey
from deniable.transport import Transport

if TYPE_CHECKING:
    from deniable.estimate import Results

SLACK = 1e-12  # a cap of `ln 9` must admit two questions of `ln 3`, whose doubles add up to a little more or less
_DIGEST = re.compile(r"[0-9a-f]{64}")
_LINK = re.compile(r"(.*)/s/([^/]+)/?")
_SHOWN = 20


@dataclass(frozen=True)
class Receipt:
    """One respondent's submission, acknowledged: `submission` is its id in hexadecimal, `epsilon` what it gave away at most."""

    submission: str
    survey: str
    digest: str
    epsilon: float


@dataclass(frozen=True)
class Report:
    """What became of many rows. Counts are of the whole job, the earlier runs that it resumed included.

    accepted: rows that the server acknowledged. submissions: requests they took. resumed: rows that earlier runs
    had dealt with. rejected: what was wrong with the rows that were left out, each question by itself.
    """

    survey: str
    digest: str
    accepted: int
    submissions: int
    resumed: int
    rejected: tuple[Rejected, ...]


@dataclass(frozen=True)
class Resent:
    """What an outbox did when asked to send again: submissions acknowledged now, and those the server turned down."""

    delivered: int
    refused: tuple[Kept, ...]


class SurveyClient:
    """Takes part in the surveys of the server at `url`, for one respondent or for many.

    max_epsilon: refuse a survey whose submission would give away more; a number, or text such as "ln 9".
    pin: refuse any definition but this one: a digest, or a mapping from survey id to digest, which then must have every
    survey asked for. outbox: the file that keeps perturbed submissions until they are acknowledged (by default in the user's data
    folder), or ":memory:" to keep them no longer than this process. auth: a researcher's name and password, for
    `results` only. timeout: seconds for each wait on the network. retries: further attempts after the first one fails.

    Randomness comes from the operating system; there is no seed. Raises ValueError for an argument out of its range.
    """

    def __init__(
        self,
        url: str,
        *,
        max_epsilon: float | str | None = None,
        pin: str | Mapping[str, str] | None = None,
        outbox: str | Path | None = None,
        auth: tuple[str, str] | None = None,
        timeout: float = 30.0,
        retries: int = 6,
    ) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise ValueError(f"url must be the address of a server, such as https://example.org, got {url!r}")
        self.url = url.rstrip("/")
        self.survey_id: str | None = None
        self.max_epsilon = None if max_epsilon is None else parse_cap(max_epsilon)
        self._pin = _checked_pin(pin)
        self._outbox_path = outbox
        self._outbox: Outbox | None = None
        self._auth = auth
        self._transport = Transport(self.url, timeout, retries)
        self._surveys: dict[str, Survey] = {}

    @classmethod
    def from_link(cls, link: str, **options: Any) -> Self:
        """A client for the survey behind a respondent's link, `https://host/s/<id>#digest=<hex>`.

        The id becomes `survey_id`, and a digest in the link the pin. Raises ValueError if it is no such link.
        """
        url, survey_id, digest = parse_link(link)
        pin = options.pop("pin", None)
        if digest and pin and _checked_pin(pin) not in (digest, {survey_id: digest}):
            raise ValueError("pin must be the digest that the link carries, got another one")
        client = cls(url, pin=digest or pin, **options)
        client.survey_id = survey_id
        return client

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Closes connections and the outbox."""
        self._transport.close()
        if self._outbox:
            self._outbox.close()
            self._outbox = None

    @property
    def outbox(self) -> Outbox:
        """The outbox, opened when it is first needed."""
        if self._outbox is None:
            self._outbox = Outbox(self._outbox_path)
        return self._outbox

    def survey(self, survey_id: str) -> Survey:
        """Fetches a survey once, and checks that it is what it declares. A published survey never changes.

        Raises RefusedError if the definition is not the canonical one of its declared epsilons, differs from the pin, exceeds
        max_epsilon or is another survey; RejectedError if the server has none; DeliveryError if it cannot be reached.
        """
        if survey_id not in self._surveys:
            survey = Survey.from_definition(self._transport.get(f"/api/v1/surveys/{_checked_id(survey_id)}"))
            self._refuse_unwanted(survey, survey_id)
            self._surveys[survey_id] = survey
        return self._surveys[survey_id]

    def _refuse_unwanted(self, survey: Survey, survey_id: str) -> None:
        if survey.id != survey_id:
            raise RefusedError(f"survey {survey_id}: the definition must be that survey's, got that of {survey.id}")
        if self._pin is not None:
            pin = self._pin if isinstance(self._pin, str) else self._pin.get(survey_id)
            if pin is None:
                raise RefusedError(f"survey {survey_id}: pin must have a digest for each survey, got none for this one")
            if survey.digest != pin:
                raise RefusedError(f"survey {survey_id}: the definition must have the pinned digest {pin}, got {survey.digest}")
        if self.max_epsilon is not None and survey.epsilon > self.max_epsilon * (1 + SLACK):
            raise RefusedError(f"survey {survey_id}: epsilon must be at most {self.max_epsilon}, got {survey.epsilon}")

    def submit(self, survey_id: str, answers: Mapping[str, Answer]) -> Receipt:
        """Randomizes and sends one respondent's answers, by question id.

        Call it once a respondent: answers that are randomized again are less private. After a DeliveryError the outbox has the
        perturbed answers, and `resend` sends them. Raises AnswerError, which lists all that is wrong and
        quotes no answer; RefusedError, RejectedError, DeliveryError.
        """
        survey = self.survey(survey_id)
        submission = _perturb(survey, _encode_one(survey, answers))
        self.outbox.add(self.url, survey.id, submission)
        self._deliver(survey.id, submission)
        return Receipt(submission.id.hex(), survey.id, survey.digest, survey.epsilon)

    def submit_many(
        self,
        survey_id: str,
        rows: Any,
        *,
        job: str | None = None,
        columns: Mapping[str, str] | None = None,
        batch: int = 10_000,
        progress: bool = False,
        on_invalid: Literal["raise", "skip"] = "raise",
    ) -> Report:
        """Randomizes and sends many respondents' answers, a row each.

        rows: an iterable of mappings, a DataFrame, or a file: CSV with a header, or JSON lines (.jsonl). Other columns are left
        alone. columns: the column of a question, where it is not the question's id. batch: rows a request.
        progress: show a bar on a terminal. on_invalid: "raise" checks all rows first and sends nothing if one is wrong
        (a stream that cannot be read twice is checked batch by batch); "skip" leaves wrong rows out and reports them.

        job: a name for this input. Progress is kept under it, so that after a failure, or a kill, the same call goes on
        behind the last row that was randomized. A file has one without asking, its path, and is refused once its size or
        time has changed. An input without a name must not be submitted twice.

        Raises AnswerError naming rows, questions and rules, never answers; RefusedError, RejectedError, DeliveryError.
        """
        if not 1 <= batch <= MAX_COUNT:
            raise ValueError(f"batch must be 1 to {MAX_COUNT:,}, got {batch}")
        if on_invalid not in ("raise", "skip"):
            raise ValueError(f"on_invalid must be raise or skip, got {on_invalid!r}")
        survey, source = self.survey(survey_id), as_rows(rows)
        name, mark = (job, "") if job is not None else (source.name, source.mark)
        bulk = _Bulk(self, survey, source, columns, batch, on_invalid == "raise")
        if name is None:
            return bulk.run(None, progress)
        begun = self.outbox.begin(self.url, survey.id, name, survey.digest, mark)
        try:
            return bulk.run(begun, progress)
        finally:
            self.outbox.end(begun)

    def resend(self, *, refused: bool = False) -> Resent:
        """Sends what waits in the outbox for this server, the very bytes of the first attempt.

        refused: also what the server turned down before. Raises DeliveryError once an attempt fails; the rest keeps waiting.
        """
        delivered = 0

        def send(survey_id: str, submission: Submission) -> None:
            nonlocal delivered
            with suppress(RejectedError):  # it is in the list below
                self._deliver(survey_id, submission)
                delivered += 1

        self._each_kept(None, refused, send)
        return Resent(delivered, tuple(self.outbox.turned_down(self.url)))

    def results(self, survey_id: str, *, confidence: float = 0.95, method: str = "feldman-cousins", target: str = "population") -> Results:
        """The survey's estimates with their intervals; needs `auth` and the [estimate] extra.

        Raises EstimateError without that extra, RejectedError (401 for a wrong name or password), DeliveryError.
        """
        try:
            from deniable.estimate import Results
        except ModuleNotFoundError as error:
            raise EstimateError(f"results need {error.name}: pip install 'deniable[estimate]'") from None
        params = {"confidence": confidence, "method": method, "target": target}
        raw = self._transport.get(f"/api/v1/surveys/{_checked_id(survey_id)}/results", params, self._auth)
        try:
            return Results.from_dict(json.loads(raw))
        except (ValueError, EstimateError):
            raise DeliveryError(f"{self.url} answered with something that is no results; is it the right address?") from None

    def _each_kept(self, job: Job | None, refused: bool, send: Callable[[str, Submission], None]) -> None:
        """Calls `send` for what the outbox keeps and nobody alive is sending, and gives back what it did not come to."""
        claimed = self.outbox.claim(self.url, job, refused)
        try:
            while claimed:
                send(*self.outbox.load(claimed[-1]))
                claimed.pop()
        finally:
            self.outbox.release(claimed)

    def _deliver(self, survey_id: str, submission: Submission) -> None:
        """Sends a submission that the outbox has, until the server acknowledges it or says no."""
        try:
            self._transport.post(f"/api/v1/surveys/{survey_id}/submissions", submission.to_json(), {"accepted": submission.count})
        except RejectedError as error:
            self.outbox.refused(submission.id, str(error))
            raise
        except DeliveryError as error:
            self.outbox.release([submission.id])
            raise DeliveryError(f"{error}. {self._kept()}") from None
        except BaseException:
            self.outbox.release([submission.id])
            raise
        self.outbox.acknowledged(submission.id)

    def _kept(self) -> str:
        if self.outbox.path == ":memory:":
            return "The perturbed answers are kept in memory only: client.resend() sends them while this process lives"
        return (
            f"The perturbed answers are kept in {self.outbox.path}: send them with client.resend() or `deniable resend`, "
            f"and do not submit the same answers again"
        )


@dataclass(frozen=True)
class _Bulk:
    """One call of `submit_many`."""

    client: SurveyClient
    survey: Survey
    source: Rows
    columns: Mapping[str, str] | None
    size: int
    strict: bool

    def run(self, job: Job | None, progress: bool) -> Report:
        done = job.rows if job else 0
        rejected = list(job.rejected) if job else []
        accepted = submissions = 0
        if job:
            self.finish_earlier(job)
            accepted, submissions = done - len({found.row for found in rejected}), job.submissions
        total = self.check(done) if self.strict and self.source.repeatable else self.source.total
        with _bar(total, done, progress) as advance:
            for batch in self.batches(done):
                if self.strict and batch.rejected:
                    raise AnswerError(_listed(batch.rejected, f"{done:,} rows before them are dealt with, and nothing of these was sent"))
                accepted += self.send(batch, job, done)
                submissions += 1 if batch.categories.size else 0
                rejected += batch.rejected
                done += batch.size
                advance(batch.size)
        if job and (left := self.client.outbox.waiting(self.client.url, job)):
            raise DeliveryError(f"{left} submissions of this job are being sent by another process; run the same command again")
        return Report(self.survey.id, self.survey.digest, accepted, submissions, job.rows if job else 0, tuple(rejected))

    def batches(self, skip: int) -> Iterator[Batch]:
        return batches(self.survey, self.source, os_words, columns=self.columns, size=self.size, skip=skip)

    def finish_earlier(self, job: Job) -> None:
        """What an earlier run randomized comes first, what the server turned down included: its rows would be lost otherwise."""
        self.client._each_kept(job, True, self.client._deliver)

    def check(self, skip: int) -> int:
        """Reads all rows before any is sent; returns how many there are."""
        rejected: list[Rejected] = []
        total = skip
        for batch in self.batches(skip):
            rejected += batch.rejected
            total += batch.size
        if rejected:
            raise AnswerError(_listed(rejected, "nothing was sent"))
        return total

    def send(self, batch: Batch, job: Job | None, done: int) -> int:
        outbox, count = self.client.outbox, len(batch.categories.T)
        submission = _perturb(self.survey, batch.categories) if count else None
        if job:
            outbox.advance(self.client.url, self.survey.id, job, batch.size, submission, batch.rejected)
        elif submission:
            outbox.add(self.client.url, self.survey.id, submission)
        if submission:
            try:
                self.client._deliver(self.survey.id, submission)
            except DeliveryError as error:
                raise DeliveryError(f"{error}. {self.where_it_stands(job, done, batch)}") from None
            except RejectedError as error:
                raise RejectedError(error.status, f"{error}. {self.where_it_stands(job, done, batch)}") from None
        return count

    def where_it_stands(self, job: Job | None, done: int, batch: Batch) -> str:
        stand = f"Rows up to {done:,} are dealt with; rows {done + 1:,} to {done + batch.size:,} are randomized and in the outbox"
        return f"{stand}; the same command again goes on from there" if job else f"{stand}; the rows behind them were not touched"


def parse_cap(written: float | str) -> float:
    """A cap on epsilon, a number or `ln x`. Raises ValueError."""
    try:
        cap = float(written)
    except ValueError:
        return parse_epsilon(written)
    if not cap > 0:
        raise ValueError(f"max_epsilon must be a number above 0 or `ln x`, got {written!r}")
    return cap


def parse_link(link: str) -> tuple[str, str, str | None]:
    """The server's address, the survey id and the digest, if any, of a respondent's link. Raises ValueError."""
    parts = urlsplit(link)
    found = _LINK.fullmatch(parts.path)
    digest = parts.fragment.removeprefix("digest=")
    if parts.scheme not in ("http", "https") or not parts.netloc or not found or not SURVEY_ID.fullmatch(found[2]):
        raise ValueError(f"link must look like https://host/s/<survey id>#digest=<digest>, got {link!r}")
    if parts.fragment and not (parts.fragment.startswith("digest=") and _DIGEST.fullmatch(digest)):
        raise ValueError(f"the link's fragment must be digest= and 64 hexadecimal digits, got {parts.fragment!r}")
    return f"{parts.scheme}://{parts.netloc}{found[1]}", found[2], digest or None


def _checked_id(survey_id: str) -> str:
    if not SURVEY_ID.fullmatch(survey_id):
        raise RefusedError(f"survey id must be 1 to 64 of a-z, 0-9, - and _, got {survey_id!r}")
    return survey_id


def _checked_pin(pin: str | Mapping[str, str] | None) -> str | dict[str, str] | None:
    for digest in [pin] if isinstance(pin, str) else (pin or {}).values():
        if not _DIGEST.fullmatch(digest):
            raise ValueError(f"pin must be 64 lower-case hexadecimal digits, got {digest!r}")
    return pin if pin is None or isinstance(pin, str) else dict(pin)


def _encode_one(survey: Survey, answers: Mapping[str, Answer]) -> NDArray[np.int64]:
    """One respondent's categories, shape (items, 1). Raises AnswerError, which lists everything that is wrong."""
    known = {question.id for question in (*survey.questions, *survey.items)}
    names = ", ".join(question.id for question in survey.questions)
    problems = [f"{name}: is no question of survey {survey.id}; its questions are {names}" for name in answers if name not in known]
    stand = list(each_answer(survey, answers))
    taken = [settle(item, places(item, [None if answer is MISSING else answer]), os_words) for item, answer in stand]
    categories = hide(survey, np.array(taken))
    for (item, answer), category in zip(stand, categories[:, 0].tolist(), strict=True):
        if category < 0:
            problems.append(f"{item.id}: is missing" if answer is MISSING else f"{item.id}: the answer must be {allowed(item)}")
    if problems:
        raise AnswerError("\n".join(problems))
    return categories


def _perturb(survey: Survey, categories: NDArray[np.int64]) -> Submission:
    """Tosses all coins for n respondents, whose categories have shape (questions, n). Raises RefusedError without entropy."""
    try:
        order = _shuffle(categories.shape[1])
        asked = draw(survey, categories.shape[1], os_words)
        bits = [randomize(item.channel, column[order], os_words) for item, column in zip(survey.items, categories, strict=True)]
        submission_id = secrets.token_bytes(ID_BYTES)
    except (NotImplementedError, OSError):
        raise RefusedError("the operating system gives no secure random numbers; nothing was sent") from None
    return Submission(submission_id, survey.digest, categories.shape[1], pack(survey, bits, asked))


def _shuffle(n: int) -> NDArray[np.int64]:
    """A uniform permutation of n, by sorting 64-bit keys: two equal ones in 100,000 have a chance under 1 in 10^9."""
    return np.argsort(os_words(2 * n).view("<u8"))


def _listed(rejected: list[Rejected], state: str) -> str:
    shown = "\n".join(str(found) for found in rejected[:_SHOWN])
    more = f"\n… and {len(rejected) - _SHOWN:,} more" if len(rejected) > _SHOWN else ""
    return f"{len({found.row for found in rejected}):,} rows have answers that cannot be sent; {state}\n{shown}{more}"


@contextmanager
def _bar(total: int | None, done: int, wanted: bool) -> Iterator[Callable[[int], None]]:
    if not wanted or total is None:
        yield lambda rows: None
        return
    with click.progressbar(length=total, file=sys.stderr, label="Sending") as bar:
        bar.update(done)
        yield bar.update
