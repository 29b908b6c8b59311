"""SurveyClient: fetch a survey, check it, randomize answers on this machine, send what came out.

What leaves is a `Submission`; it is in the outbox before its first attempt.
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
from deniable.delivery.credentials import Key, Login
from deniable.delivery.jobs import Bulk, Report, rows_at_once
from deniable.delivery.outbox import Kept, Outbox
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
    checked_pin,
    checked_retries,
    checked_timeout,
    readable,
    readable_by_name,
    redacts,
    seal_of,
    seals,
)
from deniable.sdk.remote_analysis import Collected, check_bundle
from deniable.sdk.session import Receipt, Session, check_named
from deniable.sdk.survey_list import Listed, surveys
from deniable.survey import MAX_DEFINITION, Survey
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
    from deniable.plan import Progress


_LIKE_AN_ID = re.compile(r"[\w. -]{0,64}")
"""What may be an id with a mistake in it; other texts may be a line of answers, or a link with a code."""


@dataclass(frozen=True)
class Resent:
    """What an outbox did when asked to send again: submissions acknowledged now, and those the server turned down."""

    delivered: int
    refused: tuple[Kept, ...]


def _source_of(rows: Any) -> tuple[Rows, str | None]:
    """Returns rows as they are read, and the sheet that was named."""
    return as_rows(rows), rows.sheet if isinstance(rows, File) else None


class SurveyClient:
    """Takes part in the surveys of the server at `url`, for one respondent or for many.

    max_epsilon: refuse a survey whose submission would give away more; a number, or text such as "ln 9". A survey may give away more
        than 8 only if its file says so, and this client takes part only if it is told so too.
    pin: refuse any definition but this one: a digest, or a mapping from survey id to digest, which then must have every survey asked for.
    outbox: the file that keeps perturbed submissions until they are acknowledged (by default in the user's data folder), or ":memory:"
        to keep them no longer than this process. It is opened when it is first needed.
    ledger: the file that keeps, for each person whom `submit` and `submit_many` then must name, the sum of what they gave away, or True
        for the one in the user's data folder.
    person_cap: that sum's cap, as max_epsilon; it needs a ledger.
    auth: a researcher's name and password, for `results`, `analysis` and `bundle` only.
    key: what `deniable-server key make` printed, for submissions of many records, and for these three where there is no auth; nothing
        else carries it.
    timeout: seconds for each wait on the network, above 0 and at most a day.
    retries: further attempts after the first one fails, 0 or more.

    Randomness comes from the operating system, for many answers as a key; there is no seed.

    Raises ValueError where an argument is not as above, where `url` is no address of a server or has a password in it, and where auth or
        a key would travel over plain http to another machine. It names the argument, and quotes neither key nor password.
    Raises RefusedError where the ledger cannot be used, or others than its owner may read it.
    """

    def __init__(
        self,
        url: str,
        *,
        max_epsilon: float | str = HIGH,
        pin: str | Mapping[str, str] | None = None,
        outbox: str | Path | None = None,
        ledger: str | Path | bool = False,
        person_cap: float | str = HIGH,
        auth: tuple[str, str] | None = None,
        key: str | None = None,
        timeout: float = 30.0,
        retries: int = 6,
    ) -> None:
        held, login = Key.of(key), Login.of(auth)
        del key, auth  # from here on no frame shows them
        url, max_epsilon, person_cap, outbox, ledger, timeout, retries = readable(
            url, max_epsilon, person_cap, outbox, ledger, timeout, retries
        )
        pin = readable_by_name(pin, DIGEST)
        self.url = server_address(str(url))
        for credential, called in ((login, "a password"), (held, "a key")):
            if credential:
                refuse_plain_http(url, called)
                credential.check()
        self.survey_id: str | None = None
        self.group: str | None = None
        self.invitation: str | None = None
        self.max_epsilon = checked_cap("max_epsilon", max_epsilon)
        self.person_cap = checked_cap("person_cap", person_cap)
        if self.person_cap != HIGH and not ledger:
            raise ValueError("person_cap needs a ledger: SurveyClient(ledger=True), or the path of one")
        self._pin = checked_pin(pin)
        self._auth = login or held
        self._transport = Transport(self.url, checked_timeout(timeout), checked_retries(retries))
        self._delivery = Delivery(self._transport, checked_file("outbox", outbox), held)
        self._surveys: dict[str, Survey] = {}
        self._ledger = Ledger(None if ledger is True else checked_file("ledger", ledger)) if ledger else None

    @classmethod
    def from_link(cls, link: str, **options: Any) -> Self:
        """A client for the survey behind a respondent's link, `https://host/s/<id>#digest=<hex>&group=<label>&code=<invitation>`.

        The id becomes `survey_id`, and a digest in the link the pin. A group and an invitation become `group` and `invitation`: those
        of submissions to this survey that name no other. Raises ValueError if it is no such link.
        """
        hidden = {"key": Key.of(options.pop("key", None)), "auth": Login.of(options.pop("auth", None))}  # no frame shows them
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
        """Closes connections, the outbox and the ledger, for good: every later call raises RefusedError, those of sessions too."""
        self._transport.close()
        self._delivery.close()
        if self._ledger:
            self._ledger.close()

    @property
    def outbox(self) -> Outbox:
        """The outbox, opened when it is first needed. Raises RefusedError once the client is closed."""
        return self._delivery.outbox

    @redacts()
    def survey(self, which: str | Link | None = None) -> Session:
        """The survey with this id or behind this link, to perturb answers and to send them; by default that of the link of `from_link`.

        Its definition is fetched once, and checked: a published survey never changes. A link must be to this client's server, and its
        digest, group and invitation are taken. Raises RefusedError if the definition is not the canonical one of its declared epsilons,
        differs from the pin or the link's digest, exceeds max_epsilon or is another survey; RejectedError if the server has
        none; DeliveryError if it cannot be reached; ValueError for a wrong link.
        """
        link = self._link(which)
        definition = self._definition(link.survey)
        if link.digest not in (None, definition.digest):
            raise RefusedError(f"survey {link.survey}: the definition must have the link's digest {link.digest}, got {definition.digest}")
        pinned = self.pinned or link.digest is not None
        return Session(definition, self._delivery, self._ledger, self.person_cap, link.group, link.code, pinned)

    def _link(self, which: str | Link | None) -> Link:
        if which is None or which == self.survey_id:
            if self.survey_id is None:
                raise ValueError("survey must be named: this client was made for a server, and not from a link")
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
                f"If the people asked accept that, raise the cap: SurveyClient(max_epsilon=…), or --max-epsilon on the command line"
            )
        return survey

    def _published(self, survey_id: str) -> Survey:
        """The same, however much it gives away: for whoever reads what others sent."""
        self._transport.refuse_closed()
        if _checked_id(survey_id) not in self._surveys:
            survey = Survey.from_definition(self._transport.get(f"/api/v1/surveys/{survey_id}", limit=MAX_DEFINITION))
            self._refuse_another(survey, survey_id)
            self._surveys[survey_id] = survey
        return self._surveys[survey_id]

    @property
    def pinned(self) -> bool:
        """Whether the surveys' digests are named by the caller or the link, and any other definition is refused."""
        return self._pin is not None

    def _refuse_another(self, survey: Survey, survey_id: str) -> None:
        if survey.id != survey_id:
            raise RefusedError(f"survey {survey_id}: the definition must be that survey's, got that of {survey.id}")
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

        group: one of the survey's groups, if it has any; it travels openly. invitation: the code, where the survey takes them, as written.
        person: the key of whose answers they are, the same in every survey. It stays here; the ledger is charged before anything is sent.

        Call it once a respondent: answers that are randomized again are less private. After a DeliveryError the outbox has the
        perturbed answers, and `resend` sends them. Raises AnswerError, which lists all that is wrong and
        quotes no answer and no unknown key; RefusedError, above person_cap too; RejectedError, DeliveryError. No frame of theirs has an
        answer. ValueError if a person is named without a ledger, or the other way round.
        """
        check_named("person", person is not None, self._ledger)
        session = self.survey(survey_id)
        unsent = session.keep(seal_of(answers), session.public(group, invitation), person)
        del answers, person  # from here on no frame has them
        return session.send(unsent)

    def _public(self, survey_id: str, group: str | None, invitation: str | None, group_column: str | None = None) -> Public:
        """What the caller names, else what the link had for this survey."""
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
    ) -> Report:
        """Randomizes and sends many respondents' answers, a row each.

        rows: an iterable of mappings, a DataFrame, or a file: CSV with a header, or JSON lines (.jsonl). Other columns are left
        alone. columns: the column of a question, where it is not the question's id. batch: rows a request at most, by default as many
        as make half a megabyte.
        progress: show a bar on a terminal. on_invalid: "raise" checks all rows first and sends nothing if one is wrong
        (a stream that cannot be read twice is checked batch by batch); "skip" leaves wrong rows out and reports them.

        group: the public label of all rows, where the survey has groups; or group_column: the column that names each row's, which
        must not be that of a question. Rows of different groups travel in different submissions; a row with an unknown
        group is a wrong row. invitation: where the survey takes codes, that of the only row.

        person_column: the column with each person's key, where the client keeps a ledger, which is charged before anything is sent. A
        row whose person would come above person_cap is a wrong row (a RefusedError with "raise"); one person may have several rows.

        job: a name for this input. Progress is kept under it, so that after a failure, or a kill, the same call goes on
        behind the last row that was randomized. A file has one without asking, its path, and is refused once its time has
        changed. An input without a name must not be submitted twice. A copy of a file, or the same under another name, is another input,
        and is sent in full once more.

        row_key: the column with a public identifier of each row, such as a staff number, by which rows are recognised instead: each
        is randomized and counted once, whatever file it comes in, and files may change. Two rows with one key are wrong rows. The
        outbox keeps hashes of the identifiers, and beside it their key.

        Many records in one submission need the client's `key`. Without one, and with more than one row, this raises RefusedError before
        anything is randomized; `batch=1` sends each row by itself, which needs none and is slower.

        Raises ValueError where another argument is not as above. AnswerError naming rows, questions and rules, never answers; RefusedError,
        RejectedError, DeliveryError.
        """
        size = None if batch is None else checked_batch(batch)
        check_columns(columns, group_column=group_column, person_column=person_column, row_key=row_key, job=job)
        check_on_invalid(on_invalid)
        if group is not None and group_column is not None:
            raise ValueError("group and group_column must not both be given: the label of all rows, or the column that names each row's")
        if row_key is not None and (job is not None or invitation is not None):
            raise ValueError("row_key must not be given with job, whose part it takes, or with invitation, which counts once anyway")
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
            self._refuse_another_way(survey.id, source.name, row_key)
        begun = None
        try:
            if row_key is not None:
                begun = self.outbox.begin(self.url, survey.id, BY_ROW_KEY, survey.digest, "", f"rows by the column {row_key}")
            else:
                which = _which_answers(public, sheet, columns, person_column)
                begun = self.outbox.begin(self.url, survey.id, str(name), survey.digest, mark, which)
            return bulk.run(begun, progress)
        finally:
            if begun:
                self.outbox.end(begun)

    def _refuse_another_way(self, survey_id: str, name: str | None, row_key: str | None) -> None:
        """Rows that went by their place in a file are not recognised by their keys, nor the other way round: they would be sent again."""
        if row_key is not None and name is not None and (rows := self.outbox.begun(self.url, survey_id, name)):
            raise RefusedError(
                f"row_key must be left out for {name}: {rows:,} rows of it were dealt with by their place, and would be sent again"
            )
        if row_key is None and (rows := self.outbox.begun(self.url, survey_id, BY_ROW_KEY)):
            raise RefusedError(
                f"row_key must be given: {rows:,} rows of survey {survey_id} were sent by theirs, and would be sent again; "
                f"or give a job name of your own, if none of these rows is among them"
            )

    def _account(self, survey: Survey, column: str | None, strict: bool, job: tuple[str, str] | None) -> Account | None:
        if not self._ledger or column is None:
            return None
        name = None if job is None else self._ledger.job(self.url, survey.digest, *job, column)
        return Account(self._ledger, Use(survey.digest, survey.epsilon), self.person_cap, column, strict, name)

    @redacts()
    def resend(self, *, refused: bool = False) -> Resent:
        """Sends what waits in the outbox for this server, the very bytes of the first attempt.

        refused: also what the server turned down before. Raises DeliveryError once an attempt fails; the rest keeps waiting.
        """
        delivered = 0

        def send(survey_id: str, submission: Submission) -> None:
            nonlocal delivered
            with suppress(RejectedError):  # it is in the list below
                self._delivery.send(survey_id, submission)
                delivered += 1

        self._delivery.each_kept(None, refused, send)
        return Resent(delivered, tuple(self.outbox.turned_down(self.url)))

    @redacts("code")
    def withdraw(self, survey_id: str, code: str) -> None:
        """Erases the submission that this code belongs to, as `Receipt.code` or the survey's page showed it; closed surveys too.

        The server takes it out of its counts, and does not say whether it had it. Raises ValueError for a mistyped code;
        RejectedError, DeliveryError.
        """
        secret = access_codes.read(code)  # first: one that stands in the id's place is not quoted
        self._delivery.withdraw(_checked_id(survey_id), secret)

    def surveys(self) -> Iterator[Listed]:
        """The surveys of this server that `auth` or the key may see, by id; fetched page by page, as they are wanted.

        Raises RejectedError (401 for a wrong name or password), DeliveryError.
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
        """The survey's estimates with their intervals; needs `auth`, or a key with the scope results, and the [estimate] extra.

        group: of this group only. by_hand: of those who answered with real coins, who are in no other results.
        The rest: as in `estimate`.

        Raises MissingExtraError without that extra, RejectedError (401 for a wrong name or password), DeliveryError.
        """
        from deniable.estimate import Results

        params = {"confidence": confidence, "method": method, "target": target, **_part(group, by_hand)}
        raw = self._transport.get(f"/api/v1/surveys/{_checked_id(survey_id)}/results", params, self._auth)
        try:
            return Results.from_dict(strict_json(raw))
        except (ValueError, EstimateError):
            raise DeliveryError(f"{self.url} answered with something that is no results; is it the right address?") from None

    @redacts()
    def progress(self, survey_id: str) -> Progress:
        """How far a survey is, how it grew, and what is wrong with it; for whoever may have its results. Raises as `results` does."""
        from deniable.plan import Progress

        raw = self._transport.get(f"/api/v1/surveys/{_checked_id(survey_id)}/progress", {}, self._auth)
        try:
            return Progress.from_dict(strict_json(raw))
        except (ValueError, EstimateError):
            raise DeliveryError(f"{self.url} answered with something that is no progress; is it the right address?") from None

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
        """All that `analyse` can do, on a survey that a server keeps: its tally; with `reports` the perturbed records, too.

        Tables of more than two questions and regressions need the records, and those `auth` or a key with the scope reports; all else is
        computed from the tally, for which the scope results is enough. group, by_hand: as in `results`, whose figures
        these are, to the last digit. sample: how people were drawn; the tally of each group is fetched for it, so it takes neither group
        nor by_hand nor reports. The rest: as in `analyse`. The survey may give away more than max_epsilon.

        Raises MissingExtraError without the [estimate] extra, EstimateError, RefusedError where the survey is not the pinned
        one, RejectedError (401 or 403 without the right to it), DeliveryError.
        """
        import deniable.estimate  # noqa: F401 - what is missing shows before anything is fetched

        collected = Collected(self._transport, self._auth, self._published(survey_id), _part(group, by_hand))
        interval: dict[str, Any] = {"confidence": confidence, "method": method, "target": target, "simultaneous": simultaneous}
        if sample is None:
            return collected.analysis(reports, **interval)
        if group is not None or by_hand or reports:
            raise EstimateError("a sample takes neither group nor by_hand nor reports: it is of the tallies of all groups")
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
        """Writes all that a survey has to download and to publish to a zip: perturbed rows, codebook, figures, scripts, report.

        only: one of its files instead, such as rows.sav. licence: what the files say that others may do with them: cc-by-4.0, cc0-1.0 or
        none. Needs `auth` or a key with the scope reports. The server makes it; a file that is there is replaced when all has come, and is
        a bundle of this survey. most_bytes: of the file; 4 GiB unless you take more.

        Raises RefusedError where the survey is not the pinned one, RejectedError (400 for another file or licence, 401 or 403 without the
        right to it), DeliveryError; OSError as `open` does.
        """
        survey, target = self._published(survey_id), Path(path)
        name = "" if only is None else f"/{quote(only)}"
        with NamedTemporaryFile(dir=target.parent, prefix=f".{target.name}-", delete=False) as made:
            try:
                self._transport.save(f"/api/v1/surveys/{survey.id}/bundle{name}", {"licence": licence}, self._auth, made, most_bytes)
                made.flush()
                if only is None:
                    check_bundle(made, survey, self.url)
                os.replace(made.name, target)
            except BaseException:
                os.unlink(made.name)
                raise


def _part(group: str | None, by_hand: bool) -> dict[str, str | int]:
    """Which records are asked for, as the server takes it."""
    return {**({} if group is None else {"group": group}), **({"by_hand": 1} if by_hand else {})}


def _which_answers(public: Public, sheet: str | None, columns: Mapping[str, str] | None, person_column: str | None) -> str:
    """What of an input a job sends, in words: with another group, sheet or columns it is not the same job."""
    read = ", ".join(f"{question} from {column}" for question, column in sorted((columns or {}).items()) if question != column)
    persons = person_column and f"persons from the column {person_column}"
    parts = [str(public), sheet and f"sheet {sheet}", read and f"columns {read}", persons]
    return ", ".join(filter(None, parts))


def _checked_id(survey_id: Any) -> str:
    if isinstance(survey_id, str) and SURVEY_ID.fullmatch(survey_id):
        return survey_id
    long = isinstance(survey_id, str) and not _LIKE_AN_ID.fullmatch(survey_id)
    told = f"{len(survey_id):,} characters" if long else repr(*readable(survey_id))
    raise RefusedError(f"survey id must be 1 to 64 of a-z, 0-9, - and _, got {told}")
