"""Reference server for `deniable verify`: this release with a single survey, whose replies every unmodified server gives.

`deniable verify` loads it by an entry point, because the library must not import the server.
"""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from deniable.survey import Survey
from deniable_server import Config, create_app
from deniable_server.store import open_store


class Reference:
    """A server for `survey`, as if reached at `url`. It does not listen, and its database is deleted when it is closed."""

    def __init__(self, survey: Survey, url: str) -> None:
        self._survey = survey
        self._folder = tempfile.TemporaryDirectory(prefix="deniable-reference-")
        db = Path(self._folder.name) / "reference.db"
        self._store = open_store(db)
        self._store.surveys.publish(survey, with_key=False)
        self._url = url
        self._client = create_app(Config(db, secrets.token_hex(32), url), self._store).test_client()

    @property
    def state(self) -> str:
        """The survey's state."""
        published = self._store.surveys.published(self._survey.id)
        return published.state

    @state.setter
    def state(self, state: str) -> None:
        self._store.surveys.set_open(self._survey.id, state != "closed")
        if state == "paused":
            self._store.surveys.pause(self._survey.id, True)

    def reply(self, method: str, path: str, headers: Sequence[tuple[str, str]], body: bytes) -> tuple[int, Mapping[str, str], bytes]:
        """Returns status, headers and body of a reply, not compressed."""
        forwarded = [(name, value) for name, value in headers if name not in ("Accept-Encoding", "Connection")]
        reply = self._client.open(path, method=method, headers=forwarded, data=body, base_url=self._url)
        return reply.status_code, dict(reply.headers), reply.data

    def close(self) -> None:
        """Deletes the database."""
        self._store.close()
        self._folder.cleanup()
