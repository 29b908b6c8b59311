"""`SurveyClient`: fetches a survey, checks it, randomizes answers on this machine and sends the result.

Only a `Submission` leaves this machine; it is in the outbox before its first attempt.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self
from urllib.parse import quote

from deniable.delivery.account import Account
from deniable.delivery.credentials import BearerKey, Login
from deniable.delivery.jobs import Bulk, SubmissionReport, rows_at_once
from deniable.delivery.outbox import Outbox, RefusedSubmission
from deniable.delivery.row_keys import BY_ROW_KEY, RowKeys
from deniable.delivery.sender import Delivery
from deniable.delivery.transport import MAX_FILE, Transport, refuse_plain_http
from deniable.device.perturb import perturb_one
from deniable.device.sources import as_rows
from deniable.device.sources.file import File
from deniable.device.sources.rows import Rows
from deniable.errors import DeliveryError, EstimateError, RefusedError, RejectedError
from deniable.privacy.ledger import Ledger, Use
from deniable.sdk.arguments import (
    check_columns,
    check_on_invalid,
    checked_batch,
    checked_cap,
    checked_file,
    checked_floor,
    checked_pin,
    checked_retries,
    checked_timeout,
    readable,
    readable_by_name,
    redacts,
    seal_of,
    seals,
)
from deniable.sdk.remote_analysis import RemoteRecords, check_bundle
from deniable.sdk.session import Receipt, SurveySession, check_named
from deniable.sdk.survey_list import SurveySummary, surveys
from deniable.survey import MAX_DEFINITION, Survey
from deniable.survey.content import BATCH
from deniable.survey.document import strict_json
from deniable.survey.parse import SURVEY_ID
from deniable.survey.total import HIGH, within
from deniable.survey.types.base import Answer
from deniable.wire import access_codes
from deniable.wire.link import DIGEST, Link, server_address
from deniable.wire.part import Mode
from deniable.wire.public import Public
from deniable.wire.submission import Submission

if TYPE_CHECKING:
    from deniable.estimate import Analysis, Results
    from deniable.estimate.samples.sample import Sample
    from deniable.plan.progress import Progress


_LIKE_AN_ID = re.compile(r"[\w. -]{0,64}")
"""Texts that a message may quote as a mistyped id; others may be a line of answers, or a link with a code."""


@dataclass(frozen=True)
class ResendResult:
    """Result of sending the outbox again: how many submissions were acknowledged, and those that the server rejected."""

    delivered: int
    refused: tuple[RefusedSubmission, ...]


def _source_of(rows: Any) -> tuple[Rows, str | None]:
    """Returns the row source of an argument, and the name of its sheet if there is one."""
    return as_rows(rows), rows.sheet if isinstance(rows, File) else None


class SurveyClient:
    """Client of the server at `url`: takes part in its surveys for one respondent or for many, and reads results.

    Randomness comes from the operating system, for many answers as a key; there is no seed.

    Args:
        url: The server's address.
        max_epsilon: The largest privacy loss of one submission; a number, or text such as "ln 9". A survey may have more than 8 only if
            its file allows it, and this client takes part only if this cap does too.
        min_batch: The fewest records that a server may show together: no submission to a survey with a smaller `batch`.
        min_group: The same for a survey with groups, whose records are shown by group from `batch` records on.
        pin: Refuse any definition but this one: a digest, or a mapping from survey id to digest, which then must have every survey used.
        outbox: The file that keeps perturbed submissions until they are acknowledged (by default in the user's data folder), or ":memory:"
            to keep them only in this process. It is opened when it is first needed.
        ledger: The file that keeps the total privacy loss of each person, or True for the one in the user's data folder. Then `submit`
            and `submit_many` must name the person.
        person_cap: The cap on that total, like max_epsilon; it needs a ledger.
        auth: A researcher's name and password, for `results`, `analysis` and `bundle` only.
        key: An API key printed by `deniable-server key make`, for submissions of many records, and for these three methods if there is no
            auth; it is sent with no other request.
        timeout: Seconds for each wait on the network, above 0 and at most a day.
        retries: Further attempts after the first one fails, 0 or more.

    Raises:
        ValueError: An argument is not as above, `url` is not the address of a server or has a password in it, or auth or a key would travel
            over plain http to another machine. The message names the argument, and quotes neither key nor password.
        RefusedError: The ledger cannot be used, or others than its owner may read it.
    """

    def __init__(
        self,
        url: str,
        *,
        max_epsilon: float | str = HIGH,
        min_batch: int = BATCH,
        min_group: int = BATCH,
        pin: str | Mapping[str, str] | None = None,
        outbox: str | Path | None = None,
        ledger: str | Path | bool = False,
        person_cap: float | str = HIGH,
        auth: tuple[str, str] | None = None,
        key: str | None = None,
        timeout: float = 30.0,
        retries: int = 6,
    ) -> None:
        api_key, login = BearerKey.of(key), Login.of(auth)
        del key, auth  # no frame shows them after this
        url, max_epsilon, min_batch, min_group, person_cap, outbox, ledger, timeout, retries = readable(
            url, max_epsilon, min_batch, min_group, person_cap, outbox, ledger, timeout, retries
        )
        pin = readable_by_name(pin, DIGEST)
        self.url = server_address(str(url))
        for credential, called in ((login, "a password"), (api_key, "a key")):
            if credential:
                refuse_plain_http(url, called)
                credential.check()
        self.survey_id: str | None = None
        self.group: str | None = None
        self.invitation: str | None = None
        self.max_epsilon = checked_cap("max_epsilon", max_epsilon)
        self.min_batch = checked_floor("min_batch", min_batch)
        self.min_group = checked_floor("min_group", min_group)
        self.person_cap = checked_cap("person_cap", person_cap)
        if self.person_cap != HIGH and not ledger:
            raise ValueError("person_cap needs a ledger: SurveyClient(ledger=True), or the path of one")
        self._pin = checked_pin(pin)
        self._auth = login or api_key
        self._transport = Transport(self.url, checked_timeout(timeout), checked_retries(retries))
        self._delivery = Delivery(self._transport, checked_file("outbox", outbox), api_key)
        self._surveys: dict[str, Survey] = {}
        self._ledger = Ledger(None if ledger is True else checked_file("ledger", ledger)) if ledger else None

    @classmethod
    def from_link(cls, link: str, **options: Any) -> Self:
        """Returns a client for the survey of a respondent's link.

        A link is `https://host/s/<id>#digest=<hex>&group=<label>&code=<invitation>`. The id becomes `survey_id`, and its digest the pin.
        Its group and invitation become the default `group` and `invitation` of submissions to this survey.

        Args:
            link: The link.
            options: Arguments of `SurveyClient`.

        Raises:
            ValueError: It is not such a link, or `pin` differs from its digest.
        """
        hidden = {"key": BearerKey.of(options.pop("key", None)), "auth": Login.of(options.pop("auth", None))}  # no frame shows them
        pin = readable_by_name(options.pop("pin", None), DIGEST)
        options = dict(zip(options, readable(*options.values()), strict=True)) | hidden
        link = str(*readable(link))
        read = Link.parse(link)
        if read.digest and pin is not None and checked_pin(pin) not in (read.digest, {read.survey: read.digest}):
            raise ValueError("pin must be the digest that the link carries, got another one")
        client = cls(read.url, pin=read.digest or pin, **options)
        client.survey_id, client.group, client.invitation = read.survey, read.group, read.code
        return client

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Closes connections, the outbox and the ledger for good: every later call raises RefusedError, sessions included."""
        self._transport.close()
        self._delivery.close()
        if self._ledger:
            self._ledger.close()

    @property
    def outbox(self) -> Outbox:
        """The outbox, opened when it is first needed. Raises RefusedError once the client is closed."""
        return self._delivery.outbox

    @redacts()
    def survey(self, which: str | Link | None = None) -> SurveySession:
        """Returns a session for one survey, to perturb answers and to send them.

        The definition is fetched once and checked: a published survey never changes. A link must lead to this client's server; its digest,
        group and invitation are used.

        Args:
            which: The id or the link of a survey; by default the survey of `from_link`.

        Raises:
            RefusedError: The definition is not the canonical one of its declared epsilons, differs from the pin or the link's digest,
                exceeds max_epsilon or belongs to another survey.
            RejectedError: The server has no such survey.
            DeliveryError: The server could not be reached.
            ValueError: The link is wrong.
        """
        link = self._link(which)
        definition = self._definition(link.survey)
        if link.digest not in (None, definition.digest):
            raise RefusedError(f"survey {link.survey}: the definition must have the link's digest {link.digest}, got {definition.digest}")
        pinned = self.pinned or link.digest is not None
        return SurveySession(definition, self._delivery, self._ledger, self.person_cap, link.group, link.code, pinned)

    def _link(self, which: str | Link | None) -> Link:
        if which is None or which == self.survey_id:
            if self.survey_id is None:
                raise ValueError("survey must be named: this client was created for a server, not from a link")
            return Link(self.url, self.survey_id, None, self.group, self.invitation)
        link = Link.parse(which) if isinstance(which, str) and "/s/" in which else which
        if not isinstance(link, Link):
            return Link(self.url, link)
        if link.url != self.url:
            raise ValueError(f"link must be to {self.url}, got one to {link.url}")
        return link

    def _definition(self, survey_id: str) -> Survey:
        survey = self._published(survey_id)
        if not within(survey.epsilon, self.max_epsilon):
            raise RefusedError(
                f"survey {survey_id}: epsilon must be at most {self.max_epsilon:.12g}, got {survey.epsilon}. "
                f"If the respondents accept that, raise the cap: SurveyClient(max_epsilon=…), or --max-epsilon on the command line"
            )
        for name, floor in (("min_batch", self.min_batch), *([("min_group", self.min_group)] if survey.groups else [])):
            if survey.batch < floor:
                option = f"--{name.replace('_', '-')}"
                raise RefusedError(
                    f"survey {survey_id}: batch must be at least {floor}, got {survey.batch}: so few records may be shown together. "
                    f"If the respondents accept that, lower the floor: SurveyClient({name}=…), or {option} on the command line"
                )
        return survey

    def _published(self, survey_id: str) -> Survey:
        """Returns a survey whatever its epsilon: for reading what others sent."""
        self._transport.refuse_closed()
        if _checked_id(survey_id) not in self._surveys:
            survey = Survey.from_definition(self._transport.get(f"/api/v1/surveys/{survey_id}", limit=MAX_DEFINITION))
            self._check_definition(survey, survey_id)
            self._surveys[survey_id] = survey
        return self._surveys[survey_id]

    @property
    def pinned(self) -> bool:
        """Whether the caller or the link has named the digests, so that any other definition is refused."""
        return self._pin is not None

    def _check_definition(self, survey: Survey, survey_id: str) -> None:
        if survey.id != survey_id:
            raise RefusedError(f"survey {survey_id}: the definition must be that survey's, got survey {survey.id}")
        if self._pin is not None:
            pin = self._pin if isinstance(self._pin, str) else self._pin.get(survey_id)
            if pin is None:
                raise RefusedError(f"survey {survey_id}: pin must have a digest for each survey, got none for this one")
            if survey.digest != pin:
                raise RefusedError(f"survey {survey_id}: the definition must have the pinned digest {pin}, got {survey.digest}")

    @seals("answers", perturb_one)
    def submit(
        self,
        survey_id: str,
        answers: Mapping[str, Answer],
        *,
        group: str | None = None,
        invitation: str | None = None,
        person: str | int | None = None,
    ) -> Receipt:
        """Randomizes and sends one respondent's answers, by question id.

        Call it once for each respondent: answers that are randomized again are less private. After a DeliveryError the outbox has the
        perturbed answers, and `resend` sends them. No frame of an error has an answer.

        Args:
            survey_id: The id of the survey.
            answers: The answers, by question id.
            group: One of the survey's groups, if it has any; it is sent openly.
            invitation: The code as written, if the survey takes invitations.
            person: The key of the person, the same in every survey. It stays here; the ledger is charged before anything is sent.

        Raises:
            AnswerError: Answers are invalid; it lists every problem, and quotes no answer and no unknown key.
            RefusedError: The survey or the person's total is above its cap, or as for `survey`.
            RejectedError: The server rejected the submission.
            DeliveryError: The server could not be reached.
            ValueError: A person is named without a ledger, or the other way round.
        """
        check_named("person", person is not None, self._ledger)
        session = self.survey(survey_id)
        public = session.public(group, invitation)
        session.exchange(public)
        unsent = session.keep(seal_of(answers), public, person)
        del answers, person  # no frame has them after this
        return session.send(unsent)

    def _public(self, survey_id: str, group: str | None, invitation: str | None, group_column: str | None = None) -> Public:
        """Returns the group and the invitation that the caller names, or else the link's, for its survey."""
        if survey_id == self.survey_id:
            group, invitation = self.group if group is None else group, self.invitation if invitation is None else invitation
        mode: Mode = "device" if self._delivery.key is None else "organisation"
        return Public(None if group_column is not None else group, group_column, invitation, mode)

    @seals("rows", _source_of, texts=("columns",))
    def submit_many(
        self,
        survey_id: str,
        rows: Any,
        *,
        group: str | None = None,
        group_column: str | None = None,
        invitation: str | None = None,
        person_column: str | None = None,
        job: str | None = None,
        row_key: str | None = None,
        columns: Mapping[str, str] | None = None,
        batch: int | None = None,
        progress: bool = False,
        on_invalid: Literal["raise", "skip"] = "raise",
    ) -> SubmissionReport:
        """Randomizes and sends many respondents' answers, one respondent a row.

        Many records in one submission need the client's `key`. Without one, and with more than one row, this raises RefusedError before
        anything is randomized; `batch=1` sends each row by itself, which needs no key and is slower.

        Args:
            survey_id: The id of the survey.
            rows: An iterable of mappings, a DataFrame, or a file: CSV with a header, or JSON lines (.jsonl). Other columns are ignored.
            group: The public label of all rows, if the survey has groups.
            group_column: The column with each row's group instead; it must not be the column of a question. Rows of different groups are
                sent in different submissions; a row with an unknown group is invalid.
            invitation: The code of the only row, if the survey takes invitations.
            person_column: The column with each person's key, if the client keeps a ledger, which is charged before anything is sent. A row
                whose person would exceed person_cap is invalid (a RefusedError with "raise"); a person may have several rows.
            job: A name for this input. Progress is saved under it, so that after a failure the same call resumes behind the last randomized
                row. A file has its path as its name, and is refused once its modification time has changed. An input without a name must
                not be submitted twice. A copy of a file, or the same file under another name, is another input and is sent again in full.
            row_key: The column with a public identifier of each row, such as a staff number, which identifies rows instead: each is
                randomized and counted once, whichever file it comes in, and files may change. Two rows with one key are invalid. The outbox
                keeps hashes of the identifiers, and beside it their key.
            columns: The column of a question, if it is not named by the question's id.
            batch: Most rows of a request; by default as many as make half a megabyte.
            progress: Show a progress bar on a terminal.
            on_invalid: "raise" checks all rows first and sends nothing if one is invalid (a stream that cannot be read twice is checked
                batch by batch); "skip" leaves invalid rows out and reports them.

        Raises:
            ValueError: Another argument is not as above.
            AnswerError: Rows are invalid; it names rows, questions and rules, never answers.
            RefusedError: As for `submit`, or the input has changed.
            RejectedError: The server rejected a submission.
            DeliveryError: The server could not be reached.
        """
        size = None if batch is None else checked_batch(batch)
        check_columns(columns, group_column=group_column, person_column=person_column, row_key=row_key, job=job)
        check_on_invalid(on_invalid)
        if group is not None and group_column is not None:
            raise ValueError("name either group, the label of all rows, or group_column, the column with each row's label, got both")
        if row_key is not None and (job is not None or invitation is not None):
            raise ValueError("row_key must not be combined with job, which it replaces, or with invitation, which already counts once")
        check_named("person_column", person_column is not None, self._ledger)
        survey = self._definition(survey_id)
        public = self._public(survey_id, group, invitation, group_column)
        public.check(survey)
        source, sheet = seal_of(rows)()
        name, mark = (job, "") if job is not None else (source.name, source.mark)
        strict = on_invalid == "raise"
        account = self._account(survey, person_column, strict, None if name is None else (name, mark))
        row_keys = None if row_key is None else RowKeys(self.outbox, self.url, survey.id, row_key)
        bulk = Bulk(self._delivery, survey, source, public, columns, size or rows_at_once(survey), strict, self.pinned, account, row_keys)
        if name is None and row_key is None:
            return bulk.run(None, progress)
        if job is None:
            self._refuse_other_identity(survey.id, source.name, row_key)
        begun = None
        try:
            if row_key is not None:
                begun = self.outbox.begin(self.url, survey.id, BY_ROW_KEY, survey.digest, "", f"rows by the column {row_key}")
            else:
                which = _job_description(public, sheet, columns, person_column)
                begun = self.outbox.begin(self.url, survey.id, str(name), survey.digest, mark, which)
            return bulk.run(begun, progress)
        finally:
            if begun:
                self.outbox.end(begun)

    def _refuse_other_identity(self, survey_id: str, name: str | None, row_key: str | None) -> None:
        """Refuses to identify rows by key that were identified by position, or the reverse: they would be sent again."""
        if row_key is not None and name is not None and (rows := self.outbox.processed_rows(self.url, survey_id, name)):
            raise RefusedError(
                f"row_key must be left out for {name}: {rows:,} of its rows were processed by their position, and would be sent again"
            )
        if row_key is None and (rows := self.outbox.processed_rows(self.url, survey_id, BY_ROW_KEY)):
            raise RefusedError(
                f"row_key must be named: {rows:,} rows of survey {survey_id} were sent by their keys, and would be sent again; "
                f"or choose a job name, if none of these rows is among them"
            )

    def _account(self, survey: Survey, column: str | None, strict: bool, job: tuple[str, str] | None) -> Account | None:
        if not self._ledger or column is None:
            return None
        name = None if job is None else self._ledger.job(self.url, survey.digest, *job, column)
        return Account(self._ledger, Use(survey.digest, survey.epsilon), self.person_cap, column, strict, name)

    @redacts()
    def resend(self, *, refused: bool = False) -> ResendResult:
        """Sends the submissions in the outbox for this server, with the same bytes as the first attempt.

        Args:
            refused: Whether to send again what the server rejected before.

        Raises:
            DeliveryError: An attempt failed; the rest stays in the outbox.
        """
        delivered = 0

        def send(survey_id: str, submission: Submission) -> None:
            nonlocal delivered
            with suppress(RejectedError):  # listed below
                self._delivery.send(survey_id, submission)
                delivered += 1

        self._delivery.resend(None, refused, send)
        return ResendResult(delivered, tuple(self.outbox.refused_submissions(self.url)))

    @redacts("code")
    def withdraw(self, survey_id: str, code: str) -> None:
        """Erases the submission of a withdrawal code, from `Receipt.code` or the survey's page; also in a closed survey.

        The server removes it from its counts, and does not say whether it had it.

        Raises:
            ValueError: The code is mistyped.
            RejectedError: The server rejected the request.
            DeliveryError: The server could not be reached.
        """
        secret = access_codes.read(code)  # first, so that a code passed as the id is not quoted
        self._delivery.withdraw(_checked_id(survey_id), secret)

    def surveys(self) -> Iterator[SurveySummary]:
        """Returns the surveys of this server that `auth` or the key may see, by id, fetched page by page as needed.

        Raises:
            RejectedError: 401 for a wrong name or password.
            DeliveryError: The server could not be reached.
        """
        return surveys(self._transport, self._auth)

    @redacts()
    def results(
        self,
        survey_id: str,
        *,
        group: str | None = None,
        by_hand: bool = False,
        confidence: float = 0.95,
        method: str = "feldman-cousins",
        target: str = "population",
    ) -> Results:
        """Returns the survey's estimates with their intervals.

        It needs the [estimate] extra, and `auth` or a key with the scope results.

        Args:
            survey_id: The id of the survey.
            group: Only this group.
            by_hand: Only respondents who answered with real coins, who are in no other results.
            confidence: As in `estimate`.
            method: As in `estimate`.
            target: As in `estimate`.

        Raises:
            MissingExtraError: The extra is not installed.
            RejectedError: 401 for a wrong name or password.
            DeliveryError: The server could not be reached.
        """
        from deniable.estimate import Results

        params = {"confidence": confidence, "method": method, "target": target, **_records_query(group, by_hand)}
        raw = self._transport.get(f"/api/v1/surveys/{_checked_id(survey_id)}/results", params, self._auth)
        try:
            return Results.from_dict(strict_json(raw))
        except (ValueError, EstimateError):
            raise DeliveryError(f"{self.url} answered with something other than results; is it the right address?") from None

    @redacts()
    def progress(self, survey_id: str) -> Progress:
        """Returns a survey's progress: its counts, growth and warnings. Needs the same access, and raises the same, as `results`."""
        from deniable.plan.progress import Progress

        raw = self._transport.get(f"/api/v1/surveys/{_checked_id(survey_id)}/progress", {}, self._auth)
        try:
            return Progress.from_dict(strict_json(raw))
        except (ValueError, EstimateError):
            raise DeliveryError(f"{self.url} answered with something other than progress; is it the right address?") from None

    @redacts()
    def analysis(
        self,
        survey_id: str,
        *,
        group: str | None = None,
        by_hand: bool = False,
        reports: bool = False,
        confidence: float = 0.95,
        method: str = "feldman-cousins",
        target: str = "population",
        simultaneous: bool = False,
        sample: Sample | None = None,
    ) -> Analysis:
        """Returns the `Analysis` of a survey on the server: its tally and, with `reports`, its perturbed records.

        Tables of more than two questions and regressions need the records, which take `auth` or a key with the scope reports; the rest
        is computed from the tally, which takes the scope results. The figures equal `results` to the last digit. The survey's epsilon
        may exceed max_epsilon.

        Args:
            survey_id: The id of the survey.
            group: Only this group.
            by_hand: Only respondents who answered with real coins.
            reports: Fetch the perturbed records too.
            confidence: As in `analyse`.
            method: As in `analyse`.
            target: As in `analyse`.
            simultaneous: As in `analyse`.
            sample: The sampling design. The tally of each group is fetched for it, so it takes neither group nor by_hand nor reports.

        Raises:
            MissingExtraError: The [estimate] extra is not installed.
            EstimateError: The interval or the sample is not as above.
            RefusedError: The survey is not the pinned one.
            RejectedError: 401 or 403 without the access.
            DeliveryError: The server could not be reached.
        """
        import deniable.estimate  # noqa: F401 - a missing extra raises before anything is fetched

        collected = RemoteRecords(self._transport, self._auth, self._published(survey_id), _records_query(group, by_hand))
        interval: dict[str, Any] = {"confidence": confidence, "method": method, "target": target, "simultaneous": simultaneous}
        if sample is None:
            return collected.analysis(reports, **interval)
        if group is not None or by_hand or reports:
            raise EstimateError("a sample takes neither group nor by_hand nor reports: it uses the tallies of all groups")
        return collected.sample(sample, **interval)

    @redacts()
    def bundle(
        self,
        survey_id: str,
        path: str | Path,
        *,
        only: str | None = None,
        licence: str = "cc-by-4.0",
        most_bytes: int = MAX_FILE,
    ) -> None:
        """Writes a survey's publication bundle to a zip: perturbed rows, codebook, figures, scripts, report.

        It needs `auth` or a key with the scope reports. An existing file is replaced only by a complete bundle of this survey.

        Args:
            survey_id: The id of the survey.
            path: The file to write.
            only: One of the bundle's files instead, such as rows.sav.
            licence: The licence that the files state: cc-by-4.0, cc0-1.0 or none.
            most_bytes: The largest file to accept, 4 GiB by default.

        Raises:
            RefusedError: The survey is not the pinned one.
            RejectedError: 400 for another file or licence, 401 or 403 without the access.
            DeliveryError: The server could not be reached.
            OSError: As `open` raises it.
        """
        survey, target = self._published(survey_id), Path(path)
        name = "" if only is None else f"/{quote(only)}"
        with NamedTemporaryFile(dir=target.parent, prefix=f".{target.name}-", delete=False) as partial:
            try:
                self._transport.save(f"/api/v1/surveys/{survey.id}/bundle{name}", {"licence": licence}, self._auth, partial, most_bytes)
                partial.flush()
                if only is None:
                    check_bundle(partial, survey, self.url)
                os.replace(partial.name, target)
            except BaseException:
                os.unlink(partial.name)
                raise


def _records_query(group: str | None, by_hand: bool) -> dict[str, str | int]:
    """Returns the server's query parameters for a group, or for records made by hand."""
    return {**({} if group is None else {"group": group}), **({"by_hand": 1} if by_hand else {})}


def _job_description(public: Public, sheet: str | None, columns: Mapping[str, str] | None, person_column: str | None) -> str:
    """Returns a description of the part of its input that a job reads: with another group, sheet or columns it is another job."""
    mapped = ", ".join(f"{question} from {column}" for question, column in sorted((columns or {}).items()) if question != column)
    persons = person_column and f"persons from the column {person_column}"
    parts = [str(public), sheet and f"sheet {sheet}", mapped and f"columns {mapped}", persons]
    return ", ".join(filter(None, parts))


def _checked_id(survey_id: Any) -> str:
    """Returns a valid survey id. Raises RefusedError otherwise."""
    if isinstance(survey_id, str) and SURVEY_ID.fullmatch(survey_id):
        return survey_id
    long = isinstance(survey_id, str) and not _LIKE_AN_ID.fullmatch(survey_id)
    description = f"{len(survey_id):,} characters" if long else repr(*readable(survey_id))
    raise RefusedError(f"survey id must be 1 to 64 of a-z, 0-9, - and _, got {description}")
