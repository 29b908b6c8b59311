"""Submissions leave the outbox for the server, and stay in it until the server has said what became of them."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from deniable.delivery.credentials import ApiKey
from deniable.delivery.outbox import Job, Outbox, default_path
from deniable.delivery.per_process import PerProcess
from deniable.delivery.transport import Transport
from deniable.errors import DeliveryError, RefusedError, RejectedError
from deniable.privacy.private_files import MEMORY
from deniable.wire import access_codes
from deniable.wire.submission import Submission


class Delivery:
    """Sends to the server of `transport`; the outbox is in the file at `path`, and opened when it is first needed.

    key: goes with submissions of many records and of an organisation, and with no other.
    """

    def __init__(self, transport: Transport, path: str | Path | None, key: ApiKey | None = None) -> None:
        self.url = transport.url
        self.key = key
        self._transport = transport
        self._path = path
        self._outbox = PerProcess(lambda: Outbox(path))

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
        if outbox := self._outbox.given_up():
            outbox.close()

    def send(self, survey_id: str, submission: Submission) -> None:
        """Sends a submission that the outbox has, until the server acknowledges it or says no."""
        key = self.key if submission.count > 1 or submission.mode == "organisation" else None
        try:
            self._transport.post(f"/api/v1/surveys/{survey_id}/submissions", submission.to_json(), {"accepted": submission.count}, key)
        except RejectedError as error:
            self.outbox.refused(submission.id, str(error))
            raise
        except DeliveryError as error:
            self.outbox.release([submission.id])
            raise DeliveryError(f"{error}. {self._kept()}") from None
        except BaseException:
            self.outbox.release([submission.id])
            raise
        with suppress(
            DeliveryError, RefusedError
        ):  # a full disk, or a client that was closed meanwhile: it is counted all the same, and once however often it is sent
            self.outbox.acknowledged(submission.id)

    def send_all(self, survey_id: str, submissions: Iterable[Submission]) -> None:
        """Sends several, and gives back those that it did not come to."""
        left = list(submissions)
        try:
            while left:
                self.send(survey_id, left[0])
                left.pop(0)
        finally:
            self.outbox.release(submission.id for submission in left)

    def each_kept(self, job: Job | None, refused: bool, send: Callable[[str, Submission], None]) -> None:
        """Calls `send` for what the outbox keeps and nobody alive is sending, and gives back what it did not come to."""
        claimed = self.outbox.claim(self.url, job, refused)
        try:
            while claimed:
                if kept := self.outbox.load(claimed[-1]):
                    send(*kept)
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

    def _kept(self) -> str:
        if self.outbox.path == MEMORY:
            return "The perturbed answers are kept in memory only: client.resend() sends them while this process lives"
        return (
            f"The perturbed answers are kept in {self.outbox.path}: send them with client.resend() or `deniable resend`, "
            f"and do not submit the same answers again"
        )
