"""A test run: the draft on the real page, its records in a store of its own, and nothing of it anywhere else."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient

from deniable.survey import Survey
from deniable.wire.access_codes import invitation_hash
from deniable.wire.access_codes import read as read_code
from deniable.wire.submission import Submission
from deniable_server.context import services_of
from deniable_server.store.errors import ConflictError, FullError
from deniable_server.store.protocol import Store
from deniable_server.store.sql import trials as trial_storage
from deniable_server.store.trials import TrialId, is_trial, new_trial_id
from deniable_server.trials import runs
from deniable_server.trials.runs import TrialRuns

HABITS = (Path(__file__).parents[3] / "examples" / "habits.yaml").read_text()
ONE = """{deniable: 1, id: one, title: One question, about: A., epsilon: ln 3, questions: [{id: q, text: Do you?, type: yes_no}]}"""
Make = Callable[..., Submission]
TRIAL = r"(?:test|simulated)-[a-z0-9-]+-[a-z2-7]{26}"


@pytest.fixture
def ada(app: Flask, logged_in: Callable[..., FlaskClient]) -> FlaskClient:
    app.config["WTF_CSRF_ENABLED"] = False
    return logged_in(app)


@pytest.fixture
def trials(app: Flask) -> Iterator[TrialRuns]:
    services = services_of(app).get(TrialRuns)
    yield services
    services.close()


@dataclass
class Run:
    """A test run of a draft, as its researcher sees it."""

    client: FlaskClient
    draft_id: str

    @property
    def page(self) -> str:
        return f"/manage/drafts/{self.draft_id}/test"

    @property
    def ids(self) -> list[str]:
        return list(dict.fromkeys(re.findall(TRIAL, self.client.get(self.page).text)))

    @property
    def survey(self) -> Survey:
        return Survey.from_definition(self.client.get(f"/api/v1/surveys/{self.ids[0]}").data)

    def send(self, submission: Submission, to: str = "") -> tuple[int, str]:
        path = f"/api/v1/surveys/{to or self.ids[0]}/submissions"
        reply = self.client.post(path, data=submission.to_json(), content_type="application/json")
        return reply.status_code, json.loads(reply.data).get("rule", "")


@pytest.fixture
def run(ada: FlaskClient, store: Store, trials: TrialRuns) -> Callable[..., Run]:
    def make(text: str = ONE, author: FlaskClient | None = None, name: str = "ada") -> Run:
        run = Run(author or ada, store.drafts.begin(name, text).id)
        assert run.client.post(run.page).status_code == 302
        return run

    return make


def test_a_draft_is_answered_on_the_real_page_and_counted_at_once(run: Callable[..., Run], ada: FlaskClient, submissions: Make) -> None:
    one = run()
    (survey_id,) = one.ids
    page = ada.get(f"/s/{survey_id}").text
    assert "respond.mjs" in page
    assert "Test: nothing here counts." in page
    for n in (1, 2, 3):
        assert one.send(submissions(1, to=one.survey)) == (200, "")
        results = ada.get(f"/manage/surveys/{survey_id}").text
        assert "Test data" in results
        assert "TEST: One question" in results
        assert f"<dd>{n}</dd>" in results  # without a wait for a release or for a batch
    record = submissions(1, to=one.survey)
    assert (one.send(record), one.send(record)) == ((200, ""), (200, ""))  # once
    assert one.survey.batch == 1


def test_each_page_of_a_test_says_so_in_each_language_and_no_page_of_a_survey_does(
    run: Callable[..., Run], ada: FlaskClient, store: Store
) -> None:
    survey_id = run().ids[0]
    for path in (
        f"/s/{survey_id}",
        f"/s/{survey_id}/by-hand",
        f"/s/{survey_id}/withdraw",
        f"/s/{survey_id}/definition",
        f"/s/{survey_id}/kiosk",
    ):
        for language, words in (
            ("en", "nothing here counts"),
            ("de", "Hier zählt nichts"),
            ("ar", "لا شيء هنا"),
            ("es", "nada de esto"),
            ("fr", "rien ne compte"),
        ):
            assert words in ada.get(f"{path}?lang={language}").text, (path, language)
        assert "nothing here counts" not in ada.get(path.replace(survey_id, "study")).text


def test_a_record_of_a_test_can_reach_no_survey_and_none_of_a_survey_a_test(
    run: Callable[..., Run], ada: FlaskClient, store: Store, submissions: Make
) -> None:
    one = run()
    real = Survey.from_text(ONE)
    store.surveys.publish(real, "ada")
    test = submissions(1, to=one.survey)
    assert one.send(test, "one") == (409, "digest")
    assert one.send(submissions(1, to=real)) == (409, "digest")
    forged = Submission(test.id, real.digest, 1, test.reports)  # what a hostile tester can always send, as everybody: a record of their own
    assert one.send(forged) == (409, "digest")
    assert one.send(test) == (200, "")
    assert sum(store.submissions.counts("one").values()) == 0
    assert store.submissions.waiting("one")["device"] == 0


def test_nothing_of_a_trial_is_in_the_database_lists_metrics_or_a_backup(
    run: Callable[..., Run], ada: FlaskClient, store: Store, tmp_path: Path, submissions: Make
) -> None:
    one = run()
    assert one.send(submissions(1, to=one.survey)) == (200, "")
    assert ada.post(f"{one.page}/simulate", data={"n": "100"}).status_code == 302
    assert [published.survey.id for published in store.surveys.all()] == ["study"]
    assert not re.search(TRIAL, ada.get("/manage").text)
    api = ada.get("/api/v1/surveys", auth=("ada", "correct horse battery")).text
    assert not re.search(TRIAL, api)
    store.backup(tmp_path / "copy.db")
    for file in tmp_path.iterdir():
        assert not re.search(TRIAL.encode(), file.read_bytes()), file
    with pytest.raises(ConflictError):
        store.surveys.publish(one.survey)


def test_only_who_may_open_the_draft_sees_its_test(
    run: Callable[..., Run], app: Flask, ada: FlaskClient, logged_in: Callable[..., FlaskClient]
) -> None:
    survey_id = run().ids[0]
    eve, stranger = logged_in(app, "eve"), app.test_client()
    nothing = new_trial_id("test", "one")
    for path in ("", "/data", "/data/README.md", "/crosstab", "/among?among=smokes", "/waves", "/results.csv"):
        reply = eve.get(f"/manage/surveys/{survey_id}{path}")
        assert reply.status_code == 404
        assert stranger.get(f"/manage/surveys/{survey_id}{path}").status_code == 302
    replies = [re.sub(r'(?<=name="csrf_token" value=")[^"]+', "", eve.get(f"/manage/surveys/{name}").text) for name in (survey_id, nothing)]
    assert replies[0].replace(survey_id, nothing) == replies[1]  # whether there is such a test does not show
    assert eve.get(f"/api/v1/surveys/{survey_id}/results", auth=("eve", "correct horse battery")).status_code == 404
    assert ada.get(f"/manage/surveys/{survey_id}/settings").status_code == 200
    for path in ("settings", "close", "pause", "keys", "members", "invite"):
        assert ada.post(f"/manage/surveys/{survey_id}/{path}", data={"sure": "1"}).status_code in (403, 404, 405), path
    assert stranger.get(f"/s/{survey_id}").status_code == 200  # the link is for those who were given it


def test_another_person_cannot_start_or_end_a_test_of_a_draft(
    run: Callable[..., Run], app: Flask, logged_in: Callable[..., FlaskClient]
) -> None:
    one, eve = run(), logged_in(app, "eve")
    for path in ("", "/simulate", "/discard"):
        assert eve.post(f"{one.page}{path}", data={"n": "5"}).status_code == 404
    assert len(one.ids) == 1


def test_a_test_is_gone_when_it_is_thrown_away_published_deleted_or_too_old(
    run: Callable[..., Run], ada: FlaskClient, trials: TrialRuns, monkeypatch: pytest.MonkeyPatch, submissions: Make
) -> None:
    def is_gone(run: Run, survey: Survey) -> bool:
        statuses = [
            ada.get(path).status_code for path in (f"/s/{survey.id}", f"/manage/surveys/{survey.id}", f"/api/v1/surveys/{survey.id}")
        ]
        sent = run.send(submissions(1, to=survey), survey.id)
        return statuses == [404] * 3 and sent == (404, "survey") and not list(trials._root().glob("run-*"))

    def discard(run: Run) -> None:
        assert ada.post(f"{run.page}/discard").status_code == 302

    def publish(run: Run) -> None:
        page = ada.get(f"/manage/drafts/{run.draft_id}/publish").text
        (revision,) = re.findall(r'name="revision" [^>]*value="([0-9a-f]+)"', page)
        assert ada.post(f"/manage/drafts/{run.draft_id}/publish", data={"revision": revision}).status_code == 302

    def delete(run: Run) -> None:
        assert ada.post(f"/manage/drafts/{run.draft_id}/delete").status_code == 302

    def wait(run: Run) -> None:
        now = trials._clock()
        monkeypatch.setattr(trials, "_clock", lambda: now + 3600 * runs.HOURS + 1)

    for end in (discard, publish, delete, wait):
        one = run(ONE.replace("id: one", f"id: {end.__name__}").replace("One question", end.__name__))
        survey = one.survey
        assert not is_gone(one, survey)
        end(one)
        assert is_gone(one, survey), end.__name__


def test_the_numbers_of_runs_trials_and_bytes_are_limited(
    run: Callable[..., Run], ada: FlaskClient, store: Store, trials: TrialRuns, submissions: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = run()
    for _ in range(runs.MOST_OF_AUTHOR - 1):
        run()
    draft = store.drafts.begin("ada", ONE)
    assert ada.post(f"/manage/drafts/{draft.id}/test").status_code == 409
    assert first.client.post(first.page).status_code == 302  # again, in place of its own
    monkeypatch.setattr(runs, "MOST_OF_AUTHOR", 1000)
    monkeypatch.setattr(runs, "MOST_RUNS", runs.MOST_OF_AUTHOR)
    for _ in range(runs.MOST_SURVEYS - 1):
        assert ada.post(f"{first.page}/simulate", data={"n": "10"}).status_code == 302
    assert ada.post(f"{first.page}/simulate", data={"n": "10"}).status_code == 409
    record = submissions(1, to=first.survey)
    monkeypatch.setattr(trial_storage, "MOST_BYTES", 0)
    assert first.send(record) == (507, "full")
    own = trials.find(first.ids[0])
    assert own is not None
    with pytest.raises(FullError):
        own.submissions.add_later(first.ids[0], record, lambda outcome: None)


def test_a_survey_by_invitation_has_five_codes_for_its_test(run: Callable[..., Run], ada: FlaskClient, trials: TrialRuns) -> None:
    invited = run(ONE.replace("epsilon: ln 3", "epsilon: ln 3, access: invited"))
    (survey_id,) = invited.ids
    codes = re.findall(r"[#&]code=([A-Z0-9-]+)", ada.get(invited.page).text.replace("&amp;", "&"))
    store = trials.find(survey_id)
    assert store is not None
    assert len(set(codes)) == runs.CODES
    assert all(store.invitations.has(survey_id, invitation_hash(survey_id, read_code(code))) for code in codes)


def test_a_changed_draft_says_that_its_test_is_of_earlier_questions(run: Callable[..., Run], ada: FlaskClient, store: Store) -> None:
    one = run()
    assert "has changed since" not in ada.get(one.page).text
    draft = store.drafts.draft(one.draft_id)
    store.drafts.save(draft.id, ONE.replace("Do you?", "Did you?"), draft.revision)
    assert "has changed since" in ada.get(one.page).text
    store.drafts.save(draft.id, "deniable: 1", store.drafts.draft(one.draft_id).revision)
    assert ada.get(one.page).status_code == 302
    assert ada.post(one.page).status_code == 409


def test_ids_of_trials_are_unguessable_and_fit() -> None:
    assert len({new_trial_id("test", "x") for _ in range(100)}) == 100
    for name in ("x", "x" * 64, "a-b_c"):
        for kind in ("test", "simulated"):
            survey_id = new_trial_id(kind, name)
            assert len(survey_id) <= 64
            assert is_trial(survey_id)
            assert TrialId.of(survey_id) == TrialId(kind, survey_id[-26:])
    for name in ("test-run", "simulated-study", "test-" + "a" * 25, "xtest-a-" + "a" * 26, "test-a-" + "a" * 26 + "-b"):
        assert not is_trial(name)


# --- simulated people ---------------------------------------------------------------------------------------------------------------


def simulated(run: Run, **fields: str) -> str:
    reply = run.client.post(f"{run.page}/simulate", data={"n": "400", **fields})
    assert reply.status_code == 302, reply.text
    return reply.headers["Location"].rpartition("/")[2]


def test_everything_of_simulated_people_says_so(run: Callable[..., Run], ada: FlaskClient) -> None:
    survey_id = simulated(run(HABITS))
    pages = (
        "",
        "/crosstab?rows=smokes&columns=mood",
        "/among?among=smokes",
        "/model?outcome=smokes&predictor=mood",
        "/waves",
        "/data",
        "/questions",
        "/watch",
        "/plan",
    )
    for page in pages:
        reply = ada.get(f"/manage/surveys/{survey_id}{page}")
        assert reply.status_code in (200, 400), page  # a model of so few people is refused
        heading = re.findall(r"<h1>.*?</h1>", reply.text, re.S)[0]
        assert "SIMULATED: Habits" in heading, page
        assert "Simulated data" in reply.text, page
    files = [f"results.{kind}" for kind in ("csv", "json")] + [
        "chart/smokes.svg",
        "crosstab.csv?rows=smokes&columns=mood",
        "among.csv?among=smokes",
        "among/mood.svg?among=smokes",
        "data/README.md",
    ]
    for file in files:
        reply = ada.get(f"/manage/surveys/{survey_id}/{file}")
        assert reply.status_code == 200, file
        assert re.search(r'filename="?simulated-', reply.headers["Content-Disposition"]), file
        assert "simulated" in reply.text.lower(), file
    whole = ada.get(f"/manage/surveys/{survey_id}/data/bundle.zip")
    assert "simulated-" in whole.headers["Content-Disposition"]
    with zipfile.ZipFile(BytesIO(whole.data)) as archive:
        assert "SIMULATED: Habits" in archive.read(next(name for name in archive.namelist() if name.endswith("README.md"))).decode()
        assert {name.partition("/")[0] for name in archive.namelist()} == {survey_id}  # each file is in a folder that says it


def test_a_simulation_takes_no_records_and_has_the_shares_that_were_typed(
    run: Callable[..., Run], ada: FlaskClient, submissions: Make, trials: TrialRuns
) -> None:
    one = run(ONE.replace("ln 3", "8"))
    survey_id = simulated(one, n="2000", **{"shares-q": "90, 10"})
    survey = Survey.from_definition(ada.get(f"/api/v1/surveys/{survey_id}").data)
    assert one.send(submissions(1, to=survey), survey_id) == (403, "closed")
    rows = json.loads(ada.get(f"/manage/surveys/{survey_id}/results.json").data)["rows"]
    (yes,) = [row["estimate"] for row in rows if row["option"] == "yes"]
    assert abs(yes - 0.9) < 0.05
    second = simulated(one)
    assert second in ada.get(f"/manage/surveys/{survey_id}/waves").text  # offered for a comparison
    assert ada.get(f"/manage/surveys/{survey_id}/waves?with={second}").status_code == 200
    assert ada.get(f"/manage/surveys/{survey_id}/waves?with=study").status_code == 404  # a real survey is no wave of a simulation
    assert ada.get(f"/manage/surveys/study/waves?with={survey_id}").status_code == 404


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"n": "0"}, "Enter a whole number"),
        ({"n": "20001"}, "Enter a whole number"),
        ({"n": "x"}, "whole number"),
        ({"n": "10", "shares-q": "90"}, "2 percentages"),
        ({"n": "10", "shares-q": "90, 20"}, "add to 100"),
        ({"n": "10", "shares-q": "-5, 105"}, "2 percentages"),
        ({"n": "10", "shares-q": "nan, 1e2"}, "2 percentages"),
    ],
)
def test_wrong_numbers_are_refused_and_start_nothing(ada: FlaskClient, store: Store, fields: dict[str, str], words: str) -> None:
    draft = store.drafts.begin("ada", ONE)
    reply = ada.post(f"/manage/drafts/{draft.id}/test/simulate", data=fields)
    assert reply.status_code == 422
    assert words in reply.text
    assert "Start a test run" in reply.text


def test_a_test_run_is_not_copied(run: Callable[..., Run], ada: FlaskClient, store: Store) -> None:
    """Its copy would have the id of a test run, which is never published."""
    survey_id = run().ids[0]
    drafts = store.drafts.listed("ada")
    assert "Copy as new draft" not in ada.get(f"/manage/surveys/{survey_id}/questions").text
    assert ada.post(f"/manage/surveys/{survey_id}/copy").status_code == 409
    assert ada.post(f"/manage/surveys/{survey_id}/wave").status_code == 403
    assert store.drafts.listed("ada") == drafts
