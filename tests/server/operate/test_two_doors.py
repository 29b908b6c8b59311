"""What a page and a command both do, both do alike: they refuse the same values, and make the same of the others.

Every option of every command is in one of two tables: it has a page beside it, and is tried at both doors here, or it has none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result
from flask import Flask
from flask.testing import FlaskClient
from tests.kit.forms import filled
from werkzeug.test import TestResponse

from deniable.survey import Survey
from deniable_server import Config, create_app
from deniable_server.identity.passwords import set_password
from deniable_server.operate.cli import main
from deniable_server.store import open_store
from deniable_server.store.protocol import Store
from deniable_server.store.roles import Role

GIVEN = {"points": "10", "expected": "", "least": "1", "close_on": "", "close_at": "", "delete_on": ""}
SURVEY = {
    "deniable": 1,
    "title": "T",
    "about": "Ada asks.",
    "epsilon": "ln 3",
    "batch": 1,
    "accept_small_batches": True,
    "questions": [{"id": "q", "text": "?", "type": "yes_no"}],
}
PASSWORD = "correct horse battery"
LATE, LATER = "2999-01-31", "2999-02-28"


@dataclass
class Doors:
    """One server, its pages as ada sees them, and its commands."""

    client: FlaskClient
    store: Store
    db: Path

    def post(self, address: str, **data: Any) -> TestResponse:
        return self.client.post(address, data=data)

    def run(self, *words: str, password: str = PASSWORD) -> Result:
        done = CliRunner().invoke(main, words, env={"DENIABLE_DB": str(self.db), "NEW": password})
        assert isinstance(done.exception, SystemExit | None), done.exception
        return done


@pytest.fixture
def make_doors(logged_in: Callable[[Flask], FlaskClient], tmp_path: Path) -> Iterator[Callable[[str], Doors]]:
    """Makes servers that are alike, each in a folder of its own."""
    stores: list[Store] = []

    def make(name: str) -> Doors:
        db = tmp_path / name / "deniable.db"
        stores.append(store := open_store(db))
        for keys in ({"id": "clinic"}, {"id": "staff", "access": "invited"}):
            store.surveys.publish(Survey.from_dict({**SURVEY, **keys}))
        app = create_app(Config(db, "x" * 40), store)
        app.config.update(WTF_CSRF_ENABLED=False, TESTING=False)
        made = Doors(logged_in(app), store, db)
        for user in ("eve", "vic"):
            set_password(store.accounts, user, PASSWORD)
        store.roles.grant("clinic", "vic", Role.VIEWER)
        store.surveys.publish(Survey.from_dict({**SURVEY, "id": "eves", "title": "Eve's study"}), owner="eve")
        for survey in ("clinic", "staff"):
            store.roles.grant(survey, "ada", Role.OWNER)
        return made

    yield make
    for store in stores:
        store.close()


@pytest.fixture
def doors(make_doors: Callable[[str], Doors]) -> Doors:
    return make_doors("one")


Door = Callable[[Doors, str], object]
State = Callable[[Store], object]


def of_settings(store: Store) -> object:
    return asdict(store.life.settings("clinic"))


def setting(name: str, **more: str) -> tuple[Door, Door, State]:
    option = f"--{name.replace('_', '-')}"
    words = [word for key, value in more.items() for word in (f"--{key.replace('_', '-')}", value)]
    return (
        lambda doors, value: doors.post("/manage/surveys/clinic/settings", **{**GIVEN, **more, name: value}),
        lambda doors, value: doors.run("settings", "clinic", *words, option, value),
        of_settings,
    )


def join(doors: Doors, name: str, password: str = PASSWORD) -> object:
    page = doors.post("/manage/people/links", kind="researcher").text
    (link,) = re.findall(r'value="http://localhost(/join/[^"]+)"', page)
    return doors.client.application.test_client().post(link, data={"user": name, "password": password, "again": password})


def accounts(store: Store) -> object:
    return store.people.all()


def all_keys(store: Store) -> object:
    return [(key.name, key.scopes, key.survey) for key in store.accounts.all_keys()]


def all_webhooks(store: Store) -> object:
    return [(webhook.survey, webhook.url, webhook.events) for webhook, _ in store.webhooks.all()]


def published(store: Store) -> object:
    return [(heading.id, heading.title) for heading in store.surveys.headings()]


def publish_page(doors: Doors, text: str, **ticked: str) -> object:
    draft = doors.store.drafts.begin("ada", text)
    address = f"/manage/drafts/{draft.id}/publish"
    return doors.post(address, **dict(filled(doors.client.get(address).text, "publishing"), revision=draft.revision), **ticked)


def publish_command(doors: Doors, text: str, *words: str) -> object:
    file = doors.db.with_name("survey.yaml")
    file.write_text(text)
    return doors.run("publish", str(file), "--owner", "ada", "--yes", *words)


def survey_text(**keys: Any) -> str:
    return json.dumps({**SURVEY, **keys})


def act(name: str) -> Door:
    return lambda doors, value: doors.post("/manage/people", act=name, name=value, sure="1")


def role_page(word: str) -> Door:
    return lambda doors, name: doors.post("/manage/surveys/clinic/members", user=name, role=word, sure="1")


def role_command(word: str) -> Door:
    return lambda doors, name: doors.run("grant", "clinic", name, word)


def roles(store: Store) -> object:
    return store.roles.members("clinic")


NUMBERS = ["0", "-1", "1.5", "", " ", "x", "1_0", "٣", "1e3", "9" * 40, str(10**9 + 1)]
DAYS = ["2025-12-01", "2000-02-29", "2999-02-30", "2999-1-5", "29990105", "24.12.2999", "soon", "２９９９-01-01", "2999-W01-1"]
NAMES = ["", " ", "a" * 65, "a\tb", "a\nb", "a\u200bb", "a\u202eb", "a\0b"]
DOORS: dict[str, tuple[tuple[Door, Door, State], list[str], list[str]]] = {
    "settings --points": (setting("points"), ["0", "0.09", "50.1", "-5", "nan", "inf", "1e1", "1_0", "٣", "2,5", "", "x"], ["2.5", "50"]),
    "settings --expected": (setting("expected"), [value for value in NUMBERS if value.strip()], ["1", "800", str(10**9)]),
    "settings --least": (setting("least"), NUMBERS, ["2", "50"]),
    "settings --close-at": (setting("close_at"), [value for value in NUMBERS if value.strip()], ["400"]),
    "settings --close-on": (setting("close_on"), DAYS, [LATE]),
    "settings --close-on with --delete-on": (setting("close_on", delete_on=LATE), [LATE, LATER], ["2999-01-30"]),
    "settings --opens-at": (setting("opens_at"), ["09:00", "2999-13-01 09:00", "x"], ["2999-01-11 09:00", "2999-01-11T09:00"]),
    "settings --closes-at": (setting("closes_at"), ["2020-01-01 09:00", "2999-01-11", "x"], ["2999-01-11 09:00"]),
    "settings --zone": (setting("zone", opens_at="2999-07-11 09:00"), ["Mars/Olympus", "x"], ["Europe/Berlin"]),
    "settings --delete-on": (setting("delete_on"), DAYS, [LATE]),
    "settings --delete-on with --close-on": (setting("delete_on", close_on=LATE), [LATE, "2999-01-30"], [LATER]),
    "user add NAME": (
        (join, lambda doors, name: doors.run("user", "add", name, "--password-env", "NEW"), accounts),
        [*NAMES, "eve"],
        ["zoë", " mia ", "a" * 64, "two words"],
    ),
    "user add --password-env": (
        (
            lambda doors, password: join(doors, "zed", password),
            lambda doors, password: doors.run("user", "add", "zed", "--password-env", "NEW", password=password),
            accounts,
        ),
        ["", "nine char", "x" * 257],
        ["ten chars!", "x" * 256],
    ),
    "user remove NAME": ((act("remove"), lambda doors, name: doors.run("user", "remove", name), accounts), ["ada", "nobody"], ["vic"]),
    "user disable NAME": ((act("disable"), lambda doors, name: doors.run("user", "disable", name), accounts), ["ada", "nobody"], ["eve"]),
    "user operator NAME": ((act("operator"), lambda doors, name: doors.run("user", "operator", name), accounts), ["nobody"], ["eve"]),
    "user operator --no": (
        (act("researcher"), lambda doors, name: doors.run("user", "operator", name, "--no"), accounts),
        ["ada"],
        [],
    ),
    "grant NAME": ((role_page("viewer"), role_command("viewer"), roles), ["nobody", "", "ada"], ["eve"]),
    "grant none": ((role_page("none"), role_command("none"), roles), ["ada"], ["vic"]),
    "grant ROLE": (
        (
            lambda doors, word: doors.post("/manage/surveys/clinic/members", user="eve", role=word),
            lambda doors, word: doors.run("grant", "clinic", "eve", word),
            roles,
        ),
        ["", "OWNER", "king", "4"],
        ["owner", "editor"],
    ),
    "key make --name": (
        (
            lambda doors, name: doors.post("/manage/surveys/clinic/keys", name=name, scopes=["results"]),
            lambda doors, name: doors.run("key", "make", "--name", name, "--scope", "results", "--survey", "clinic"),
            all_keys,
        ),
        [*NAMES, "dk_" + "A" * 43],
        ["lab", " lab ", "a" * 64],
    ),
    "key make --scope": (
        (
            lambda doors, scope: doors.post("/manage/surveys/clinic/keys", name="lab", scopes=[scope]),
            lambda doors, scope: doors.run("key", "make", "--name", "lab", "--scope", scope, "--survey", "clinic"),
            all_keys,
        ),
        ["metrics", "", "all"],
        ["submit", "results", "reports"],
    ),
    "webhook make --url": (
        (
            lambda doors, url: doors.post("/manage/surveys/clinic/webhooks", url=url, events=["survey.closed"]),
            lambda doors, url: doors.run("webhook", "make", "--survey", "clinic", "--url", url, "--event", "survey.closed"),
            all_webhooks,
        ),
        [
            "",
            "http://example.org/",
            "https://",
            "https://a:b@example.org/",
            "https://example.org/#x",
            "ftp://example.org",
            "https://example.org/\n",
            "https://[::1",
            "https://ex ample.org",
            "x" * 1001,
        ],
        ["https://example.org/in", " https://example.org/in ", "http://127.0.0.1:8000/"],
    ),
    "webhook make --event": (
        (
            lambda doors, event: doors.post("/manage/surveys/clinic/webhooks", url="https://example.org", events=[event]),
            lambda doors, event: doors.run("webhook", "make", "--survey", "clinic", "--url", "https://example.org", "--event", event),
            all_webhooks,
        ),
        ["", "survey.opened"],
        ["survey.closed", "count.daily"],
    ),
    "invite --count": (
        (
            lambda doors, count: doors.post("/manage/surveys/staff/invite", count=count, csv="1"),
            lambda doors, count: doors.run("invite", "staff", "--count", count),
            lambda store: store.invitations.count("staff"),
        ),
        [*NUMBERS, "100001"],
        ["1", "20"],
    ),
    "invite SURVEY": (
        (
            lambda doors, survey: doors.post(f"/manage/surveys/{survey}/invite", count="1", csv="1"),
            lambda doors, survey: doors.run("invite", survey, "--count", "1"),
            lambda store: store.invitations.count("staff"),
        ),
        ["clinic", "none"],
        ["staff"],
    ),
    "archive": (
        (
            lambda doors, survey: doors.post(f"/manage/surveys/{survey}/archive"),
            lambda doors, survey: doors.run("archive", survey),
            of_settings,
        ),
        ["clinic", "none"],
        [],
    ),
    "publish FILE": (
        (publish_page, publish_command, published),
        [
            survey_text(id="clinic", title="Another"),
            survey_text(id="preview-x"),
            "title: nothing more",
            "",
            survey_text(id="A B"),
            survey_text(id="c1inic"),
            survey_text(id="copy", title="Eve's study"),
            survey_text(id="copy", title="EVE'S  STUDY"),
            survey_text(id="copy", title="Ev\u0435\u2019s study"),
            survey_text(id="copy", translations={"de": {"title": "Eve's study"}}),
        ],
        [survey_text(id="fresh"), survey_text(id="fresh", title="T"), survey_text(id="fresh", title="Adam's study")],
    ),
    "publish --same-title": (
        (
            lambda doors, text: publish_page(doors, text, same_title="y"),
            lambda doors, text: publish_command(doors, text, "--same-title"),
            published,
        ),
        [survey_text(id="c1inic", title="Eve's study")],
        [survey_text(id="copy", title="Eve's study")],
    ),
}

PAGELESS: dict[str, str] = {
    "init": "before there are pages",
    "serve": "starts the pages",
    "backup": "writes a file on the server's machine",
    "move": "reads and writes databases on the server's machine",
    "demo": "starts a server of its own",
    "restore": "there are no pages yet",
    "doctor": "looks at files of the server's machine",
    "upkeep": "a running server does it by itself",
    "export": "writes a file on the server's machine",
    "list": "shows",
    "results": "shows; the doors of figures are compared in tests/server/api/test_three_doors.py",
    "audit": "shows",
    "user list": "shows",
    "key list": "shows",
    "webhook list": "shows",
    "user invite": "takes no value that a page takes: its address is checked by Config",
    "user password": "the page asks for the old password; the rule for the new one is tried by user add",
    "user log-out": "ends sessions, of any name",
    "user password-only": "the same call of the store",
    "key revoke": "the same call of the store",
    "webhook remove": "the same call of the store",
    "close": "the same call of the store; opening again has no page on purpose",
    "pause": "the same call of the store",
    "team list": "shows",
    "team make": "the same rule for names, check_team_name",
    "team add": "the same call of the store",
    "team remove": "the same call of the store",
    "team delete": "the same call of the store",
    "team grant": "the same call of the store",
    "user connect": "the page reads issuer and subject from the provider",
    "user disconnect": "the same call of the store",
    "quotas": "the same call of the store",
    "delete-records": "the same call of the store, after the page's or the terminal's question",
}
"""Commands without a page that takes the same values, and why."""
OWN_OPTIONS = {
    "publish": {"--yes", "--owner"},
    "invite": {"--format", "--public-url"},
    "user add": {"--operator"},
    "user disable": {"--no"},
    "key make": {"--survey"},
    "webhook make": {"--survey"},
    "archive": {"--undo"},
}
"""Options of the other commands that no page has, or that a page takes from its address."""


def refused(outcome: object) -> bool:
    """Whether a door says that it refuses. A page may also show again how things are, which is told apart by the store."""
    return outcome.exit_code != 0 if isinstance(outcome, Result) else True


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, (_, bad, _) in DOORS.items() for value in bad])
def test_what_one_door_refuses_the_other_refuses_too(doors: Doors, name: str, value: str) -> None:
    (page, command, state), *_ = DOORS[name]
    before = state(doors.store)
    for door in (page, command):
        assert refused(door(doors, value)), f"{door} says nothing"
        assert state(doors.store) == before, f"{door} took it"


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, (*_, good) in DOORS.items() for value in good])
def test_what_one_door_takes_the_other_takes_and_both_make_the_same_of_it(
    make_doors: Callable[[str], Doors], name: str, value: str
) -> None:
    (page, command, state), *_ = DOORS[name]
    first, second = make_doors("one"), make_doors("two")
    before = state(first.store)
    page(first, value)
    outcome = command(second, value)
    assert isinstance(outcome, Result)
    assert outcome.exit_code == 0, outcome.output
    assert state(second.store) == state(first.store) != before


def options() -> dict[str, set[str]]:
    """The options of every command, by the command's name."""
    found: dict[str, set[str]] = {}

    def walk(command: click.Command, name: str) -> None:
        if isinstance(command, click.Group):
            for word, inner in command.commands.items():
                walk(inner, f"{name} {word}".strip())
        else:
            found[name] = {option.opts[0] for option in command.params if isinstance(option, click.Option)} - {"--db", "--json"}

    walk(main, "")
    return found


def test_every_option_of_every_command_is_tried_at_both_doors_or_has_one_door_for_a_reason() -> None:
    missing = []
    for name, its in options().items():
        if name in PAGELESS or name.split()[0] in PAGELESS:
            continue
        tried = {
            word for tried in DOORS if tried.startswith(f"{name} ") or tried == name for word in tried.split() if word.startswith("--")
        }
        missing += [f"{name} {option}" for option in its - tried - OWN_OPTIONS.get(name, set())]
        missing += [] if any(tried.startswith(name) for tried in DOORS) else [name]
    assert missing == []
