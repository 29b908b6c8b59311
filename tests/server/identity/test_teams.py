"""Teams on their pages and by command: operators create them, managers choose the members, and a change works at once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from flask import Flask
from flask.testing import FlaskClient

from deniable_server.operate.cli import main
from deniable_server.store.protocol import Store
from deniable_server.store.roles import Role
from deniable_server.store.teams import Team

LAB = "Lab / <b>1"
PATH = f"/manage/teams/{Team(LAB, {}).id}"


@pytest.fixture
def people(app: Flask, store: Store, logged_in: Callable[..., FlaskClient]) -> dict[str, FlaskClient]:
    """The browsers of an operator, a manager, a member and somebody else."""
    app.config["WTF_CSRF_ENABLED"] = False
    people = {user: logged_in(app, user) for user in ("ada", "mia", "eve", "zed")}
    assert people["ada"].post("/manage/teams", data={"name": LAB}).headers["Location"] == PATH
    store.teams.join(LAB, "mia", manager=True)
    store.teams.join(LAB, "eve", manager=False)
    return people


def test_managers_choose_the_members_and_members_only_look(people: dict[str, FlaskClient], store: Store) -> None:
    assert people["mia"].post(PATH, data={"user": "zed", "kind": "member"}).status_code == 302
    assert store.teams.team(LAB).members == {"eve": False, "mia": True, "zed": False}
    assert people["eve"].post(PATH, data={"user": "zed", "kind": "none"}).status_code == 403
    assert "Lab / &lt;b&gt;1" in people["eve"].get(PATH).text
    assert "Add a person" not in people["eve"].get(PATH).text
    assert people["mia"].post(PATH, data={"user": "nobody", "kind": "member"}).status_code == 422
    assert people["mia"].post("/manage/teams", data={"name": "Mine"}).status_code == 403
    assert people["mia"].post(PATH, data={"user": "mia", "kind": "none"}).headers["Location"] == "/manage/teams"
    assert people["mia"].get(PATH).status_code == 404


def test_a_person_who_leaves_a_team_loses_its_surveys_at_once(people: dict[str, FlaskClient], store: Store) -> None:
    assert people["ada"].post("/manage/surveys/study/members/teams", data={"team": LAB, "role": "editor"}).status_code == 302
    assert people["eve"].get("/manage/surveys/study").status_code == 200
    assert people["eve"].get("/manage/surveys/study/members").status_code == 403
    assert people["zed"].get("/manage/surveys/study").status_code == 404
    people["mia"].post(PATH, data={"user": "eve", "kind": "none"})
    assert people["eve"].get("/manage/surveys/study").status_code == 404
    assert people["mia"].get("/manage/surveys/study").status_code == 200
    people["ada"].post("/manage/surveys/study/members/teams", data={"team": LAB, "role": "none"})
    assert people["mia"].get("/manage/surveys/study").status_code == 404


def test_the_test_above_notices_a_role_that_stays(people: dict[str, FlaskClient], store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store.teams, "leave", lambda name, user: True)
    with pytest.raises(AssertionError):
        test_a_person_who_leaves_a_team_loses_its_surveys_at_once(people, store)


def test_a_team_is_deleted_after_a_question(people: dict[str, FlaskClient], store: Store) -> None:
    store.teams.grant("study", LAB, Role.VIEWER)
    assert "Delete the team" in people["mia"].post(f"{PATH}/delete").text
    assert people["mia"].post(f"{PATH}/delete", data={"sure": "1"}).status_code == 302
    assert store.teams.all() == []
    assert people["eve"].get("/manage/surveys/study").status_code == 404


@pytest.mark.parametrize("name", ["", "x" * 65, "Lаb / <b>1", "a\u200bb", "a\tb"])
def test_a_name_that_is_like_another_or_invisible_is_refused(people: dict[str, FlaskClient], store: Store, name: str) -> None:
    assert people["ada"].post("/manage/teams", data={"name": name}).status_code == 422
    assert [team.name for team in store.teams.all()] == [LAB]


def test_an_unknown_team_gets_no_role(people: dict[str, FlaskClient]) -> None:
    reply = people["ada"].post("/manage/surveys/study/members/teams", data={"team": "none", "role": "viewer"})
    assert (reply.status_code, "no team with this name" in reply.text) == (422, True)


def test_commands_do_what_the_pages_do(tmp_path: Path, people: dict[str, FlaskClient], store: Store) -> None:
    def run(*words: str) -> str:
        result = CliRunner().invoke(main, ["team", words[0], "--db", str(tmp_path / "deniable.db"), *words[1:]])
        return result.output if result.exit_code == 0 else f"error {result.output}"

    store.teams.remove(LAB)
    (tmp_path / "deniable.db.key").exists()
    assert run("make", "Lab") == "The team Lab is created.\n"
    assert "must not look like" in run("make", "Lаb")
    assert run("add", "Lab", "mia", "--manager") == "mia is a manager of Lab.\n"
    assert run("add", "Lab", "eve") == "eve is a member of Lab.\n"
    assert run("list") == "Lab\tmia\teve\n"
    assert '"eve": "member"' in run("list", "--json")
    assert run("grant", "study", "Lab", "analyst") == "Members of Lab are now analyst of study.\n"
    assert people["eve"].get("/manage/surveys/study").status_code == 200
    assert run("remove", "Lab", "eve") == "eve is no longer in Lab.\n"
    assert run("remove", "Lab", "eve").startswith("error")
    assert people["eve"].get("/manage/surveys/study").status_code == 404
    assert run("grant", "study", "Lab", "none") == "Lab now has no role in study.\n"
    assert run("delete", "Lab") == "The team Lab is deleted.\n"
    assert run("delete", "Lab").startswith("error")
