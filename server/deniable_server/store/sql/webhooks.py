"""Webhooks and their waiting messages in SQL."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from deniable_server.store.audit import doing
from deniable_server.store.errors import ConflictError
from deniable_server.store.sql.audit import append
from deniable_server.store.sql.connection import Connection
from deniable_server.store.sql.database import SqlDatabase
from deniable_server.store.sql.published import require
from deniable_server.store.webhooks import MOST, Message, ReceiverState, Webhook

_COLUMNS = "id, survey, url, events, made_on, failing_since"


class SqlWebhooks:
    """Implements `Webhooks`."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    def add(self, webhook: Webhook, secret: bytes, receiver: ReceiverState) -> None:
        """Stores a webhook and its encrypted secret, if the survey has fewer than MOST."""
        did = doing("webhook.make", webhook.survey, webhook.id)
        sealed = self._database.seal.close(secret, _context(webhook.id))
        row = [webhook.id, webhook.survey, webhook.url, " ".join(webhook.events), webhook.made_on, webhook.failing_since, sealed]

        def work(connection: Connection) -> None:
            require(connection, webhook.survey)
            (count,) = connection.execute("SELECT count(*) FROM webhooks WHERE survey = ?", [webhook.survey]).fetchone()
            if count >= MOST:
                raise ConflictError(f"a survey must have at most {MOST} webhooks: remove one first")
            insert = f"INSERT INTO webhooks ({_COLUMNS}, sealed, is_open, reached, n) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"  # noqa: S608
            connection.execute(insert, [*row, *_row(receiver)])
            append(connection, did)

        self._database.writer.run(work)

    def of_survey(self, survey_id: str) -> list[Webhook]:
        """Returns the webhooks of a survey, sorted by id."""
        return [webhook for webhook, _ in self.all() if webhook.survey == survey_id]

    def all(self) -> list[tuple[Webhook, ReceiverState]]:
        """Returns all webhooks, each with its receiver's state."""
        query = f"SELECT {_COLUMNS}, is_open, reached, n FROM webhooks ORDER BY id"  # noqa: S608 - our own constant
        with self._database.reading() as connection:
            rows = connection.execute(query).fetchall()
        return [(_webhook(row[:6]), ReceiverState(bool(row[6]), bool(row[7]), row[8])) for row in rows]

    def secret(self, webhook_id: str) -> bytes | None:
        """Returns the secret of a webhook, decrypted."""
        with self._database.reading() as connection:
            row = connection.execute("SELECT sealed FROM webhooks WHERE id = ?", [webhook_id]).fetchone()
        return None if row is None else self._database.seal.open(bytes(row[0]), _context(webhook_id))

    def remove(self, survey_id: str, webhook_id: str) -> bool:
        """Deletes a webhook and its queued messages."""
        did = doing("webhook.remove", survey_id, webhook_id)

        def work(connection: Connection) -> bool:
            if not connection.execute("DELETE FROM webhooks WHERE id = ? AND survey = ?", [webhook_id, survey_id]).rowcount:
                return False
            connection.execute("DELETE FROM messages WHERE webhook = ?", [webhook_id])
            append(connection, did)
            return True

        return self._database.writer.run(work)

    def queue(self, webhook_id: str, before: ReceiverState, now: ReceiverState, messages: Sequence[Message]) -> bool:
        """Queues messages, if the receiver's state is still `before`."""
        update = "UPDATE webhooks SET is_open = ?, reached = ?, n = ? WHERE id = ? AND is_open = ? AND reached = ? AND n = ?"
        rows = [[each.id, webhook_id, each.body, each.tries, each.due] for each in messages]

        def work(connection: Connection) -> bool:
            if not connection.execute(update, [*_row(now), webhook_id, *_row(before)]).rowcount:
                return False
            connection.executemany("INSERT INTO messages (id, webhook, body, tries, due) VALUES (?, ?, ?, ?, ?)", rows)
            return True

        return self._database.writer.run(work)

    def waiting(self) -> list[Message]:
        """Returns all queued messages, the first due first."""
        with self._database.reading() as connection:
            rows = connection.execute("SELECT id, webhook, body, tries, due FROM messages ORDER BY due, id").fetchall()
        return [Message(*row) for row in rows]

    def attempt(self, message: Message, due: int) -> bool:
        """Reserves a message for one attempt."""
        update = "UPDATE messages SET tries = tries + 1, due = ? WHERE id = ? AND tries = ?"
        values = [due, message.id, message.tries]
        return self._database.writer.run(lambda connection: connection.execute(update, values).rowcount > 0)

    def settle(self, message: Message, *, arrived: bool, last: bool, day: str) -> None:
        """Deletes a finished message, and updates the day since which deliveries fail."""

        def work(connection: Connection) -> None:
            if arrived or last:
                connection.execute("DELETE FROM messages WHERE id = ?", [message.id])
            since = None if arrived else day
            note = "UPDATE webhooks SET failing_since = CASE WHEN ? = 1 THEN NULL ELSE coalesce(failing_since, ?) END WHERE id = ?"
            connection.execute(note, [int(arrived), since, message.webhook])

        self._database.writer.run(work)


def _row(receiver: ReceiverState) -> list[int]:
    return [int(receiver.is_open), int(receiver.reached), receiver.n]


def _webhook(row: Sequence[Any]) -> Webhook:
    webhook_id, survey, url, events, made_on, failing_since = row
    return Webhook(webhook_id, survey, url, tuple(events.split()), made_on, failing_since)


def _context(webhook_id: str) -> str:
    """Returns the text that the encryption of a webhook's secret is bound to."""
    return f"webhook {webhook_id}"
