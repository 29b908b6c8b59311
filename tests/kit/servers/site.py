"""A running server, and what a study does with it: publish, invite, collect, look at the results."""

from __future__ import annotations

import contextlib
import secrets
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
from tests.kit.patience import PATIENCE
from tests.kit.servers.process import PASSWORD, USER, ServerProcess
from tests.kit.servers.tallies import tally_of

from deniable.device.entropy import os_words
from deniable.device.randomize import randomize
from deniable.survey import Survey
from deniable.wire import access_codes
from deniable.wire.record import pack
from deniable.wire.submission import Submission
from deniable.wire.tally import Tally
from deniable_server.config import key_file
from deniable_server.store import open_store
from deniable_server.store.protocol import Store


class Site:
    """A running `deniable-server serve` with a database of its own."""

    def __init__(self, folder: Path) -> None:
        self.server = ServerProcess(folder)
        self.server.start()
        self.url = self.server.url

    def publish(self, **keys: Any) -> Survey:
        """Publishes a survey of these keys; what is left out is filled in, and what is None is left out."""
        keys = {
            "deniable": 1,
            "batch": 1,
            "accept_small_batches": True,
            "title": "A study",
            "about": "Who asks, and why.",
            "epsilon": "ln 9",
            **keys,
        }
        survey = Survey.from_dict({key: value for key, value in keys.items() if value is not None})
        return self.server.publish(survey)

    def invite(self, survey: Survey) -> str:
        """A new invitation, as it is written."""
        secret = secrets.token_bytes(access_codes.SECRET_BYTES)
        with self.server.store() as store:
            store.invitations.add(survey.id, [access_codes.invitation_hash(survey.id, secret)])
        return access_codes.format_code(secret)

    def spend(self, survey: Survey, code: str) -> None:
        """Uses an invitation up, as somebody else's device would."""
        record = pack(survey, [randomize(item.channel, np.zeros(1, dtype=np.int64), os_words) for item in survey.items])
        with self.server.store() as store:
            store.submissions.add(
                survey.id, Submission(os_words(4).tobytes(), survey.digest, 1, record, invitation=access_codes.read(code))
            )

    @contextlib.contextmanager
    def released(self, *surveys: Survey) -> Iterator[Store]:
        """A copy of the database in which these surveys are closed, so that everything that waits for its release is counted.

        The surveys of the server itself stay as they are. Each must have batch 1, or records of a batch of people.
        """
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / "copy.db"
            with self.server.store() as store:
                store.backup(copy)
            shutil.copy(key_file(self.server.db), key_file(copy))
            with contextlib.closing(open_store(copy)) as store:
                for survey in surveys:
                    store.surveys.set_open(survey.id, False)
                yield store

    def tally(self, survey: Survey, **part: Any) -> Tally:
        """The tally of everything that has arrived."""
        with self.released(survey) as store:
            return tally_of(store, survey.id, **part)

    def count(self, survey: Survey) -> int:
        """How many records have arrived, without those made by hand."""
        return self.tally(survey).n

    def close_survey(self, survey: Survey) -> None:
        with self.server.store() as store:
            store.surveys.set_open(survey.id, False)

    def link(self, survey: Survey) -> str:
        return f"{self.url}/s/{survey.id}#digest={survey.digest}"

    def send(self, submission: Submission, survey: Survey) -> None:
        """Sends a submission of any number of records."""
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self.server.key}"}
        url = f"{self.url}/api/v1/surveys/{survey.id}/submissions"
        httpx.post(url, content=submission.to_json(), headers=headers, timeout=PATIENCE).raise_for_status()

    def results(self, survey: Survey) -> dict[str, Any]:
        """The results of the records that are released."""
        reply = httpx.get(f"{self.url}/api/v1/surveys/{survey.id}/results", auth=(USER, PASSWORD), timeout=PATIENCE)
        return dict(reply.raise_for_status().json())

    def reports(self, survey: Survey) -> list[bytes]:
        """The records of each submission that has arrived."""
        with self.released(survey) as store, contextlib.closing(sqlite3.connect(store.database.path)) as db:  # type: ignore[attr-defined]
            return [row[0] for row in db.execute("SELECT reports FROM submissions WHERE survey = ?", [survey.id])]

    def close(self) -> None:
        """Ends the server in order."""
        self.server.stop()
        self.server.close()
