"""What a blueprint says of its audience decides what its replies say, and nothing else does."""

from __future__ import annotations

from dataclasses import replace

import pytest
from flask import Flask

from deniable_server.web.audience import NOBODY, Audience, Routes

RESPONDENTS = Audience(login=False, forms=False, csrf=False, translated=True)
AUDIENCES = {
    **dict.fromkeys(("respondents", "kiosk", "about", "files", "public", "api", "health"), RESPONDENTS),
    **dict.fromkeys(("by_hand", "withdraw"), replace(RESPONDENTS, forms=True)),
    "preview": replace(RESPONDENTS, login=True),
    **dict.fromkeys(("api_document", "metrics"), replace(RESPONDENTS, translated=False)),
    **dict.fromkeys(("auth", "joining", "sso"), Audience(login=False, forms=True, csrf=True, translated=False)),
    **dict.fromkeys(("people", "audit"), Audience(login=True, forms=True, csrf=True, translated=False, operator=True)),
    **dict.fromkeys(
        (
            "account",
            "among",
            "helping",
            "second_factor",
            "data",
            "members",
            "survey_keys",
            "webhooks",
            "copies",
            "ethics",
            "levels",
            "library",
            "studies",
            "tags",
            "researchers",
            "drafting",
            "publishing",
            "inviting",
            "settings",
            "watch",
            "building",
            "guide",
            "sample",
            "sharing",
            "sso_account",
            "teams",
            "translations",
            "trials",
        ),
        Audience(login=True, forms=True, csrf=True, translated=False),
    ),
}
OWN_FORMS, NO_FORMS = "form-action 'self'", "form-action 'none'"


def test_every_blueprint_has_the_audience_that_is_written_here(app: Flask) -> None:
    assert {name: routes.audience for name, routes in app.blueprints.items() if isinstance(routes, Routes)} == AUDIENCES
    assert set(app.blueprints) == set(AUDIENCES)


def test_nobody_gets_in_where_nothing_is_said() -> None:
    assert Audience(login=True, forms=False, csrf=False, translated=True) == NOBODY


@pytest.mark.parametrize(
    ("path", "forms"), [("/s/study", NO_FORMS), ("/s/study/withdraw", OWN_FORMS), ("/login", OWN_FORMS), ("/nothing", NO_FORMS)]
)
def test_only_pages_with_forms_may_send_them(app: Flask, path: str, forms: str) -> None:
    assert app.test_client().get(path).headers["Content-Security-Policy"].endswith(forms)


def test_forms_language_and_cookie_follow_the_audience_that_is_said(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    def told() -> tuple[bool, str | None, bool]:
        reply = app.test_client().get("/login", headers={"Accept-Language": "de"})
        return OWN_FORMS in reply.headers["Content-Security-Policy"], reply.headers["Content-Language"], "Set-Cookie" in reply.headers

    assert told() == (True, "en", True)
    door = app.blueprints["auth"]
    monkeypatch.setattr(door, "audience", RESPONDENTS)
    assert told() == (False, "de", False)
