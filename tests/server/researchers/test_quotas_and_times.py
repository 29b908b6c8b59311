"""Opening, closing and quotas on the pages: entered in a time zone, shown to respondents in their language."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from flask import Flask
from flask.testing import FlaskClient

from deniable.survey import Survey
from deniable_server.store.life import Settings
from deniable_server.store.protocol import Store

GIVEN = {"points": "10", "least": "1"}
SETTINGS = "/manage/surveys/grouped/settings"


@pytest.fixture
def ada(app: Flask, store: Store, logged_in: Callable[[Flask], FlaskClient]) -> FlaskClient:
    question = {"id": "q", "text": "?", "type": "yes_no", "epsilon": 2}
    keys = {"deniable": 1, "id": "grouped", "title": "T", "about": "A.", "groups": ["North", "South"], "questions": [question]}
    store.surveys.publish(Survey.from_dict(keys))
    app.config["WTF_CSRF_ENABLED"] = False
    return logged_in(app)


def test_times_are_saved_in_utc_and_shown_in_their_zone(ada: FlaskClient, store: Store) -> None:
    times = {"opens_at": "2999-01-11T09:00", "closes_at": "2999-07-31T18:00", "zone": "Europe/Berlin"}
    assert ada.post(SETTINGS, data={**GIVEN, **times}).status_code == 302
    settings = store.life.settings("grouped")
    assert (settings.opens_at, settings.closes_at, settings.zone) == ("2999-01-11T08:00Z", "2999-07-31T16:00Z", "Europe/Berlin")
    page = ada.get(SETTINGS).text
    assert 'value="2999-01-11T09:00"' in page
    assert 'value="2999-07-31T18:00"' in page
    assert '<option selected value="Europe/Berlin">' in page


def test_old_names_of_zones_are_not_offered_and_a_stored_one_stays(ada: FlaskClient, store: Store) -> None:
    page = ada.get(SETTINGS).text
    assert ('value="US/Eastern"' in page, 'value="America/New_York"' in page, 'value="UTC"' in page) == (False, True, True)
    assert ada.post(SETTINGS, data={**GIVEN, "zone": "US/Eastern"}).status_code == 422
    store.life.keep("grouped", Settings(opens_at="2999-01-11T14:00Z", zone="US/Eastern"))
    assert '<option selected value="US/Eastern">' in ada.get(SETTINGS).text
    assert ada.post(SETTINGS, data={**GIVEN, "opens_at": "2999-01-11T10:00", "zone": "US/Eastern"}).status_code == 302


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"closes_at": "2020-01-01T09:00"}, "Enter a time in the future."),
        ({"opens_at": "2999-02-01T09:00", "closes_at": "2999-01-01T09:00"}, "Enter a time after the opening."),
        ({"closes_at": "2999-01-01T09:00", "close_on": "2999-01-01"}, "Enter a last day or a closing time, not both."),
        ({"opens_at": "2037-03-29T02:30", "zone": "Europe/Berlin"}, "Enter a time that occurs in this zone"),
    ],
)
def test_times_that_break_a_rule_are_refused_beside_their_field(
    ada: FlaskClient, store: Store, fields: dict[str, str], message: str
) -> None:
    reply = ada.post(SETTINGS, data={**GIVEN, **fields})
    assert reply.status_code == 422
    assert message in reply.text
    assert store.life.settings("grouped") == Settings()


@pytest.mark.parametrize(
    ("language", "heading", "time"),
    [
        ("en", "This survey is not open yet", "Friday, January 11, 2999 at 9:00"),
        ("de", "Diese Umfrage hat noch nicht begonnen", "Freitag, 11. Januar 2999 um 09:00"),
        ("ar", "لم يُفتح هذا الاستبيان بعد", "2999"),
    ],
)
def test_before_the_opening_the_page_names_the_time_and_nothing_is_accepted(
    ada: FlaskClient, store: Store, language: str, heading: str, time: str
) -> None:
    store.life.keep("grouped", Settings(opens_at="2999-01-11T08:00Z", zone="Europe/Berlin"))
    page = ada.get(f"/s/grouped?lang={language}").text
    assert heading in page
    assert time in " ".join(page.split()).replace("\u202f", " ")
    assert "Europe/Berlin" in page
    assert 'id="questions"' not in page
    assert ada.get("/manage/surveys/grouped/watch").text.count("It opens at 2999-01-11 09:00 (Europe/Berlin).") == 1


def test_quotas_are_set_and_raised_on_the_page_and_full_groups_are_public(ada: FlaskClient, store: Store) -> None:
    address = "/manage/surveys/grouped/quotas"
    assert "Saved." in ada.post(address, data={"quota-0": "20", "quota-1": ""}, follow_redirects=True).text
    assert store.life.quotas("grouped") == {"North": 20}
    assert "must not be lowered" in ada.post(address, data={"quota-0": "10"}, follow_redirects=True).text
    assert "multiple of 10" in ada.post(address, data={"quota-1": "15"}, follow_redirects=True).text
    assert store.life.quotas("grouped") == {"North": 20}
    assert ada.get("/api/v1/surveys/grouped/groups").json == {"full": []}
