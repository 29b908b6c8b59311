"""Delivery with retry: submissions are sent from the outbox, and stay in it until the server accepts or rejects them."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from deniable.delivery.credentials import BearerKey
from deniable.delivery.outbox import Job, Outbox, default_path
from deniable.delivery.per_process import PerProcess
from deniable.delivery.tokens import TokenExchange
from deniable.delivery.transport import Transport
from deniable.errors import DeliveryError, RefusedError, RejectedError
from deniable.privacy.private_files import MEMORY
from deniable.wire import access_codes
from deniable.wire.submission import Submission


class Delivery:
    """Sends submissions to a server, from an outbox that is opened when it is first needed.

    Args:
        transport: The connection to the server.
        path: The file of the outbox.
        key: The API key, sent only with submissions of many records or of an organisation.
    """

    def __init__(self, transport: Transport, path: str | Path | None, key: BearerKey | None = None) -> None:
        self.url = transport.url
        self.key = key
        self._transport = transport
        self._path = path
        self._outbox = PerProcess(lambda: Outbox(path))
        self.tokens = TokenExchange(transport, lambda: self.outbox)

    @property
    def outbox(self) -> Outbox:
        """The outbox. Raises RefusedError once the client is closed."""
        self.refuse_closed()
        return self._outbox.get()

    def refuse_closed(self) -> None:
        """Raises RefusedError once the client is closed."""
        self._transport.refuse_closed()

    def close(self) -> None:
        """Closes the outbox."""
        if outbox := self._outbox.detach():
            outbox.close()

    def send(self, survey_id: str, submission: Submission) -> None:
        """Sends a submission of the outbox until the server accepts or rejects it. Exchanges its invitation code first, if it has one."""
        key = self.key if submission.count > 1 or submission.mode == "organisation" else None
        try:
            submission = self._with_token(survey_id, submission)
            self._transport.post(f"/api/v1/surveys/{survey_id}/submissions", submission.to_json(), {"accepted": submission.count}, key)
        except RejectedError as error:
            self.outbox.mark_refused(submission.id, str(error))
            raise
        except DeliveryError as error:
            self.outbox.release([submission.id])
            raise DeliveryError(f"{error}. {self._next_steps()}") from None
        except BaseException:
            self.outbox.release([submission.id])
            raise
        # a full disk or a closed client must not turn success into an error: sent again, the submission is counted once
        with suppress(DeliveryError, RefusedError):
            self.outbox.remove(submission.id)

    def _with_token(self, survey_id: str, submission: Submission) -> Submission:
        """Returns a submission with the token of its invitation code in place of the code.

        Raises:
            RefusedError: The server's signature is not by the survey's key, or the outbox has the submission no more.
        """
        if submission.invitation is None:
            return submission
        if token := self.tokens.token(survey_id, submission.invitation):
            self.outbox.tokens.put_in(submission.id, token)
            return replace(submission, invitation=None, token=token)
        stored = self.outbox.load(submission.id)
        if stored is None or stored[1].token is None:
            raise RefusedError("the submission must be in the outbox with its invitation; it was sent or withdrawn before")
        return stored[1]

    def send_all(self, survey_id: str, submissions: Iterable[Submission]) -> None:
        """Sends several submissions, and releases the unsent ones after an error."""
        unsent = list(submissions)
        try:
            while unsent:
                self.send(survey_id, unsent[0])
                unsent.pop(0)
        finally:
            self.outbox.release(submission.id for submission in unsent)

    def resend(self, job: Job | None, refused: bool, send: Callable[[str, Submission], None]) -> None:
        """Calls `send` for submissions of the outbox that no live process sends, and releases the rest after an error."""
        claimed = self.outbox.claim(self.url, job, refused)
        try:
            while claimed:
                if stored := self.outbox.load(claimed[-1]):
                    send(*stored)
                claimed.pop()
        finally:
            self.outbox.release(claimed)

    def withdraw(self, survey_id: str, secret: bytes) -> None:
        """Erases a submission here and on the server, which does not say whether it had one."""
        self.refuse_closed()
        if self._path == MEMORY or Path(self._path or default_path()).exists():
            self.outbox.remove(access_codes.submission_id(secret))
        body = b'{"code":"%s"}' % base64.urlsafe_b64encode(secret)  # 15 bytes need no padding
        self._transport.post(f"/api/v1/surveys/{survey_id}/withdrawals", body, {"withdrawn": True})

    def _next_steps(self) -> str:
        """Returns where the perturbed answers are, and how to send them."""
        if self.outbox.path == MEMORY:
            return "The perturbed answers are kept in memory only: client.resend() sends them while this process lives"
        return (
            f"The perturbed answers are kept in {self.outbox.path}: send them with client.resend() or `deniable resend`, "
            f"and do not submit the same answers again"
        )
