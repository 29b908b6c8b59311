"""Makers of keys and webhooks, and the removal of an account with its webhooks."""

from __future__ import annotations

from dataclasses import dataclass

from deniable_server.store.protocol import Store


@dataclass(frozen=True)
class Remains:
    """Keys and webhooks of a removed account.

    Attributes:
        keys: The names of the account's keys, which still work.
        webhooks: The (survey, id) of its webhooks, which were removed.
    """

    keys: tuple[str, ...]
    webhooks: tuple[tuple[str, str], ...]


def key_makers(store: Store) -> dict[str, str | None]:
    """Returns the account that made each key, by the key's name; None for the command line."""
    makers: dict[str, str | None] = {}
    for entry in store.audit.entries():  # newest first: a name may be given again
        if entry.did.act == "key.make":
            makers.setdefault(entry.did.on, entry.did.who)
    return {key.name: makers.get(key.name) for key in store.accounts.all_keys()}


def webhook_makers(store: Store) -> dict[str, str | None]:
    """Returns the account that made each webhook, by the webhook's id; None for the command line."""
    makers = {entry.did.detail: entry.did.who for entry in store.audit.entries() if entry.did.act == "webhook.make"}
    return {webhook.id: makers.get(webhook.id) for webhook, _ in store.webhooks.all()}


def remove_account(store: Store, name: str) -> Remains | None:
    """Removes an account and the webhooks that it made; keys stay, since programs of other people may use them.

    Returns:
        The account's keys and webhooks, or None if there is no such account.

    Raises:
        LastError: It is the only operator's account, or the only owner's of a survey.
    """
    keys = tuple(key for key, maker in key_makers(store).items() if maker == name)
    makers = webhook_makers(store)
    if not store.accounts.remove_user(name):
        return None
    webhooks = tuple((webhook.survey, webhook.id) for webhook, _ in store.webhooks.all() if makers.get(webhook.id) == name)
    for survey_id, webhook_id in webhooks:
        store.webhooks.remove(survey_id, webhook_id)
    return Remains(keys, webhooks)
