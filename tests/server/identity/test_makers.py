"""What an account made is shown with its name, and does not outlive it unseen."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from click.testing import CliRunner
from flask import Flask
from flask.testing import FlaskClient
from tests.kit.servers.process import PASSWORD

from deniable_server.access import api_keys
from deniable_server.api import webhooks
from deniable_server.identity.makers import Remains, key_makers, remove_account, webhook_makers
from deniable_server.identity.passwords import set_password
from deniable_server.operate.cli import main
from deniable_server.store.audit import acting
from deniable_server.store.protocol import Store


def made_by(store: Store, user: str) -> str:
    set_password(store.accounts, user, PASSWORD)
    with acting(user):
        api_keys.make(store, f"key of {user}", ["reports"], "study")
        return webhooks.make(store, "study", "https://example.org/in", ["survey.closed"])[0].id


def test_who_made_a_key_or_a_webhook_is_shown_to_owners(app: Flask, store: Store, logged_in: Callable[..., FlaskClient]) -> None:
    webhook = made_by(store, "eve")
    api_keys.make(store, "by command", ["reports"], "study")
    assert key_makers(store) == {"key of eve": "eve", "by command": None}
    assert webhook_makers(store) == {webhook: "eve"}
    for page in ("keys", "webhooks"):
        assert "by <bdi>eve</bdi>" in logged_in(app).get(f"/manage/surveys/study/{page}").text, page


def test_the_webhooks_of_an_account_end_with_it_and_its_keys_are_named(app: Flask, store: Store) -> None:
    webhook, other = made_by(store, "eve"), made_by(store, "bob")
    assert remove_account(store, "eve") == Remains(("key of eve",), (("study", webhook),))
    assert [one.id for one in store.webhooks.of_survey("study")] == [other]
    assert remove_account(store, "eve") is None


def test_the_command_says_what_goes_on(tmp_path: Path, app: Flask, store: Store) -> None:
    webhook = made_by(store, "eve")
    told = CliRunner().invoke(main, ["user", "remove", "eve", "--db", str(tmp_path / "deniable.db")]).output
    assert f"The webhook {webhook} of study, which eve made, is removed." in told
    assert "The key key of eve, which eve made, still works" in told
