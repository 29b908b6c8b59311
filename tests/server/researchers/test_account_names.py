"""Nobody can make an account whose name looks like that of another one."""

from __future__ import annotations

import html
import re

import pytest
from flask import Flask
from tests.kit.servers.process import PASSWORD

from deniable_server.identity import account_links
from deniable_server.identity.passwords import set_password
from deniable_server.store.protocol import Store

TWINS = {
    "Cyrillic": "\u0430da",
    "capital": "Ada",
    "space behind": "ada ",
    "apart": "zo\u0308e",
    "hidden": "ad\u200ba",
    "variation": "ada\ufe0f",
    "no-break space": "ada\u00a0l",
}


@pytest.mark.parametrize("name", TWINS.values(), ids=TWINS)
def test_a_name_that_looks_like_another_one_is_refused_by_command_and_on_the_page(app: Flask, store: Store, name: str) -> None:
    with pytest.raises(ValueError, match="the name must"):
        set_password(store.accounts, name, PASSWORD)
    link = account_links.make(store, "", operator=False)
    browser = app.test_client()
    path = f"/join/{link.rpartition('/')[2]}"
    token = html.unescape(re.findall(r'name="csrf_token"[^>]*value="([^"]+)"', browser.get(path).text)[0])
    reply = browser.post(path, data={"csrf_token": token, "user": name, "password": PASSWORD, "again": PASSWORD, "repeated": PASSWORD})
    assert reply.status_code == 422
    assert store.accounts.users() == ["ada"]


def test_other_names_are_taken_and_who_has_an_account_may_change_the_password(app: Flask, store: Store) -> None:
    for name in ("bob", "Zo\u00eb", "Ольга", "أحمد", "李明", "bob"):
        set_password(store.accounts, name, PASSWORD)
    assert len(store.accounts.users()) == 6
