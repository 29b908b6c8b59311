"""Storage implementations on one database: the parts of a `Store` that are the same for SQLite and PostgreSQL."""

from __future__ import annotations

from typing import Generic, TypeVar

from deniable_server.store.sql import move_marks
from deniable_server.store.sql.accounts import SqlAccounts
from deniable_server.store.sql.audit import SqlAudit
from deniable_server.store.sql.database import SqlDatabase
from deniable_server.store.sql.draft_roles import SqlDraftRoles
from deniable_server.store.sql.drafts import SqlDrafts
from deniable_server.store.sql.factors import SqlFactors
from deniable_server.store.sql.identities import SqlIdentities
from deniable_server.store.sql.invitations import SqlInvitations
from deniable_server.store.sql.life import SqlLife
from deniable_server.store.sql.people import SqlPeople
from deniable_server.store.sql.roles import SqlRoles
from deniable_server.store.sql.saved_questions import SqlSavedQuestions
from deniable_server.store.sql.studies import SqlStudies
from deniable_server.store.sql.submissions import SqlSubmissions
from deniable_server.store.sql.surveys import SqlSurveys
from deniable_server.store.sql.tags import SqlTags
from deniable_server.store.sql.teams import SqlTeams
from deniable_server.store.sql.webhooks import SqlWebhooks

D = TypeVar("D", bound=SqlDatabase)


class SqlStore(Generic[D]):
    """A `Store` without `backup`, `trouble` and `count_servers`, which differ between databases."""

    def __init__(self, database: D) -> None:
        self.database = database
        self.surveys = SqlSurveys(database)
        self.invitations = SqlInvitations(database)
        self.submissions = SqlSubmissions(database, self.invitations)
        self.accounts = SqlAccounts(database)
        self.people = SqlPeople(database)
        self.roles = SqlRoles(database)
        self.factors = SqlFactors(database)
        self.audit = SqlAudit(database)
        self.life = SqlLife(database)
        self.drafts = SqlDrafts(database)
        self.saved_questions = SqlSavedQuestions(database)
        self.studies = SqlStudies(database)
        self.tags = SqlTags(database)
        self.draft_roles = SqlDraftRoles(database)
        self.teams = SqlTeams(database)
        self.identities = SqlIdentities(database)
        self.webhooks = SqlWebhooks(database)

    def moved_to(self) -> str | None:
        """Returns the name of the database that replaces this one since a move, or None."""
        with self.database.reading() as connection:
            mark = move_marks.find(connection)
        return mark.other if mark else None

    def rewrite(self) -> None:
        """Rewrites the database."""
        self.database.rewrite()

    def tidy(self) -> None:
        """Commits nothing: after a commit, the writer removes the traces of the order of earlier ones."""
        self.database.writer.run(lambda connection: None)

    def close(self) -> None:
        """Closes the database."""
        self.database.close()
