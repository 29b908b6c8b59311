"""The form for two real coins: it needs no JavaScript and no cookie, counts a person once, and never asks for a true answer."""

from __future__ import annotations

import doctest
import html
import json
import re
import secrets
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from babel.numbers import format_decimal
from flask.testing import FlaskClient
from tests.kit.patience import PATIENCE
from tests.kit.servers.release import release_people
from tests.kit.servers.tallies import tally_of
from werkzeug.test import TestResponse

from deniable.estimate import estimate
from deniable.privacy.posterior import posterior_bound, right_for
from deniable.survey import Survey
from deniable.wire import access_codes
from deniable.wire.record import unpack
from deniable.wire.submission import Submission
from deniable.wire.tally import Tally
from deniable_server.store import open_store
from deniable_server.store.errors import ClosedError, ConflictError, FullError, InvitationError, StoreError, UnavailableError
from deniable_server.store.protocol import Store

KEYS = {
    "deniable": 1,
    "batch": 1,
    "accept_small_batches": True,
    "id": "coins",
    "title": "A <b>bold</b> study",
    "about": "Who asks, and why.",
    "epsilon": "ln 9",
    "questions": [
        {"id": "group", "text": "Did you cheat?", "type": "yes_no"},
        {"id": "secret", "text": "Would you again?", "type": "yes_no"},
    ],
}
URL = "/s/coins/by-hand"
BOTH = {"mark-1": "yes", "mark-2": "no"}
Publish = Callable[..., Survey]


@pytest.fixture
def publish(store: Store) -> Publish:
    """`publish(**keys)` publishes a survey of two questions that coins can answer; the keys change it."""

    def made(**keys: Any) -> Survey:
        survey = Survey.from_dict({key: value for key, value in {**KEYS, **keys}.items() if value is not None})
        store.surveys.publish(survey)
        return survey

    return made


@pytest.fixture
def coins(publish: Publish) -> Survey:
    """Questions whose ids are the names of other fields of the form."""
    return publish()


def secret_in(page: TestResponse) -> str:
    return re.findall(r'name="secret"[^>]*value="([^"]+)"', page.text)[0]


def shown_code(page: TestResponse) -> str:
    return re.findall(r"<code[^>]*>([^<]+)</code>", page.text)[0]


def fill_in(client: FlaskClient, url: str = URL, **more: str) -> dict[str, str]:
    """A fresh form, both questions marked."""
    return {"secret": secret_in(client.get(url)), **BOTH, **more}


def filled_in() -> dict[str, str]:
    """The same under a secret that the server did not make, which it cannot tell."""
    return {"secret": access_codes.format_code(secrets.token_bytes(15)), **BOTH}


def released(store: Store, group: str | None = None) -> Tally:
    """Returns the tally of the records made by hand, once all that wait are released."""
    release_people(store)
    return tally_of(store, "coins", group, by_hand=True)


def words(page: TestResponse) -> str:
    """What stands on a page, in one line."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", page.text.split("<body")[1])).split())


# What the page says.


def test_the_page_says_who_asks_what_the_coins_do_and_what_they_protect(client: FlaskClient, publish: Publish) -> None:
    publish(contact="ada@example.org", ethics="Board of X, 12/2026")
    page = client.get(URL)
    assert page.status_code == 200
    assert "A &lt;b&gt;bold&lt;/b&gt; study" in page.text
    for sentence in (
        "Who asks, and why.",
        "ada@example.org",
        "Board of X, 12/2026",
        "2 questions · stop at any time before you send",
        "Heads: mark the truth.",
        "toss the second coin. If it shows heads, mark Yes. If it shows tails, mark No. Do so whatever is true.",
        "Of 100 people for whom Yes is true, 75 mark Yes and 25 mark No.",
        "Of 100 people for whom No is true, 25 mark Yes and 75 mark No.",
        "at most 90% sure. From one mark alone: at most 75%.",
    ):
        assert sentence in words(page)
    assert page.text.count('class="counted"') == 75 + 25
    box = "Medium protection. Of 100 people, a guess is right for at most: knowing nothing 50 from one answer 75 from all together 90"
    assert box in words(page)
    assert "So tell the truth: the coins hide it." in words(page)


def test_the_odds_on_the_page_are_those_of_every_survey_that_coins_can_answer(coins: Survey) -> None:
    assert coins.coins_can_answer
    assert [(item.channel.theta, item.channel.phi) for item in coins.items] == [(0.75, 0.25)] * 2


def test_the_protection_is_that_of_the_whole_survey(client: FlaskClient, publish: Publish) -> None:
    publish(questions=coins_only(5), epsilon=None)
    assert "at most 99.6% sure" in words(client.get(URL))
    box = "Of 1,000 people, a guess is right for at most: knowing nothing 500 from one answer 750 from all together 996"
    assert f"Next to no protection. {box}" in words(client.get(URL))
    assert "Answer only what others may know." in words(client.get(URL))


def coins_only(count: int) -> list[dict[str, Any]]:
    return [{"id": f"q{i}", "text": f"Question {i}?", "type": "yes_no", "epsilon": "ln 3"} for i in range(count)]


LEVELS = {
    "en": ("Strong protection", "Medium protection", "Weak protection", "Next to no protection"),
    "de": ("Starker Schutz", "Mittlerer Schutz", "Schwacher Schutz", "So gut wie kein Schutz"),
    "ar": ("حماية قوية", "حماية متوسطة", "حماية ضعيفة", "لا حماية تُذكر"),
    "fr": ("Protection forte", "Protection moyenne", "Protection faible", "Presque aucune protection"),
    "es": ("Protección fuerte", "Protección media", "Protección débil", "Casi ninguna protección"),
}


@pytest.mark.parametrize("language", LEVELS)
@pytest.mark.parametrize(("count", "level"), [(1, 0), (2, 1), (3, 2), (10, 3), (30, 3)])
def test_every_language_gives_the_same_figures_as_it_writes_them_and_the_same_level(
    client: FlaskClient, publish: Publish, language: str, count: int, level: int
) -> None:
    survey = publish(questions=coins_only(count), epsilon=None, accept_high_epsilon=True)
    page = words(client.get(f"{URL}?lang={language}")).replace("\u00a0", " ").replace("\u202f", " ")
    bound = posterior_bound(survey.odds)
    comma = language in ("de", "fr", "es")
    figure = str(bound).replace(".", ",") + " %" if comma else f"{bound}%"
    assert figure in page
    assert (("75 %" if comma else "75%") in page) == (count > 1 or bound == 75)
    assert [name in page for name in LEVELS[language]] == [place == level for place in range(len(LEVELS[language]))]
    told = page[page.index(LEVELS[language][level]) :][:200]
    assert [format_decimal(people, locale=language).replace("\u202f", " ") in told for people in right_for(bound)] == [True, True]


def test_the_surveys_texts_are_in_the_visitors_language_where_it_has_them(client: FlaskClient, publish: Publish) -> None:
    german = {"title": "Eine Studie", "questions": {"group": {"text": "Haben Sie betrogen?"}}}
    publish(translations={"de": german})
    page = client.get(f"{URL}?lang=de").text
    assert '<html lang="de"' in page
    assert '<span lang="de" dir="auto">Eine Studie</span>' in page
    assert '<span lang="de" dir="auto">Haben Sie betrogen?</span>' in page
    assert '<span lang="en" dir="auto">Would you again?</span>' in page


def test_the_page_needs_no_script_and_sends_its_form_to_this_server_only(client: FlaskClient, coins: Survey) -> None:
    page = client.get(URL)
    assert "<script" not in page.text
    assert page.headers["Content-Security-Policy"].endswith("form-action 'self'")
    assert page.headers["Cache-Control"] == "no-store"
    assert client.get("/s/coins").headers["Content-Security-Policy"].endswith("form-action 'none'")
    controls = re.findall(r"<(?:form|input|select)\b[^>]*>", page.text)
    assert len(controls) == 1 + 1 + 4
    assert all('autocomplete="off"' in control for control in controls)


@pytest.mark.parametrize(
    "question",
    [
        {"type": "yes_no", "epsilon": 1},
        {"type": "yes_no", "epsilon": "ln 3", "required": False},
        {"type": "choice", "options": ["a", "b"], "epsilon": "ln 3"},
    ],
)
def test_a_survey_that_two_coins_cannot_answer_says_so(
    client: FlaskClient, store: Store, publish: Publish, question: dict[str, Any]
) -> None:
    publish(epsilon=None, questions=[{"id": "q", "text": "Q?", **question}])
    for reply in (client.get(URL), client.post(URL, data={"secret": access_codes.format_code(bytes(15)), "mark-1": "yes"})):
        assert reply.status_code == 404
        assert "Two coins cannot answer this survey" in reply.text
    assert released(store).n == 0


def test_an_unknown_survey_is_not_found_and_a_closed_one_says_so(client: FlaskClient, store: Store, coins: Survey) -> None:
    assert client.get("/s/nope/by-hand").status_code == 404
    assert client.post("/s/nope/by-hand", data=BOTH).status_code == 404
    store.surveys.set_open("coins", False)
    reply = client.get(URL)
    assert reply.status_code == 403
    assert "This survey is closed" in reply.text


# What is recorded.


@pytest.mark.parametrize("marks", [("yes", "yes"), ("yes", "no"), ("no", "yes"), ("no", "no")])
def test_a_record_is_what_was_marked_packed_as_a_device_packs_it(
    client: FlaskClient, coins: Survey, store: Store, monkeypatch: pytest.MonkeyPatch, marks: tuple[str, str]
) -> None:
    kept: list[Submission] = []
    monkeypatch.setattr(store.submissions, "add", lambda survey_id, submission: kept.append(submission))
    form = fill_in(client, **{"mark-1": marks[0], "mark-2": marks[1]})
    assert client.post(URL, data=form).status_code == 200
    (submission,) = kept
    assert unpack(coins, submission.reports, 1).tolist() == [[mark == "yes" for mark in marks]]
    assert submission.id == access_codes.submission_id(access_codes.read(form["secret"]))
    assert json.loads(submission.to_json())["mode"] == "by_hand"
    assert (submission.digest, submission.group, submission.invitation) == (coins.digest, None, None)


def test_records_by_hand_are_counted_and_counted_apart(client: FlaskClient, store: Store, coins: Survey) -> None:
    for _ in range(3):
        assert client.post(URL, data=fill_in(client)).status_code == 200
    assert tally_of(store, "coins", by_hand=True).n == 0  # they wait
    assert released(store).n == 3
    assert tally_of(store, "coins").n == 0


def test_the_control_without_the_mark_for_by_hand_they_would_be_mixed(
    client: FlaskClient, store: Store, coins: Survey, monkeypatch: pytest.MonkeyPatch
) -> None:
    add = store.submissions.add
    monkeypatch.setattr(store.submissions, "add", lambda survey_id, s: add(survey_id, Submission(s.id, s.digest, s.count, s.reports)))
    client.post(URL, data=fill_in(client))
    assert (released(store).n, tally_of(store, "coins").n) == (0, 1)


@pytest.mark.slow
def test_two_thousand_people_with_coins_give_an_estimate_that_covers_the_truth(client: FlaskClient, store: Store, coins: Survey) -> None:
    people, dice = 2_000, np.random.default_rng(20261120)
    cheated, again = np.arange(people) < 600, np.arange(people) % 10 == 0

    def marks_of(truth: bool) -> str:
        first, second = dice.integers(0, 2, 2)
        return "yes" if (truth if first else second) else "no"

    for pair in zip(cheated, again, strict=True):
        form = filled_in() | {f"mark-{i}": marks_of(truth) for i, truth in enumerate(pair, 1)}
        assert client.post(URL, data=form).status_code == 200
    tally = released(store)
    rows = {row.question: row for row in estimate(coins, tally, confidence=0.999).rows if row.option == "yes"}
    assert tally.n == people
    assert rows["group"].low <= 0.3 <= rows["group"].high
    assert rows["secret"].low <= 0.1 <= rows["secret"].high
    assert rows["group"].estimate == pytest.approx(2 * rows["group"].ones / people - 0.5)
    assert not rows["group"].low <= rows["group"].ones / people <= rows["group"].high  # the bare share of marks is not the estimate


def test_the_thanks_show_the_withdrawal_code_and_what_was_recorded(client: FlaskClient, store: Store, coins: Survey) -> None:
    form = fill_in(client)
    page = client.post(URL, data=form)
    assert shown_code(page) == form["secret"]
    assert "Did you cheat? Marked: Yes. By the coins alone this stands in 25 of 100 records" in words(page)
    assert "Would you again? Marked: No." in words(page)
    assert page.headers["Cache-Control"] == "no-store"
    store.submissions.withdraw("coins", access_codes.submission_id(access_codes.read(shown_code(page))))
    assert released(store).n == 0


# What was left out or mistyped.


def test_all_that_is_missing_is_told_at_once_and_linked(client: FlaskClient, store: Store, publish: Publish) -> None:
    publish(groups=["North", "South"], access="invited")
    page = client.post(URL, data={"secret": secret_in(client.get(URL))})
    assert page.status_code == 400
    assert page.text.index("<title>Error") > 0
    summary = page.text.split('role="alert"')[1].split("</div>")[0]
    targets = re.findall(r'href="#([^"]+)"', summary)
    assert targets == ["invitation", "group", "mark-1-0", "mark-2-0"]
    assert all(f'id="{target}"' in page.text for target in targets)
    assert 'tabindex="-1" autofocus' in page.text
    described = re.findall(r'aria-invalid="true" aria-describedby="([^"]+)"|aria-describedby="([^"]+)" aria-invalid="true"', page.text)
    ids = [name for pair in described for names in pair for name in names.split()]
    assert len(described) == 4
    assert all(f'id="{name}"' in page.text for name in ids)
    store.surveys.set_open("coins", False)
    assert released(store).n == 0


def test_an_error_loses_nothing_that_was_filled_in(client: FlaskClient, publish: Publish) -> None:
    publish(groups=["North", "South"], access="invited")
    form = {"secret": secret_in(client.get(URL)), "mark-2": "no", "group": "South", "invitation": "4TRV"}
    page = client.post(URL, data=form)
    assert secret_in(page) == form["secret"]
    assert re.findall(r"<input[^>]*checked[^>]*>", page.text)[0].count('value="no"') == 1
    assert re.search(r"<option selected[^>]*>South<", page.text)
    assert 'value="4TRV"' in page.text


@pytest.mark.parametrize("mark", ["maybe", "", "Yes", "yes\0"])
def test_a_mark_is_yes_or_no(client: FlaskClient, store: Store, coins: Survey, mark: str) -> None:
    assert client.post(URL, data=fill_in(client) | {"mark-1": mark}).status_code == 400
    assert released(store).n == 0


@pytest.mark.parametrize("secret", ["", "0000", "0000-0000-0000-0000-0000-0000-0000", "<script>"])
def test_a_form_whose_secret_was_damaged_gets_a_new_one_and_keeps_its_marks(
    client: FlaskClient, store: Store, coins: Survey, secret: str
) -> None:
    page = client.post(URL, data=BOTH | {"secret": secret})
    assert page.status_code == 400
    assert "damaged on its way" in page.text
    assert client.post(URL, data=BOTH | {"secret": secret_in(page)}).status_code == 200
    assert page.text.count(" checked ") == 2
    assert released(store).n == 1


# Public groups and invitations.


def test_a_group_is_chosen_or_preset_by_the_address_and_counted_by_itself(client: FlaskClient, store: Store, publish: Publish) -> None:
    publish(groups=["North", "South"])
    assert "<option selected" not in client.get(URL).text
    assert re.search(r"<option selected[^>]*>South<", client.get(f"{URL}?group=South").text)
    assert " selected" not in client.get(f"{URL}?group=East").text
    assert client.post(URL, data=fill_in(client, group="East")).status_code == 400
    page = client.post(URL, data=fill_in(client, group="South"))
    assert page.status_code == 200
    assert "Your group South" in words(page)
    assert (released(store, "South").n, released(store, "North").n) == (1, 0)


def test_an_invitation_is_typed_as_people_type_and_spent_by_one_record(client: FlaskClient, store: Store, publish: Publish) -> None:
    publish(access="invited")
    invitation = secrets.token_bytes(15)
    store.invitations.add("coins", [access_codes.invitation_hash("coins", invitation)])
    typed = access_codes.format_code(invitation).lower().replace("-", " ").replace("0", "o")
    mistyped = typed[:-1] + ("a" if typed[-1] != "a" else "b")
    page = client.post(URL, data=fill_in(client, invitation=mistyped))
    assert page.status_code == 400
    assert "missing or mistyped" in page.text
    first, other = fill_in(client, invitation=typed), fill_in(client, invitation=typed)
    assert client.post(URL, data=first).status_code == 200
    assert client.post(URL, data=first).status_code == 200
    refused = client.post(URL, data=other)
    assert refused.status_code == 403
    assert "not one of this survey, or it was used before" in refused.text
    assert f'value="{typed}"' in refused.text
    assert store.invitations.count("coins") == (1, 0)  # the record waits
    store.surveys.set_open("coins", False)
    assert store.invitations.count("coins") == (1, 1)
    assert tally_of(store, "coins", by_hand=True).n == 1


def test_an_unknown_invitation_is_refused_as_a_spent_one_is(client: FlaskClient, store: Store, publish: Publish) -> None:
    publish(access="invited")
    spent, unknown = secrets.token_bytes(15), secrets.token_bytes(15)
    store.invitations.add("coins", [access_codes.invitation_hash("coins", spent)])
    client.post(URL, data=fill_in(client, invitation=access_codes.format_code(spent)))
    form = fill_in(client)

    def refusal(code: bytes) -> str:
        return client.post(URL, data=form | {"invitation": access_codes.format_code(code)}).text.replace(access_codes.format_code(code), "")

    assert refusal(spent) == refusal(unknown)
    assert "used before" in refusal(unknown)


# Sent again, refused, and at the same time.


def test_a_reload_is_thanked_for_again_and_counted_once(client: FlaskClient, store: Store, coins: Survey) -> None:
    form = fill_in(client)
    pages = {client.post(URL, data=form).data for _ in range(5)}
    assert len(pages) == 1
    assert released(store).n == 1
    assert client.post(URL, data=form).data in pages
    store.surveys.set_open("coins", False)
    assert client.post(URL, data=form).data in pages


@pytest.mark.parametrize("state", ["waiting", "released"])
def test_a_form_that_is_filled_in_anew_is_told_that_the_first_record_counts(
    client: FlaskClient, store: Store, coins: Survey, state: str
) -> None:
    form = fill_in(client)
    client.post(URL, data=form)
    if state == "released":
        assert released(store).n == 1
    page = client.post(URL, data=form | {"mark-1": "no"})
    assert page.status_code == 409
    assert "This form was sent before" in page.text
    assert shown_code(page) == form["secret"]
    tally = released(store)
    assert (tally.n, tally.pairs.diagonal().tolist()) == (1, [1, 0])


def test_the_same_form_sent_twenty_times_at_once_is_counted_once(make_server: Callable[[], Any]) -> None:
    server = make_server()
    server.publish(Survey.from_dict(KEYS))
    server.start()
    form = filled_in()
    others = [form | {"mark-1": "no"}] * 10
    with ThreadPoolExecutor(20) as pool:
        replies = list(pool.map(lambda data: httpx.post(f"{server.url}{URL}", data=data, timeout=PATIENCE), [form, *others, *[form] * 9]))
    assert {reply.status_code for reply in replies} == {200, 409}
    server.stop()
    store = open_store(server.db)
    assert released(store).n == 1
    store.close()


@pytest.mark.parametrize("state", ["waiting", "released"])
def test_a_withdrawn_record_is_not_kept_again(client: FlaskClient, store: Store, coins: Survey, state: str) -> None:
    form = fill_in(client)
    client.post(URL, data=form)
    if state == "released":
        assert released(store).n == 1
    store.submissions.withdraw("coins", access_codes.submission_id(access_codes.read(form["secret"])))
    page = client.post(URL, data=form)
    assert page.status_code == 409
    assert "This form was sent before" in page.text
    assert released(store).n == 0


REFUSALS: dict[type[StoreError], tuple[int, str]] = {
    ClosedError: (403, "This survey is closed"),
    InvitationError: (403, "used before"),
    FullError: (507, "send this form again"),
    UnavailableError: (503, "send this form again"),
    ConflictError: (409, "This form was sent before"),
}


@pytest.mark.parametrize("error", REFUSALS)
def test_whatever_the_store_refuses_is_a_sentence_and_loses_nothing(
    client: FlaskClient, store: Store, coins: Survey, monkeypatch: pytest.MonkeyPatch, error: type[StoreError]
) -> None:
    def fail(*_: object) -> None:
        raise error("internal words")

    form = fill_in(client)
    monkeypatch.setattr(store.submissions, "add", fail)
    page = client.post(URL, data=form)
    status, sentence = REFUSALS[error]
    assert page.status_code == status
    assert sentence in page.text
    assert "internal words" not in page.text
    if status != 409:
        monkeypatch.undo()
        assert page.text.count(" checked ") == 2
        assert client.post(URL, data={"secret": secret_in(page), **BOTH}).status_code == 200


# What stays where.


def test_no_reply_sets_a_cookie(client: FlaskClient, store: Store, coins: Survey) -> None:
    form = fill_in(client)
    replies = [client.get(URL), client.post(URL), client.post(URL, data=form), client.post(URL, data=form | {"mark-1": "no"})]
    store.surveys.set_open("coins", False)
    replies += [client.get(URL), client.post(URL, data=filled_in())]
    assert [reply.status_code for reply in replies] == [200, 400, 200, 409, 403, 403]
    assert all("Set-Cookie" not in reply.headers for reply in replies)


CANARIES = {
    "User-Agent": "canary-agent",
    "Referer": "http://canary-referer/",
    "Cookie": "s=canary-cookie",
    "X-Forwarded-For": "203.0.113.77",
}


def test_the_database_and_the_log_hold_no_address_agent_or_code(make_server: Callable[[], Any]) -> None:
    server = make_server()
    survey = Survey.from_dict({**KEYS, "access": "invited"})
    server.publish(survey)
    invitation, secret = secrets.token_bytes(15), secrets.token_bytes(15)
    store = open_store(server.db)
    store.invitations.add("coins", [access_codes.invitation_hash("coins", invitation)])
    store.close()
    server.start()
    form = {"secret": access_codes.format_code(secret), "invitation": access_codes.format_code(invitation), **BOTH}
    with httpx.Client(
        base_url=server.url, headers=CANARIES, transport=httpx.HTTPTransport(local_address="127.0.0.77"), timeout=PATIENCE
    ) as http:
        assert http.post(URL, data={"mark-1": "canary-mark"}).status_code == 400
        assert http.post(URL, data=form).status_code == 200
        assert http.post(URL, data=form | {"mark-1": "no"}).status_code == 409  # its id stands for other marks
    running = read_all(server.folder)
    server.stop()
    stopped = read_all(server.folder)
    with server.store() as store:
        store.surveys.set_open("coins", False)
    traces = [b"canary", b"127.0.0.77", b"203.0.113.77", secret, invitation, *(form[name].encode() for name in ("secret", "invitation"))]
    for files, is_released in ((running, False), (stopped, False), (read_all(server.folder), True)):
        content = b"".join(files).replace(survey.definition, b"")
        assert (access_codes.submission_id(secret) in content) == is_released  # the control: an id that is there is found
        assert [trace for trace in traces if trace in content] == []


def read_all(folder: Path) -> list[bytes]:
    return [path.read_bytes() for path in folder.rglob("*") if path.is_file()]


# The documentation.


def test_the_examples_of_the_page_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(__file__).parents[3])
    blocks = re.findall(r"^```python\n(.*?)^```$", Path("docs/guide/by-hand.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    examples = doctest.DocTestParser().get_doctest("".join(blocks), {}, "by-hand.md", "by-hand.md", 0)
    assert doctest.DocTestRunner(verbose=False).run(examples) == doctest.TestResults(failed=0, attempted=7)


def test_help_and_sections_stand_where_respondents_of_the_page_meet_them(client: FlaskClient, publish: Publish) -> None:
    section = {"title": "<i>Exams</i>", "note": "Of the last year."}
    first = {**KEYS["questions"][0], "help": "Notes, too.", "section": section}  # type: ignore[index]
    german = {"group": {"help": "Auch Zettel.", "section": {"title": "Prüfungen"}}}
    publish(questions=[first, KEYS["questions"][1]], translations={"de": {"questions": german}})  # type: ignore[index]
    page = client.get(URL).text
    assert (
        page.index("&lt;i&gt;Exams&lt;/i&gt;") < page.index("Of the last year.") < page.index("Did you cheat?") < page.index("Notes, too.")
    )
    (described,) = re.findall(r'<fieldset class="question"[^>]* aria-describedby="([^"]+)"', page)
    assert re.search(rf'<p class="help" id="{described}"><span lang="en" dir="auto">Notes, too\.', page)
    assert re.search(r'<span lang="de" dir="auto">Auch Zettel\.', client.get(f"{URL}?lang=de").text)
    assert "Prüfungen" in client.get(f"{URL}?lang=de").text
    wrong = client.post(URL, data={}).text
    assert re.search(rf'aria-describedby="{described} mark-1-problem"', wrong)
