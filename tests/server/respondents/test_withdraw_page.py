"""The page that erases a record: it catches slips of the pen, and tells nobody whether there was a record."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable

import pytest
from flask.testing import FlaskClient
from tests.kit.servers.release import release_people
from tests.kit.servers.tallies import recount_of, tally_of

from deniable.survey import Survey
from deniable.wire import access_codes
from deniable.wire.submission import Submission
from deniable_server.store.errors import FullError, StoreError, UnavailableError
from deniable_server.store.protocol import Store

Make = Callable[..., Submission]
URL = "/s/study/withdraw"
DONE = "If a record was kept under this code, it is erased now. If it is erased before records are shown, it never shows in the results."


@pytest.fixture(params=["waiting", "released"])
def code(request: pytest.FixtureRequest, store: Store, submissions: Make) -> str:
    """The withdrawal code of a record that is stored with four others: all of them wait for their release, or were released."""
    secret = secrets.token_bytes(15)
    store.submissions.add("study", submissions(1, id_=access_codes.submission_id(secret)))
    for _ in range(4):
        store.submissions.add("study", submissions())
    if request.param == "released":
        assert release_people(store) == ["study"]
    return access_codes.format_code(secret)


def remaining(store: Store) -> int:
    """Returns how many records are left after the next release."""
    release_people(store)
    assert tally_of(store, "study").to_bytes() == recount_of(store, "study").to_bytes()
    return tally_of(store, "study").n


def test_a_code_erases_its_record_and_no_other(client: FlaskClient, store: Store, code: str) -> None:
    page = client.post(URL, data={"code": code})
    assert page.status_code == 200
    assert DONE in page.text
    assert remaining(store) == 4


@pytest.mark.parametrize("typed", [str.lower, lambda code: code.replace("-", ""), lambda code: f" {code.replace('-', ' ')}\n"])
def test_a_code_may_be_typed_as_people_type(client: FlaskClient, store: Store, code: str, typed: Callable[[str], str]) -> None:
    assert client.post(URL, data={"code": typed(code)}).status_code == 200
    assert remaining(store) == 4


def test_known_unknown_and_repeated_codes_get_the_same_bytes(client: FlaskClient, store: Store, code: str) -> None:
    unknown = access_codes.format_code(secrets.token_bytes(15))
    replies = [client.post(URL, data={"code": each}) for each in (code, code, unknown, unknown)]
    told = {(reply.status_code, reply.data, str(reply.headers)) for reply in replies}
    assert len(told) == 1
    assert code not in replies[0].text
    assert remaining(store) == 4


@pytest.mark.parametrize("slip", ["", "4TRV", "changed", "swapped", "<script>alert(1)</script>"])
def test_a_slip_of_the_pen_is_told_on_the_spot_and_erases_nothing(
    client: FlaskClient, store: Store, code: str, slip: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    typed = {"changed": code[:-1] + ("A" if code[-1] != "A" else "B"), "swapped": swapped(code)}.get(slip, slip)
    monkeypatch.setattr(store.submissions, "withdraw", lambda *_: pytest.fail("the store was asked"))
    page = client.post(URL, data={"code": typed})
    assert page.status_code == 400
    assert "<title>Error" in page.text
    assert '<a href="#code">' in page.text
    assert 'aria-describedby="code-hint code-problem" aria-invalid="true"' in attributes_sorted(page.text)
    assert "<script" not in page.text
    assert remaining(store) == 5


def swapped(code: str) -> str:
    """The code with its first two different neighbours in each other's place."""
    place = next(i for i in range(len(code)) if "-" not in code[i : i + 2] and code[i] != code[i + 1])
    return code[:place] + code[place + 1] + code[place] + code[place + 2 :]


def attributes_sorted(page: str) -> str:
    return " ".join(sorted(re.findall(r'aria-[a-z]+="[^"]*"', page.split("<form")[1])))


def test_a_code_erases_its_record_from_the_page_of_another_survey_too(client: FlaskClient, store: Store, code: str, survey: Survey) -> None:
    store.surveys.publish(Survey.from_dict({**survey.to_dict(), "id": "other"}))
    assert DONE in client.post("/s/other/withdraw", data={"code": code}).text
    assert remaining(store) == 4


def test_records_of_closed_surveys_can_be_erased_too(client: FlaskClient, store: Store, code: str) -> None:
    store.surveys.set_open("study", False)
    assert tally_of(store, "study").n == 5
    page = client.get(URL)
    assert page.status_code == 200
    assert "Results that were published before stay published." in page.text
    assert client.post(URL, data={"code": code}).status_code == 200
    assert tally_of(store, "study").n == recount_of(store, "study").n == 4  # at once, without another release


def test_an_unknown_survey_is_not_found(client: FlaskClient) -> None:
    assert client.get("/s/nope/withdraw").status_code == 404
    assert client.post("/s/nope/withdraw", data={"code": access_codes.format_code(bytes(15))}).status_code == 404


@pytest.mark.parametrize(("error", "status"), [(FullError, 507), (UnavailableError, 503)])
def test_a_store_that_fails_is_a_sentence_and_the_code_stays_in_its_field(
    client: FlaskClient, store: Store, code: str, monkeypatch: pytest.MonkeyPatch, error: type[StoreError], status: int
) -> None:
    def fail(*_: object) -> None:
        raise error("internal words")

    monkeypatch.setattr(store.submissions, "withdraw", fail)
    page = client.post(URL, data={"code": code})
    assert page.status_code == status
    assert "try again a little later" in page.text
    assert "Something in it is missing" not in page.text
    assert "internal words" not in page.text
    assert f'value="{code}"' in page.text


def test_the_page_sets_no_cookie_needs_no_script_and_posts_to_this_server_only(client: FlaskClient, code: str) -> None:
    for reply in (client.get(URL), client.post(URL), client.post(URL, data={"code": code})):
        assert "Set-Cookie" not in reply.headers
        assert "<script" not in reply.text
        assert reply.headers["Cache-Control"] == "no-store"
        assert reply.headers["Content-Security-Policy"].endswith("form-action 'self'")
