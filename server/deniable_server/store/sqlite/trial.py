"""Store of trials: a small temporary SQLite file; accounts, teams, drafts and roles are the server's."""

from __future__ import annotations

from pathlib import Path

from deniable_server.store.protocol import Store
from deniable_server.store.roles import Roles
from deniable_server.store.sql.trials import ImmediateReleaser, TrialSubmissions, TrialSurveys
from deniable_server.store.sqlite.file import SqliteFile
from deniable_server.store.sqlite.store import SqliteStore


class TrialFile(SqliteFile):
    """The database file of a trial."""

    releaser = ImmediateReleaser


class TrialStore(SqliteStore):
    """A `Store` of trials in the file at `path`.

    Args:
        path: The file, in a folder that is deleted with the trial. Its key is beside it.
        main: The server's store, which has the accounts, the teams and the drafts.
        roles: The roles in the trials.
        writing: False for a process that only reads.
    """

    def __init__(self, path: Path, main: Store, roles: Roles, *, writing: bool = True) -> None:
        super().__init__(path, path.with_name(path.name + ".key"), writing=writing)
        self.surveys = TrialSurveys(self.database)
        self.submissions = TrialSubmissions(self.database, self.invitations, lambda: path.stat().st_size if path.exists() else 0)
        shared = ("accounts", "people", "factors", "identities", "teams", "drafts", "draft_roles")
        vars(self).update({name: getattr(main, name) for name in shared}, roles=roles)

    @classmethod
    def _file(cls, path: Path, key: Path) -> SqliteFile:
        return TrialFile(path, key)
