"""A draft is shared with people and teams: each may do what the role says, and no text of two people is lost."""

from __future__ import annotations

import html
import re
from collections.abc import Callable

import pytest
from flask import Flask
from flask.testing import FlaskClient
from tests.kit.drafts import EXAMPLE
from tests.kit.forms import filled

from deniable_server.identity import form_recovery
from deniable_server.store.protocol import Store
from deniable_server.store.roles import Role

MINE, THEIRS = EXAMPLE.replace("About marriage", "Mine"), EXAMPLE.replace("About marriage", "Theirs")


class Shared:
    """A draft of mia's, with eve as its editor, tom as its viewer by a team, and zed as nobody."""

    def __init__(self, app: Flask, store: Store, logged_in: Callable[..., FlaskClient]) -> None:
        app.config["WTF_CSRF_ENABLED"] = False
        self.app, self.store = app, store
        self.mia, self.eve, self.tom, self.zed = (logged_in(app, user) for user in ("mia", "eve", "tom", "zed"))
        store.teams.create("Lab")
        store.teams.join("Lab", "tom", manager=False)
        self.id = store.drafts.begin("mia", EXAMPLE).id
        self.path = f"/manage/drafts/{self.id}"
        assert self.mia.post(f"{self.path}/sharing", data={"user": "eve", "role": "editor"}).status_code == 302
        assert self.mia.post(f"{self.path}/sharing/teams", data={"team": "Lab", "role": "viewer"}).status_code == 302

    def revision(self, client: FlaskClient) -> str:
        page = client.get(f"{self.path}/source").text
        return re.findall(r'name="revision"[^>]*value="([^"]+)"', page)[0]


@pytest.fixture
def shared(app: Flask, store: Store, logged_in: Callable[..., FlaskClient]) -> Shared:
    return Shared(app, store, logged_in)


def test_an_editor_writes_and_does_not_publish_share_or_delete(shared: Shared) -> None:
    saved = shared.eve.post(f"{shared.path}/source", data={"source": MINE, "revision": shared.revision(shared.eve)})
    assert saved.status_code == 200
    assert shared.store.drafts.draft(shared.id).text == MINE
    assert shared.store.drafts.draft(shared.id).author == "mia"
    assert "Mine" in shared.eve.get("/manage").text
    assert "Delete draft" not in shared.eve.get("/manage").text
    for path, data in (("publish", {}), ("sharing", {"user": "zed", "role": "owner"}), ("delete", {})):
        assert shared.eve.post(f"{shared.path}/{path}", data=data).status_code == 403
    assert "Sharing" not in shared.eve.get(shared.path).text
    assert "Sharing" in shared.mia.get(shared.path).text


def test_an_editor_reads_whom_to_ask_instead_of_a_button_to_publish(shared: Shared) -> None:
    shared.store.accounts.set_password("bob", "hash")
    shared.store.draft_roles.grant(shared.id, "bob", Role.OWNER)
    for page in ("", "/source"):
        theirs, own = shared.eve.get(f"{shared.path}{page}").text, shared.mia.get(f"{shared.path}{page}").text
        assert "Only owners can publish: ask <bdi>mia</bdi> or <bdi>bob</bdi>." in theirs
        assert ('id="publish"' in theirs, 'id="publish"' in own, "Only owners" in own) == (False, True, False)
    sent = {**filled(shared.eve.get(shared.path).text, "editor"), "title": "Theirs", "do": "publish"}
    reply = shared.eve.post(shared.path, data=sent)
    assert (reply.status_code, "Only owners can publish" in reply.text) == (200, True)
    assert "Theirs" in shared.store.drafts.draft(shared.id).text
    source = {"source": MINE, "revision": shared.revision(shared.eve), "publish": "1"}
    assert shared.eve.post(f"{shared.path}/source", data=source).status_code == 200


def test_a_viewer_reads_and_writes_nothing(shared: Shared) -> None:
    assert shared.tom.get(shared.path).headers["Location"] == f"{shared.path}/read"
    page = shared.tom.get(f"{shared.path}/read").text
    assert "Have you ever had an affair?" in page
    assert "Fields" not in page
    for path in ("plan", "preview", "preview/page", "survey.yaml"):
        assert shared.tom.get(f"{shared.path}/{path}").status_code == 200, path
    assert shared.tom.post(f"{shared.path}/source", data={"source": MINE, "revision": "x"}).status_code == 403
    assert shared.tom.post(shared.path, data={"do": "save"}).status_code == 403
    assert shared.store.drafts.draft(shared.id).text == EXAMPLE
    shared.store.drafts.save(shared.id, "deniable: 1\n", shared.store.drafts.draft(shared.id).revision)
    assert "still has problems" in shared.tom.get(f"{shared.path}/preview", follow_redirects=True).text


def test_others_do_not_see_it_and_who_leaves_the_team_no_longer(shared: Shared) -> None:
    assert shared.zed.get(shared.path).status_code == 404
    assert shared.zed.get(f"{shared.path}/read").status_code == 404
    shared.store.teams.leave("Lab", "tom")
    assert shared.tom.get(f"{shared.path}/read").status_code == 404
    assert "About marriage" not in shared.tom.get("/manage").text


@pytest.mark.parametrize("pressed", ["over", "keep"])
def test_two_people_who_save_lose_nothing(shared: Shared, pressed: str) -> None:
    revisions = {name: shared.revision(client) for name, client in (("mia", shared.mia), ("eve", shared.eve))}
    shared.mia.post(f"{shared.path}/source", data={"source": MINE, "revision": revisions["mia"]})
    late = shared.eve.post(f"{shared.path}/source", data={"source": THEIRS, "revision": revisions["eve"]})
    assert late.status_code == 409
    assert "The draft has changed" in late.text
    assert "title: Theirs" in html.unescape(late.text)
    assert shared.store.drafts.draft(shared.id).text == MINE
    shared.eve.post(f"{shared.path}/source", data={"source": THEIRS, "revision": revisions["eve"], pressed: "1"})
    kept = [head.beginning for head in shared.store.drafts.listed("eve")]
    assert (shared.store.drafts.draft(shared.id).text, kept) == ((THEIRS, []) if pressed == "over" else (MINE, [THEIRS]))


def test_the_form_keeps_what_was_typed_too(shared: Shared) -> None:
    stale = shared.revision(shared.eve)
    shared.mia.post(f"{shared.path}/source", data={"source": MINE, "revision": stale})
    late = shared.eve.post(shared.path, data={"do": "save", "revision": stale, "title": "Theirs", "n": "100"})
    assert (late.status_code, "The draft has changed" in late.text, "Theirs" in late.text) == (409, True, True)
    assert shared.store.drafts.draft(shared.id).text == MINE


def test_publishing_gives_everybody_the_role_in_the_survey(shared: Shared) -> None:
    revision = shared.store.drafts.draft(shared.id).revision
    assert shared.mia.post(f"{shared.path}/publish", data={"revision": revision}).status_code == 302
    assert shared.store.roles.members("affairs") == {"eve": Role.EDITOR, "mia": Role.OWNER}
    assert shared.store.teams.roles("affairs") == {"Lab": Role.VIEWER}
    assert shared.tom.get("/manage/surveys/affairs").status_code == 200
    assert shared.tom.get("/manage/surveys/affairs/data").status_code == 403


def test_who_owns_a_draft_by_a_role_may_leave_it_and_the_author_stays(shared: Shared) -> None:
    shared.mia.post(f"{shared.path}/sharing", data={"user": "eve", "role": "owner"})
    assert shared.eve.post(f"{shared.path}/sharing", data={"user": "mia", "role": "none"}).status_code == 422
    assert shared.eve.post(f"{shared.path}/sharing", data={"user": "eve", "role": "none"}).headers["Location"] == "/manage"
    assert shared.eve.get(shared.path).status_code == 404
    assert shared.mia.get(f"{shared.path}/sharing").status_code == 200
    assert shared.mia.post(f"{shared.path}/sharing", data={"user": "nobody", "role": "viewer"}).status_code == 422
    assert shared.mia.post(f"{shared.path}/sharing/teams", data={"team": "none", "role": "viewer"}).status_code == 422
    acts = [entry.did.act for entry in shared.store.audit.entries()]
    assert (acts.count("draft-role.give"), acts.count("draft-role.take")) == (3, 1)


def test_an_editors_form_comes_back_after_a_session_that_has_ended(shared: Shared, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(form_recovery.sessions, "device_id", lambda user: "device" if user == "eve" else None)
    stranger = shared.app.test_client()
    headers = {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Site": "same-origin"}
    reply = stranger.post(f"{shared.path}/source", data={"source": THEIRS}, headers=headers)
    assert (reply.status_code, "Theirs" in reply.text) == (401, True)
    shared.store.draft_roles.grant(shared.id, "eve", Role.VIEWER)
    assert stranger.post(f"{shared.path}/source", data={"source": THEIRS}, headers=headers).status_code == 302


def test_an_editor_starts_a_test_run_that_a_viewer_opens(shared: Shared) -> None:
    test = f"{shared.path}/test"
    page = shared.tom.get(test)
    assert (page.status_code, "Start a test run" in page.text, "Simulate" in page.text) == (200, False, False)
    for path in (test, f"{test}/simulate", f"{test}/discard"):
        assert shared.tom.post(path, data={"n": "100"}).status_code == 403, path
        assert shared.zed.post(path, data={"n": "100"}).status_code == 404, path
    assert shared.eve.post(test).status_code == 302
    assert shared.eve.post(f"{test}/simulate", data={"n": "100"}).status_code == 302
    page = shared.tom.get(test).text
    assert "Throw away" not in page
    for survey_id in re.findall(r'href="(/manage/surveys/[^"]+)"', page):
        assert [client.get(survey_id).status_code for client in (shared.mia, shared.eve, shared.tom, shared.zed)] == [200, 200, 200, 404]
        shared.store.teams.leave("Lab", "tom")
        assert shared.tom.get(survey_id).status_code == 404
        shared.store.teams.join("Lab", "tom", manager=False)
    assert len(re.findall(r'href="/manage/surveys/[^"]+"', page)) == 2
    assert shared.eve.post(f"{test}/discard").status_code == 302


def test_only_the_drafts_that_one_may_change_get_other_tags(shared: Shared) -> None:
    path = f"{shared.path}/tags"
    assert shared.eve.post(path, data={"tags": "health"}).status_code == 302
    assert shared.tom.post(path, data={"tags": "other"}).status_code == 403
    assert "<button>Save tags" in shared.eve.get(path).text
    page = shared.tom.get(path).text
    assert ("health" in page, "<button>Save tags" in page) == (True, False)
    for client, tags in ((shared.tom, ("health",)), (shared.eve, ("sleep",))):
        client.post("/manage/tags", data={"tag": "health", "new": "sleep", "do": "rename"})
        assert tuple(shared.store.tags.of_drafts([shared.id])[shared.id]) == tags


def test_first_steps_lead_to_a_draft_of_ones_own(shared: Shared) -> None:
    assert f'<a href="{shared.path}/test">Test</a>' in shared.mia.get("/manage").text
    assert f'<a href="{shared.path}/test">Test</a>' not in shared.eve.get("/manage").text
