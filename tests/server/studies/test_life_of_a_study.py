"""The life of a study: a typo is mended in a copy, and a second wave is compared with the first, without an id that is typed."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from io import BytesIO

import pytest
from flask import Flask
from flask.testing import FlaskClient
from tests.kit.drafts import EXAMPLE
from tests.kit.forms import filled
from tests.kit.surveys import submission
from werkzeug.test import TestResponse

from deniable.survey import Survey
from deniable.survey.document import parse
from deniable_server.drafts.own_drafts import ListedDraft
from deniable_server.store.drafts import MOST
from deniable_server.store.protocol import Store
from deniable_server.store.roles import Role
from deniable_server.studies import wave_changes

SMOKING = """\
# Ethics: ask Dr. Ruiz before the second wave.
deniable: 1
id: smoking
title: Smoking at work
about: The works council asks.
epsilon: ln 27
batch: 1
accept_small_batches: true
questions:
  - {id: smokes, text: "Do you smok?", type: yes_no}  # the main question
  - {id: where, text: "Where?", type: choice, options: [inside, outside]}
  - {id: hours, text: "Hours?", type: number, low: 0, high: 10, bins: [{name: few, from: 0}, {name: many, from: 5}]}
"""


@pytest.fixture
def ada(app: Flask, logged_in: Callable[..., FlaskClient], store: Store) -> FlaskClient:
    app.config["WTF_CSRF_ENABLED"] = False
    client = logged_in(app)
    publish(client, store.drafts.begin("ada", SMOKING).id)
    return client


def publish(client: FlaskClient, draft_id: str) -> None:
    """Publishes a draft, even under another owner's title."""
    path = f"/manage/drafts/{draft_id}/publish"
    fields = {**filled(client.get(path).text, "publishing"), "same_title": "y"}
    assert client.post(path, data=fields).status_code == 302


def draft_of(reply: TestResponse) -> str:
    assert reply.status_code == 302
    return reply.headers["Location"].rpartition("/")[2]


def press(client: FlaskClient, survey_id: str, act: str) -> str:
    """Presses a button below the questions of a survey, and returns the new draft."""
    page = client.get(f"/manage/surveys/{survey_id}/questions").text
    (form,) = re.findall(rf'<form method="post" action="/manage/surveys/{survey_id}/{act}">(.*?)</form>', page, re.DOTALL)
    fields = dict(re.findall(r'name="([^"]+)" value="([^"]*)"', form))
    return draft_of(client.post(f"/manage/surveys/{survey_id}/{act}", data=fields))


def warnings(page: str) -> list[str]:
    note = page.partition('id="wave"')[2].partition("</div>")[0]
    return [" ".join(html.unescape(re.sub("<[^>]+>", "", line)).split()) for line in re.findall("<li>(.*?)</li>", note, re.DOTALL)]


def test_a_typo_is_mended_in_a_copy_and_published(ada: FlaskClient, store: Store) -> None:
    draft = press(ada, "smoking", "copy")
    assert store.drafts.draft(draft).text == SMOKING.replace("id: smoking", "id: smoking-copy"), "as its author wrote it"
    page = ada.get(f"/manage/drafts/{draft}").text
    assert ("This draft is a copy." in page, 'id="wave"' in page) == (True, False)
    fields = filled(page, "editor")
    (field,) = [name for name, value in fields.items() if value == "Do you smok?"]
    assert ada.post(f"/manage/drafts/{draft}", data={**fields, field: "Do you smoke?", "do": "publish"}).status_code == 302
    publish(ada, draft)
    texts = [published.survey.questions[0].text for published in store.surveys.all() if published.survey.id.startswith("smoking")]
    assert texts == ["Do you smok?", "Do you smoke?"]
    assert store.studies.wave("smoking") is None
    again = store.drafts.draft(press(ada, "smoking", "copy"))
    assert ListedDraft(again.head, "", "").draft.beginning.split("\n")[2] == "id: smoking-copy-2", "the next id that is free"


def test_a_second_wave_is_compared_with_the_first_without_an_id_that_is_typed(ada: FlaskClient, store: Store) -> None:
    assert "New wave" in ada.get("/manage/surveys/smoking/waves").text
    survey = store.surveys.published("smoking").survey
    store.submissions.add("smoking", submission(survey, 50, mode="organisation"))
    store.surveys.set_open("smoking", False)
    draft = press(ada, "smoking", "wave")
    assert store.drafts.draft(draft).text == SMOKING.replace("id: smoking", "id: smoking-2")
    page = ada.get(f"/manage/drafts/{draft}").text
    assert "This draft will be wave 2 of <bdi>Smoking at work</bdi>." in page
    assert warnings(page) == []
    publish(ada, draft)
    store.submissions.add("smoking-2", submission(store.surveys.published("smoking-2").survey, 60, mode="organisation"))
    for wave in ("smoking", "smoking-2"):
        page = ada.get(f"/manage/surveys/{wave}/waves").text
        listed = re.findall(r'Wave (\d): <a href="/manage/surveys/([^/]+)/waves"( aria-current="page")?>', page)
        assert [one[:2] for one in listed] == [("1", "smoking"), ("2", "smoking-2")]
        assert [one[1] for one in listed if one[2]] == [wave]
        records = [" ".join(re.sub("<[^>]+>", "", line).split()) for line in re.findall(r"<span><bdi>smoking.*?</span>", page)]
        assert [line.partition(",")[0] for line in records] == ["smoking: 50 records", "smoking-2: 60 records"], "the first wave first"
        assert "The change is <bdi>smoking-2</bdi> minus <bdi>smoking</bdi>." in page
        assert page.count('<section class="card question"') == 3
        for link in re.findall(r'href="(/manage/surveys/[^"]+waves[./][^"]+)"', page):
            assert ada.get(html.unescape(link)).status_code == 200
    other = ada.get("/manage/surveys/smoking/waves.csv?with=smoking-2").text
    assert other == ada.get("/manage/surveys/smoking-2/waves.csv?with=smoking").text
    third = press(ada, "smoking", "wave")
    assert "\nid: smoking-3\n" in store.drafts.draft(third).text
    publish(ada, third)
    wave = store.studies.wave("smoking-3")
    assert wave
    assert wave.number == 3


def test_only_the_surveys_of_the_study_are_offered_until_others_are_asked_for(ada: FlaskClient, store: Store) -> None:
    publish(ada, press(ada, "smoking", "copy"))
    publish(ada, press(ada, "smoking", "wave"))

    def offered(address: str) -> list[str]:
        return re.findall(r'<option value="(smoking[^"]*)"', ada.get(f"/manage/surveys/smoking/waves{address}").text)

    assert offered("") == ["smoking-2"]
    assert offered("?all=1") == ["smoking-2", "smoking-copy"]
    page = ada.get("/manage/surveys/smoking/waves?all=1&with=smoking-copy").text
    assert "Add smoking-copy as the next wave" in page
    ada.post("/manage/surveys/smoking/study", data={"do": "join", "other": "smoking-copy"})
    assert offered("") == ["smoking-2", "smoking-copy"]
    ada.post("/manage/surveys/smoking/study", data={"do": "rename", "name": " Habits "})
    assert "Study: <bdi>Habits</bdi>" in ada.get("/manage/surveys/smoking-copy/waves").text
    ada.post("/manage/surveys/smoking/study", data={"do": "leave"})
    assert offered("") == ["smoking-2", "smoking-copy"], "all that ask the same questions, as for a survey in no study"
    assert store.studies.wave("smoking") is None


@pytest.mark.parametrize(
    ("change", "warning"),
    [
        (("{id: smokes,", "{id: q1,"), "smokes, Do you smok?: has another id, q1."),
        (('  - {id: smokes, text: "Do you smok?", type: yes_no}', ""), "smokes, Do you smok?: is left out."),
        (
            ('"Do you smok?", type: yes_no', '"Do you smok?", type: choice, options: ["yes", "no"]'),
            "smokes, Do you smok?: has another type.",
        ),
        (("[inside, outside]", "[inside, outside, both]"), "where, Where?: has other options than “inside”, “outside”."),
        (("[inside, outside]", "[outside, inside]"), "where, Where?: has other options than “inside”, “outside”."),
        (("{name: few", "{name: none"), "hours, Hours?: has other options than “few”, “many”."),
        (
            ("type: yes_no}", "type: yes_no, required: false}"),
            "smokes, Do you smok?: can be answered with “Prefer not to say” now, which adds the option “no answer”.",
        ),
    ],
)
def test_a_wave_that_asks_something_else_is_warned_of_with_the_question(
    ada: FlaskClient, store: Store, change: tuple[str, str], warning: str
) -> None:
    draft = store.drafts.draft(press(ada, "smoking", "wave"))
    assert change[0] in draft.text
    store.drafts.save(draft.id, draft.text.replace(*change), draft.revision)
    for page in ("", "/source", "/publish"):
        assert warnings(ada.get(f"/manage/drafts/{draft.id}{page}").text) == [warning], page
    publish(ada, draft.id)
    changes = wave_changes.wave_changes(*(store.surveys.published(name).survey for name in ("smoking", "smoking-2")))
    assert [one.question.id for one in changes] == [warning.partition(",")[0]]


def test_what_keeps_two_waves_comparable_is_no_reason_for_a_warning(ada: FlaskClient, store: Store) -> None:
    draft = store.drafts.draft(press(ada, "smoking", "wave"))
    text = draft.text.replace("Do you smok?", "Do you smoke?").replace("ln 27", "ln 9") + "  - {id: new, text: N, type: yes_no}\n"
    store.drafts.save(draft.id, text, draft.revision)
    assert warnings(ada.get(f"/manage/drafts/{draft.id}/publish").text) == []


def test_the_source_is_downloaded_as_it_was_written(ada: FlaskClient, store: Store, survey: Survey) -> None:
    reply = ada.get("/manage/surveys/smoking/source.yaml")
    assert (reply.text, reply.headers["Content-Disposition"]) == (SMOKING, 'attachment; filename="smoking.yaml"')
    assert 'href="/manage/surveys/smoking/source.yaml"' in ada.get("/manage/surveys/smoking/questions").text
    older = ada.get("/manage/surveys/study/source.yaml").text
    assert store.surveys.source("study") is None
    assert Survey.from_text(older).is_same_as(survey), "written from the definition"
    draft = store.drafts.draft(press(ada, "study", "copy"))
    assert Survey.from_text(draft.text).id == "study-copy"


def test_a_downloaded_definition_starts_a_draft(ada: FlaskClient, store: Store) -> None:
    definition = ada.get("/api/v1/surveys/smoking").data
    for raw in (definition, json.dumps(json.loads(definition), indent=2).encode()):
        reply = ada.post("/manage/new", data={"file": (BytesIO(raw), "smoking.json"), "upload": "1"})
        draft = store.drafts.draft(draft_of(reply))
        survey = Survey.from_text(draft.text)
        assert survey.id in ("smoking-copy", "smoking-copy-2")
        assert Survey.from_dict({**parse(draft.text).value, "id": "smoking"}).is_same_as(store.surveys.published("smoking").survey)
        assert "Fix " not in ada.get(f"/manage/drafts/{draft.id}").text


def test_a_survey_by_invitation_is_copied_without_the_key_of_the_server(ada: FlaskClient, store: Store) -> None:
    store.surveys.publish(Survey.from_text(EXAMPLE + "access: invited\n"), "ada")
    text = store.drafts.draft(press(ada, "affairs", "copy")).text
    assert "issuer" not in text
    assert Survey.from_text(text).access == "invited"


def test_viewers_copy_and_editors_begin_waves_and_strangers_find_nothing(
    ada: FlaskClient, store: Store, app: Flask, logged_in: Callable[..., FlaskClient]
) -> None:
    eve = logged_in(app, "eve")
    assert eve.post("/manage/surveys/smoking/copy").status_code == 404
    store.roles.grant("smoking", "eve", Role.VIEWER)
    page = eve.get("/manage/surveys/smoking/questions").text
    assert ("Copy as new draft" in page, "New wave" in page) == (True, False)
    assert store.drafts.draft(press(eve, "smoking", "copy")).author == "eve"
    assert eve.post("/manage/surveys/smoking/wave").status_code == 403
    store.roles.grant("smoking", "eve", Role.EDITOR)
    draft = press(eve, "smoking", "wave")
    store.roles.revoke("smoking", "eve")
    assert 'id="wave"' not in eve.get(f"/manage/drafts/{draft}").text, "nothing of a survey that she may no longer see"
    publish(eve, draft)
    assert (store.studies.wave("smoking-2"), store.roles.members("smoking-2")) == (None, {"eve": Role.OWNER})


def test_a_button_that_is_pressed_twice_makes_one_draft(ada: FlaskClient, store: Store) -> None:
    page = ada.get("/manage/surveys/smoking/questions").text
    for act, once in re.findall(r'action="/manage/surveys/smoking/(\w+)">.*?name="once" value="([^"]+)"', page, re.DOTALL):
        before = len(store.drafts.listed("ada"))
        replies = [ada.post(f"/manage/surveys/smoking/{act}", data={"once": once}).status_code for _ in range(2)]
        assert (replies, len(store.drafts.listed("ada"))) == ([302, 409], before + 1)


def test_a_copy_beyond_the_most_drafts_is_refused_in_words(ada: FlaskClient, store: Store) -> None:
    for _ in range(MOST):
        store.drafts.begin("ada", "")
    reply = ada.post("/manage/surveys/smoking/copy")
    assert (reply.status_code, f"you have {MOST} drafts" in reply.text.lower()) == (409, True), reply.text


def test_a_warning_that_looks_at_nothing_would_be_noticed(ada: FlaskClient, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Control of the warnings above."""
    monkeypatch.setattr(wave_changes, "_reason", lambda question, other: "")
    draft = store.drafts.draft(press(ada, "smoking", "wave"))
    store.drafts.save(draft.id, draft.text.replace("[inside, outside]", "[outside, inside]"), draft.revision)
    assert warnings(ada.get(f"/manage/drafts/{draft.id}").text) == []
