"""Damaged link repair: what mail programs and messengers make of an address leads to its page; what is none of that is not found."""

from __future__ import annotations

import pytest
from flask.testing import FlaskClient

from deniable_server.respondents.damaged_links import repaired

DIGEST = "ab" * 32


@pytest.mark.parametrize("page", ["", "/by-hand", "/definition", "/kiosk", "/withdraw"])
@pytest.mark.parametrize("damage", ["{}/", "{}.", "{})", "{},", "{}>", "{};", "{} ", "{}/.", "{}”"])
def test_what_stands_at_the_end_of_an_address_is_dropped(client: FlaskClient, page: str, damage: str) -> None:
    reply = client.get("/s/" + damage.format(f"study{page}"))
    assert (reply.status_code, reply.headers["Location"]) == (302, f"/s/study{page}")
    assert client.get(f"/s/study{page}").status_code in (200, 404)  # a survey that coins cannot answer


@pytest.mark.parametrize(
    ("address", "meant"),
    [
        (f"/s/study%23digest={DIGEST}", f"/s/study#digest={DIGEST}"),
        (f"/s/study%23digest%3D{DIGEST}%26group%3DNorth%20West", f"/s/study#digest={DIGEST}&group=North%20West"),
        (f"/s/study/%23digest={DIGEST}", f"/s/study#digest={DIGEST}"),
        (f"/s/STUDY%23DIGEST={DIGEST}", f"/s/study#DIGEST={DIGEST}"),
        ("/s/Study", "/s/study"),
        ("/s//study", "/s/study"),
        ("/s/study/?lang=de", "/s/study?lang=de"),
        (f"/s/study%23digest={DIGEST}?lang=de", f"/s/study?lang=de#digest={DIGEST}"),
    ],
)
def test_an_address_that_was_encoded_or_written_otherwise_leads_to_its_page(client: FlaskClient, address: str, meant: str) -> None:
    reply = client.get(address)
    assert reply.status_code in (302, 308)
    assert reply.headers["Location"].removeprefix("http://localhost") == meant
    assert client.get(meant.partition("#")[0]).status_code == 200


@pytest.mark.parametrize(
    "path", ["/s/", "/s/none", "/s/none/", "/s/study/none", "/s/study/withdraw/more", "/s/-", "/s/..%2Fmanage", "/s/%2F%2Fevil.test/"]
)
@pytest.mark.parametrize("language", ["en", "de"])
def test_what_is_no_damaged_address_is_not_found_in_the_readers_language_alone(client: FlaskClient, path: str, language: str) -> None:
    reply = client.get(f"{path}?lang={language}", follow_redirects=True)
    assert reply.status_code == 404
    assert ("Nicht gefunden" if language == "de" else "Not found") in reply.text
    assert "requested URL" not in reply.text
    assert "is published here" not in reply.text


@pytest.mark.parametrize("rest", ["//evil.test", "/\\evil.test", "http://evil.test", "study\nX: y", "study#a\nX: y"])
def test_no_repair_leads_to_another_server_or_writes_a_header(rest: str) -> None:
    address = repaired(rest) or "/s/"
    assert address.startswith("/s/")
    assert "\n" not in address
    assert "evil" not in address
