"""Work per request grows with the groups of a survey, not with their square: sealed rows that are opened, and statements, are counted."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest
from click.testing import CliRunner
from flask import Flask
from flask.testing import FlaskClient
from tests.kit.servers.release import release_people
from tests.kit.surveys import submission

from deniable.survey import Survey
from deniable.wire.part import Part
from deniable_server import Config, create_app
from deniable_server.access import api_keys
from deniable_server.context import services_of
from deniable_server.identity.passwords import set_password
from deniable_server.operate import cli_export, doctor, upkeep
from deniable_server.operate.cli import main
from deniable_server.results.disclosure_control import labelled_rows
from deniable_server.store import open_store
from deniable_server.store.life import Settings
from deniable_server.store.protocol import Store, estimated
from deniable_server.store.sql.encryption import Seal
from deniable_server.store.sqlite.file import SqliteFile

SIZES = (8, 16, 32)
MOST = 2.6  # times the work of the step before, where the number of groups doubles: twice, and some for chance; four times is the square


@dataclass
class Work:
    """Operations of one request: sealed rows that were opened or closed, and SQL statements."""

    parts: int = 0
    statements: int = 0


@contextmanager
def counted(patch: pytest.MonkeyPatch, work: Work) -> Iterator[None]:
    """Counts the work of everything in the block, in all threads of this process."""
    opened, closed, connect = Seal.open, Seal.close, SqliteFile.connect

    def opening(seal: Seal, sealed: bytes, place: str) -> bytes:
        work.parts += 1
        return opened(seal, sealed, place)

    def closing(seal: Seal, content: bytes, place: str) -> bytes:
        work.parts += 1
        return closed(seal, content, place)

    def note(_: str) -> None:
        work.statements += 1

    def connecting(file: SqliteFile) -> sqlite3.Connection:
        connection = connect(file)
        connection.set_trace_callback(note)
        return connection

    patch.setattr(Seal, "open", opening)
    patch.setattr(Seal, "close", closing)
    patch.setattr(SqliteFile, "connect", connecting)
    yield


def survey_of(groups: int, questions: int = 2, **keys: object) -> Survey:
    asked = [{"id": f"q{i}", "text": "?", "type": "yes_no"} for i in range(questions)]
    labels = [f"Group {i}" for i in range(groups)]
    return Survey.from_dict(
        {
            "deniable": 1,
            "id": "many",
            "title": "T",
            "about": "A.",
            "epsilon": 4,
            "batch": 2,
            "accept_small_batches": True,
            "groups": labels,
            "questions": asked,
            **keys,
        }
    )


def fill(store: Store, survey: Survey) -> bytes:
    """Adds two counted records, waiting ones and WITHDRAWN to each group. Returns the id of a waiting one."""
    store.surveys.publish(survey)
    withdrawn = [submission(survey, group=group) for group in survey.groups for _ in range(2 + WITHDRAWN)]
    waiting = [submission(survey, group=group) for group in survey.groups]
    for group in survey.groups:
        store.submissions.add(survey.id, submission(survey, 2, group=group, mode="organisation"))
    for each in withdrawn:
        store.submissions.add(survey.id, each)
    assert release_people(store) == [survey.id]  # a batch of two stays behind
    for each in withdrawn:
        store.submissions.withdraw(survey.id, each.id)
    for each in waiting:
        store.submissions.add(survey.id, each)
    return waiting[0].id


WITHDRAWN = 2
"""Records that were withdrawn after their release, and leave the counts with the next one."""

Do = Callable[["Site"], object]


@dataclass
class Site:
    """A survey of some groups, filled, with an application and a researcher."""

    path: Path
    store: Store
    app: Flask
    key: dict[str, str]
    browser: FlaskClient
    waiting: bytes

    def get(self, address: str) -> None:
        reply = self.app.test_client().get(f"/api/v1/surveys/many/{address}", headers=self.key)
        assert reply.status_code == 200, (address, reply.status_code)

    def page(self, address: str) -> None:
        reply = self.browser.get(f"/manage{address}")
        assert reply.status_code in (200, 400), (address, reply.text)  # a model of so few records may not be found

    def command(self, *words: str) -> None:
        done = CliRunner().invoke(main, [*words, "--db", str(self.path)])
        assert done.exit_code == 0, done.output


def close_on_a_day(store: Store) -> None:
    store.life.keep("many", Settings(close_on="2020-01-01"))
    assert upkeep.upkeep(store, "2030-01-01")


WAYS: dict[str, Do] = {
    "reports": lambda site: site.get("reports"),
    "reports as a table": lambda site: site.get("reports?form=arrow"),
    "reports of one group": lambda site: site.get("reports?group=Group 1"),
    "tally": lambda site: site.get("tally"),
    "results by the API": lambda site: site.get("results"),
    "results of clusters": lambda site: site.get("results?clusters=1"),
    "progress": lambda site: site.get("progress"),
    "bundle": lambda site: site.get("bundle"),
    "results as a file": lambda site: site.page("/surveys/many/results.csv"),
    "groups": lambda site: site.page("/surveys/many/groups"),
    "data": lambda site: site.page("/surveys/many/data"),
    "crosstab": lambda site: site.page("/surveys/many/crosstab?first=q0&second=q1"),
    "among": lambda site: site.page("/surveys/many/among?among=q0&answer=yes"),
    "model": lambda site: site.page("/surveys/many/model?outcome=q0&predictor=q1"),
    "settings": lambda site: site.page("/surveys/many/settings"),
    "survey": lambda site: site.page("/surveys/many"),
    "list": lambda site: site.page("?sort=attention"),
    "export": lambda site: cli_export.export(site.store, "many", site.path.with_name("export")),
    "results by command": lambda site: site.command("results", "many"),
    "list by command": lambda site: site.command("list"),
    "doctor": lambda site: list(doctor.database(site.path)),
    "opening": lambda site: open_store(site.path).close(),
    "upkeep": lambda site: upkeep.upkeep(site.store, "2030-01-01"),
    "release": lambda site: release_people(site.store),
    "closing on a day": lambda site: close_on_a_day(site.store),
    "closing": lambda site: site.store.surveys.set_open("many", False),
    "deleting": lambda site: site.store.life.erase("many", "2030-01-01"),
    "recount": lambda site: site.store.submissions.recount("many", estimated(site.store.surveys.published("many").survey)),
}
CONSTANT: dict[str, Do] = {
    "withdrawal of one that waits": lambda site: site.store.submissions.withdraw("many", site.waiting),
    "withdrawal of none": lambda site: site.store.submissions.withdraw("many", bytes(16)),
    "page of respondents": lambda site: site.app.test_client().get("/s/many"),
    "definition": lambda site: site.app.test_client().get("/api/v1/surveys/many"),
    "counts": lambda site: site.store.submissions.counts("many"),
    "reports of one part": lambda site: list(site.store.submissions.reports("many", Part("Group 1"))),
}
"""What takes as much work with one group as with a thousand."""


def browser_of(app: Flask) -> FlaskClient:
    """A browser with ada's session."""
    browser, store, token, now = app.test_client(), services_of(app).store, os.urandom(16).hex(), int(time.time())
    with browser.session_transaction("/manage") as session:
        session["token"] = token
    assert store.accounts.open_session("ada", hashlib.sha256(token.encode()).digest(), now, now + 3600)
    return browser


class Measured:
    """Surveys of SIZES groups, each in a database of its own; made once, since ways that change something come last."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.sites = folder, dict[int, Site]()
        self.work = Work()

    def site(self, groups: int) -> Site:
        if groups not in self.sites:
            path = self.folder / str(groups) / "deniable.db"
            store, survey = open_store(path), survey_of(groups)
            waiting = fill(store, survey)
            set_password(store.accounts, "ada", "correct horse battery")
            store.people.set_operator("ada", True)
            app = create_app(Config(path, "x" * 40), store)
            key = {"Authorization": f"Bearer {api_keys.make(store, 'lab', ['results', 'reports'])}"}
            self.sites[groups] = Site(path, store, app, key, browser_of(app), waiting)
        return self.sites[groups]

    def __call__(self, way: Do, groups: int) -> Work:
        """The work of one way."""
        site = self.site(groups)
        before = Work(self.work.parts, self.work.statements)
        way(site)
        return Work(self.work.parts - before.parts, self.work.statements - before.statements)


@pytest.fixture(scope="module")
def work_of(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Measured]:
    measured = Measured(tmp_path_factory.mktemp("growth"))
    with pytest.MonkeyPatch.context() as patch, counted(patch, measured.work):  # connections that are made now are watched for good
        yield measured
        for site in measured.sites.values():
            site.store.close()


def least(work_of: Measured, way: str, groups: int) -> Work:
    """The least work of three looks: a thread that rewrites the file after a withdrawal adds to some of them."""
    looks = 1 if way.startswith("withdrawal") else 3
    return min((work_of(CONSTANT[way], groups) for _ in range(looks)), key=lambda work: (work.statements, work.parts))


@pytest.mark.parametrize("way", CONSTANT)
def test_what_is_about_one_record_takes_as_much_work_however_many_groups_there_are(work_of: Measured, way: str) -> None:
    few, many = (least(work_of, way, groups) for groups in (SIZES[0], SIZES[-1]))
    assert many.parts <= few.parts + 2
    assert many.statements <= few.statements + 8


def test_reports_of_all_parts_open_each_withdrawn_record_once(work_of: Measured) -> None:
    def read(site: Site) -> None:
        survey = site.store.surveys.published("many").survey
        for _, chunks in labelled_rows(site.store, survey).read():
            list(chunks)

    assert work_of(read, SIZES[-1]).parts == WITHDRAWN * SIZES[-1]


@pytest.mark.parametrize("way", WAYS)
def test_the_work_grows_with_the_groups_and_not_with_their_square(work_of: Measured, way: str) -> None:
    done = [work_of(WAYS[way], groups) for groups in SIZES]
    for less, more in pairwise(done):
        assert more.parts <= MOST * less.parts + 8, done
        assert more.statements <= MOST * less.statements, done


def test_a_survey_of_a_thousand_groups_has_results_and_reports(store: Store) -> None:
    """A condition for each of 2,048 parts, joined by OR, is more than SQLite takes."""
    survey = survey_of(1024)
    store.surveys.publish(survey)
    store.submissions.add(survey.id, submission(survey, 2, group=survey.groups[-1], mode="organisation"))
    assert store.submissions.tally(survey.id, estimated(survey)).n == 2
    assert store.submissions.recount(survey.id, estimated(survey)).n == 2
    assert [part for part, _ in labelled_rows(store, survey).read()] == [Part(survey.groups[-1], "organisation")]
