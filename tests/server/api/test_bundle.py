"""The bundle of a survey over the API and on the page: all doors give the same, and it tells nothing of who came when."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import re
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from flask import Flask
from flask.testing import FlaskClient
from tests.client.bundle.conftest import COINS, EVERY
from tests.kit.servers.process import ServerProcess
from tests.kit.servers.release import release_people

from deniable import SurveyClient, extras
from deniable.bundle import FILES
from deniable.cli import main
from deniable.errors import RejectedError
from deniable.simulate import simulate
from deniable.survey import Survey
from deniable.wire import access_codes
from deniable.wire.part import Part
from deniable.wire.submission import Submission
from deniable_server import Config, create_app
from deniable_server.access import api_keys
from deniable_server.results import bundles, disclosure_control
from deniable_server.store import open_store
from deniable_server.store.protocol import Store

AUTH = ("ada", "correct horse battery")
SURVEY = Survey.from_dict(EVERY)
BATCHED = Survey.from_dict({**COINS, "batch": 10, "groups": ["North", "South"], "access": "invited"})
SMALL = Survey.from_dict(COINS)
Get = Callable[..., bytes]


def send(store: Store, survey: Survey, part: Part, n: int = 1, raw: bytes | None = None, code: bytes | None = None) -> Submission:
    truth = {item.id: [1 / item.k] * item.k for item in survey.items}
    reports = simulate(survey, truth, n=n).reports if raw is None else raw
    one = Submission(os.urandom(16), survey.digest, n, reports, part.group, part.mode, code)
    store.submissions.add(survey.id, one)
    return one


@pytest.fixture
def get(client: FlaskClient) -> Get:
    def ask(what: str, survey: str = "every", status: int = 200) -> bytes:
        reply = client.get(f"/api/v1/surveys/{survey}/{what}", auth=AUTH)
        assert reply.status_code == status, reply.text
        return reply.data

    return ask


@pytest.fixture
def every(store: Store) -> Store:
    store.surveys.publish(SURVEY)
    for part, n in {Part("North"): 60, Part("North", "organisation"): 12, Part("مستشفى"): 20, Part("-5"): 1}.items():
        send(store, SURVEY, part, n)
    assert release_people(store) == ["every"]
    return store


def unpacked(raw: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


# What is in it.


@pytest.mark.slow
def test_each_file_alone_is_the_file_in_the_zip_by_the_api_and_on_the_page(every: Store, get: Get, app: Flask, logged_in: Any) -> None:
    files = unpacked(get("bundle"))
    charts = {name for name in files if name.startswith("charts/")}
    assert set(files) == {*FILES, *charts, "SHA256SUMS"} - {"report.pdf"}
    assert len(charts) == len(SURVEY.questions)
    researcher = logged_in(app)
    for name, content in files.items():
        if name != "SHA256SUMS":
            assert get(f"bundle/{name}") == content, name
        if name in FILES:
            assert researcher.get(f"/manage/surveys/every/data/{name}").data == content
    assert researcher.get("/manage/surveys/every/data/bundle.zip").data == get("bundle")
    sums = dict(line.split("  ")[::-1] for line in files["SHA256SUMS"].decode().splitlines())
    assert sums == {name: hashlib.sha256(content).hexdigest() for name, content in files.items() if name != "SHA256SUMS"}


@pytest.mark.slow
def test_the_figures_are_those_of_the_results_page(every: Store, get: Get) -> None:
    told = json.loads(get("bundle/estimates.json"))
    queries = ["results", *(f"results?group={group}" for group in map(quoted, SURVEY.groups))]
    assert [{**one, "waiting": 0} for one in told] == [{**json.loads(get(query)), "waiting": 0} for query in queries]


def quoted(text: str) -> str:
    return "".join(f"%{byte:02X}" for byte in text.encode())


def test_records_made_by_hand_are_rows_apart_and_figures_apart(store: Store, get: Get) -> None:
    store.surveys.publish(SMALL)
    for part, n in {Part("North"): 30, Part("North", "by_hand"): 8, Part("South"): 9}.items():
        send(store, SMALL, part, n)
    told = json.loads(get("bundle/estimates.json", "coins"))
    assert [(one["group"], one["by_hand"], one["n"]) for one in told] == [
        *((None, False, 39), ("North", False, 30), ("South", False, 9), ("Nobody", False, 0)),
        *((None, True, 8), ("North", True, 8), ("South", True, 0), ("Nobody", True, 0)),
    ]
    for query, one in (("results?by_hand=1", told[4]), ("results?by_hand=1&group=North", told[5])):
        assert {**one, "waiting": 0} == {**json.loads(get(query, "coins")), "waiting": 0}
    modes = [line.split(",")[0] for line in get("bundle/rows.csv", "coins").decode().splitlines()[1:]]
    assert modes == ["1"] * 30 + ["2"] * 8 + ["1"] * 9


def test_the_definition_in_it_is_the_published_one(every: Store, get: Get) -> None:
    assert hashlib.sha256(get("bundle/survey.json")).hexdigest() == SURVEY.digest


def test_a_download_says_what_it_is_and_how_long(every: Store, client: FlaskClient) -> None:
    reply = client.get("/api/v1/surveys/every/bundle", auth=AUTH)
    assert (reply.mimetype, int(reply.headers["Content-Length"])) == ("application/zip", len(reply.data))
    assert reply.headers["Content-Disposition"] == "attachment; filename=every-bundle.zip"
    assert client.get("/api/v1/surveys/every/bundle/rows.sav", auth=AUTH).headers["Content-Disposition"].endswith("every-rows.sav")


@pytest.mark.slow
def test_the_licence_is_the_researchers_choice(every: Store, get: Get) -> None:
    for licence, words in {"cc-by-4.0": b"CC BY 4.0", "cc0-1.0": b"CC0 1.0", "none": b"No licence is given"}.items():
        for name in ("LICENCE.txt", "README.md", "datasheet.md", "report.html"):
            assert words in get(f"bundle/{name}?licence={licence}"), name
    assert b"licence must be one of cc-by-4.0, cc0-1.0, none" in get("bundle?licence=mine", status=400)


def test_another_file_is_refused_and_says_which_there_are(every: Store, get: Get, app: Flask, logged_in: Any) -> None:
    assert b"the file must be one of README.md, rows.csv" in get("bundle/rows.txt", status=400)
    assert get("bundle/charts/%2E%2E/%2E%2E/deniable.db", status=400)
    assert logged_in(app).get("/manage/surveys/every/data/rows.txt").status_code == 404


def test_what_a_server_has_no_package_for_is_left_out_and_the_readme_says_why(
    every: Store, get: Get, monkeypatch: pytest.MonkeyPatch
) -> None:
    for need, package in {"parquet": "no_such_pyarrow", "docx": "no_such_docx", "pdf": "no_such_weasyprint"}.items():
        monkeypatch.setitem(extras._PACKAGES, need, (package,))
    files = unpacked(get("bundle"))
    assert not {"rows.parquet", "report.docx"} & set(files)
    assert "`rows.parquet` is left out: the server lacks the extra tables" in files["README.md"].decode()
    assert b"the server lacks the extra bundle" in get("bundle/report.docx", status=400)
    assert b"the server lacks the extra pdf" in get("bundle/report.pdf", status=400)


@pytest.mark.parametrize(
    ("what", "status"), [("bundle", 200), ("bundle/rows.dta", 200), ("bundle/nothing", 400), ("bundle?licence=x", 400)]
)
def test_no_file_is_left_behind(every: Store, client: FlaskClient, what: str, status: int, tmp_path: Path, monkeypatch: Any) -> None:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    reply = client.get(f"/api/v1/surveys/every/{what}", auth=AUTH, buffered=False)
    assert reply.status_code == status
    assert len(list(folder.iterdir())) == (status == 200)  # until it is sent
    reply.close()
    assert list(folder.iterdir()) == []


# What it does not tell.


@pytest.mark.slow
@pytest.mark.parametrize(("release", "later"), [("close", [False, True]), ("daily", [True, True])])
def test_a_bundle_changes_by_releases_only_whatever_single_people_send(store: Store, get: Get, release: str, later: list[bool]) -> None:
    survey = Survey.from_dict({**BATCHED.to_dict(), "release": release})
    store.surveys.publish(survey)
    codes = [os.urandom(15) for _ in range(40)]
    store.invitations.add("coins", [access_codes.invitation_hash("coins", code) for code in codes])
    seen = [hashlib.sha256(get("bundle", "coins")).hexdigest()]
    for i, code in enumerate(codes):
        send(store, survey, Part("North" if i % 5 else "South"), code=code)
        seen.append(hashlib.sha256(get("bundle", "coins")).hexdigest())
    assert len(set(seen)) == 1
    release_people(store)
    seen.append(hashlib.sha256(get("bundle", "coins")).hexdigest())
    store.surveys.set_open("coins", False)
    seen.append(hashlib.sha256(get("bundle", "coins")).hexdigest())
    assert [now != before for before, now in pairwise(seen[-3:])] == later


@pytest.mark.slow
def test_a_bundle_of_records_that_are_counted_one_by_one_would_be_found_out(store: Store, get: Get) -> None:
    one_by_one = Survey.from_dict({**COINS, "batch": 1, "accept_small_batches": True})
    store.surveys.publish(one_by_one)
    seen = set()
    for _ in range(5):
        send(store, one_by_one, Part("North"))
        release_people(store)
        seen.add(get("bundle", "coins"))
    assert len(seen) == 5


def bundles_of(folder: Path, orders: Sequence[Sequence[Sequence[int]]]) -> set[bytes]:
    """The bundles of servers that got the same records, in other orders and other submissions."""
    truth = {item.id: [1 / item.k] * item.k for item in SURVEY.items}
    raw, size = simulate(SURVEY, truth, n=30).reports, SURVEY.record.bytes
    people, found = [raw[at : at + size] for at in range(0, len(raw), size)], set()
    for number, order in enumerate(orders):
        store = open_store(folder / f"{number}.db")
        store.surveys.publish(SURVEY)
        app = create_app(Config(folder / f"{number}.db", "x" * 40), store)
        key = api_keys.make(store, "key", ["reports"])
        for together in order:
            send(store, SURVEY, Part("North"), len(together), b"".join(people[i] for i in together))
        release_people(store)
        found.add(app.test_client().get("/api/v1/surveys/every/bundle", headers={"Authorization": f"Bearer {key}"}).data)
        store.close()
    return found


ORDERS = [[[i] for i in range(30)], [[i] for i in reversed(range(30))], [range(15, 30), range(15)]]


@pytest.mark.slow
def test_the_same_records_give_the_same_bundle_byte_for_byte_in_whatever_order_they_came(tmp_path: Path) -> None:
    (found,) = bundles_of(tmp_path, ORDERS)
    assert len(found) > 10_000


@pytest.mark.slow
def test_rows_in_the_order_of_the_database_would_be_found_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disclosure_control, "sorted_records", lambda reports, size: reports)
    assert len(bundles_of(tmp_path, ORDERS)) > 1


def everything(raw: bytes) -> Iterator[bytes]:
    """All files of an archive, and those in the archives among them."""
    for name, content in unpacked(raw).items():
        yield name.encode()
        yield content
        if content.startswith(b"PK"):
            yield from everything(content)


def test_no_id_code_time_or_name_of_an_account_is_in_any_file(store: Store, get: Get) -> None:
    store.surveys.publish(BATCHED)
    codes = [os.urandom(15) for _ in range(12)]
    store.invitations.add("coins", [access_codes.invitation_hash("coins", code) for code in codes])
    sent = [send(store, BATCHED, Part("North"), code=code) for code in codes]
    store.surveys.set_open("coins", False)
    day = store.surveys.published("coins").published_on
    secrets = [form for one in sent for form in forms(one.id)] + [form for code in codes for form in forms(code)]
    secrets += [form for code in codes for form in forms(access_codes.invitation_hash("coins", code))]
    secrets += [access_codes.format_code(code).encode() for code in codes] + [day.encode(), day.replace("-", "").encode(), b"horse"]
    found = list(everything(get("bundle", "coins")))
    assert len(found) > 50
    assert not [secret for secret in secrets for content in found if secret in content]
    assert [stamp for content in found for stamp in re.findall(rb"20\d\d-\d\d-\d\d", content)] == []


def forms(secret: bytes) -> list[bytes]:
    return [secret, secret.hex().encode(), base64.urlsafe_b64encode(secret).rstrip(b"="), base64.b64encode(secret).rstrip(b"=")]


def test_an_id_in_a_file_in_an_archive_in_it_would_be_found() -> None:
    inner, outer = io.BytesIO(), io.BytesIO()
    for file, name, content in ((inner, "a.xml", b"..an id.."), (outer, "rows.xlsx", None)):
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(name, inner.getvalue() if content is None else content)
    assert b"..an id.." in everything(outer.getvalue())


# The other doors.


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[ServerProcess, dict[str, str]]]:
    server = ServerProcess(tmp_path_factory.mktemp("bundle"))
    store = open_store(server.db)
    store.surveys.publish(SURVEY)
    send(store, SURVEY, Part("North"), 40)
    made = {scope: api_keys.make(store, scope, [scope]) for scope in ("results", "reports")}
    store.close()
    server.start()
    yield server, made
    server.stop()
    server.close()
    assert "Traceback" not in server.log.read_text()


@pytest.mark.slow
def test_the_library_and_the_command_line_write_what_the_api_sends(site: Any, tmp_path: Path) -> None:
    server, made = site
    with SurveyClient(server.url, key=made["reports"], outbox=":memory:") as client:
        client.bundle("every", tmp_path / "sdk.zip")
        client.bundle("every", tmp_path / "rows.sav", only="rows.sav")
        client.bundle("every", tmp_path / "chart.svg", only="charts/01-smokes.svg", licence="none")
        with pytest.raises(RejectedError, match="the file must be one of"):
            client.bundle("every", tmp_path / "no", only="no.csv")
    line = ["bundle", f"{server.url}/s/every", "-o", str(tmp_path / "cli.zip"), "--key-env", "KEY"]
    done = CliRunner().invoke(main, line, env={"KEY": made["reports"]})
    assert done.exit_code == 0, done.output
    whole = (tmp_path / "sdk.zip").read_bytes()
    assert (tmp_path / "cli.zip").read_bytes() == whole
    files = unpacked(whole)
    assert (tmp_path / "rows.sav").read_bytes() == files["rows.sav"]
    assert (tmp_path / "chart.svg").read_bytes() == files["charts/01-smokes.svg"]
    alone = CliRunner().invoke(main, [*line[:3], str(tmp_path / "rows.csv"), *line[4:], "--only", "rows.csv"], env={"KEY": made["reports"]})
    assert (alone.exit_code, (tmp_path / "rows.csv").read_bytes()) == (0, files["rows.csv"])
    assert sorted(file.name for file in tmp_path.iterdir()) == ["chart.svg", "cli.zip", "rows.csv", "rows.sav", "sdk.zip"]


@pytest.mark.slow
def test_a_key_without_the_right_to_records_gets_no_bundle_and_leaves_the_file_that_is_there(site: Any, tmp_path: Path) -> None:
    server, made = site
    target = tmp_path / "every.zip"
    target.write_bytes(b"of yesterday")
    line = ["bundle", f"{server.url}/s/every", "-o", str(target), "--key-env", "KEY"]
    done = CliRunner().invoke(main, line, env={"KEY": made["results"]})
    assert done.exit_code == 1
    assert "the key must have the scope reports for this survey" in done.output
    assert [file.read_bytes() for file in tmp_path.iterdir()] == [b"of yesterday"]


def test_data_are_made_for_one_at_a_time_and_whoever_waits_too_long_is_told_to_come_again(
    client: FlaskClient, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.surveys.publish(SMALL)
    send(store, SMALL, Part(), 30)
    address = f"/api/v1/surveys/{SMALL.id}/bundle/rows.csv"
    monkeypatch.setattr(bundles, "WAIT", 0.01)
    with bundles._TURN:
        busy = client.get(address, auth=AUTH)
    assert (busy.status_code, busy.get_json()["rule"], busy.headers["Retry-After"]) == (503, "unavailable", "2")
    for licence, status in (("none of these", 400), ("none", 200), ("none", 200)):
        assert client.get(f"{address}?licence={licence}", auth=AUTH).status_code == status, "whatever became of it, the next has its turn"
