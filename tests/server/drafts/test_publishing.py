"""Nothing is published by one press: a page of its own says what stays for ever, and what of it nobody has written yet."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from pathlib import Path

import pytest
from click.testing import CliRunner
from flask import Flask
from flask.testing import FlaskClient
from tests.kit.drafts import EXAMPLE
from tests.kit.forms import filled
from tests.kit.surveys import PIPED

from deniable.survey import Survey
from deniable.topics import TOPICS, Topic
from deniable_server.drafts.editor.sample_text import find_sample_text
from deniable_server.operate import cli
from deniable_server.store import open_store
from deniable_server.store.drafts import Draft
from deniable_server.store.protocol import Store

OWN = EXAMPLE.replace("Who asks, why, and who to contact.", "Ada asks, for the council.")


@pytest.fixture
def ada(app: Flask, logged_in: Callable[[Flask], FlaskClient]) -> FlaskClient:
    app.config["WTF_CSRF_ENABLED"] = False
    return logged_in(app)


@pytest.fixture
def draft(ada: FlaskClient, store: Store) -> Draft:
    return store.drafts.begin("ada", OWN)


def ids(store: Store) -> list[str]:
    return [published.survey.id for published in store.surveys.all()]


@pytest.mark.parametrize("page", ["", "/source"])
def test_publish_asks_first_and_says_what_stays_as_it_is(ada: FlaskClient, store: Store, draft: Draft, page: str) -> None:
    path = f"/manage/drafts/{draft.id}"
    sent = filled(ada.get(path + page).text, "source-file" if page else "editor")
    reply = ada.post(path + page, data={**sent, "do": "publish", "publish": "Publish"}, follow_redirects=True)
    assert (reply.request.path, ids(store)) == (f"{path}/publish", ["study"])
    text = " ".join(re.sub("<[^>]+>", " ", reply.text).split())
    for said in ("/s/affairs", "Ada asks, for the council.", "2 questions", "whole record 2.197", "had an affair? yes or no 1.099"):
        assert said in text
    assert "Sample text" not in text


def test_the_list_of_questions_has_the_text_of_a_rating_block_once(ada: FlaskClient, store: Store) -> None:
    draft = store.drafts.begin("ada", PIPED)
    page = ada.get(f"/manage/drafts/{draft.id}/publish").text
    rows = re.findall(r'<th scope="row" role="rowheader" dir="auto">(.*?)</th>', page)
    assert rows[3:6] == ["How often in your subject?", "I was tired of your subject", "I was glad of your subject"]
    assert rows.count("How often in your subject?") == 1


def test_the_page_that_asks_publishes_and_a_second_press_leads_to_the_surveys(ada: FlaskClient, store: Store, draft: Draft) -> None:
    path = f"/manage/drafts/{draft.id}/publish"
    sent = filled(ada.get(path).text, "publishing")
    replies = [ada.post(path, data=sent) for _ in range(2)]
    assert [reply.status_code for reply in replies] == [302, 404]
    assert replies[0].headers["Location"] == "/manage/surveys/affairs/invite"
    assert "a published draft is listed among the surveys" in replies[1].text
    assert 'href="/manage"' in replies[1].text
    assert ids(store) == ["affairs", "study"]
    assert store.drafts.listed("ada") == []


def test_what_was_changed_since_it_was_asked_about_is_asked_about_again(ada: FlaskClient, store: Store, draft: Draft) -> None:
    path = f"/manage/drafts/{draft.id}/publish"
    sent = filled(ada.get(path).text, "publishing")
    store.drafts.save(draft.id, OWN.replace("ln 9", "ln 27"), draft.revision)
    page = ada.post(path, data=sent)
    assert (page.status_code, "The draft has changed" in page.text, "3.296" in page.text, ids(store)) == (409, True, True, ["study"])
    store.drafts.save(draft.id, "title: nothing more", store.drafts.draft(draft.id).revision)
    for reply in (ada.get(path), ada.post(path, data=filled(page.text, "publishing"))):
        assert (reply.status_code, reply.headers["Location"], ids(store)) == (302, f"/manage/drafts/{draft.id}", ["study"])


def test_a_name_that_somebody_took_meanwhile_is_told_and_the_draft_stays(ada: FlaskClient, store: Store, draft: Draft) -> None:
    path = f"/manage/drafts/{draft.id}/publish"
    sent = filled(ada.get(path).text, "publishing")
    store.surveys.publish(Survey.from_text(OWN.replace("marriage", "work")))
    for page, status in ((ada.post(path, data=sent), 409), (ada.get(path), 200)):
        assert (page.status_code, "must be new" in page.text, "Publish for good</button>" in page.text) == (status, True, False)
    assert store.drafts.draft(draft.id) == draft


def test_sample_text_is_named_with_its_field(ada: FlaskClient, store: Store) -> None:
    text = EXAMPLE + 'translations: {de: {about: "Your name and institution"}}\n'
    draft = store.drafts.begin("ada", text)
    page = ada.get(f"/manage/drafts/{draft.id}/publish").text
    found = re.findall(r'<li><a href="[^"#]*#([^"]+)">([^<]+)</a>: <q>([^<]+)</q>', page)
    assert found == [
        ("about", "Introduction: who you are and why you ask", "Who asks, why, and who to contact"),
        ("languages-0-about", "Introduction: who you are and why you ask, de", "your name and institution"),
    ]


HALF = OWN + "translations: {de: {title: Über die Ehe}, sw: {questions: {affair: {text: Je?}}}}\n"
LACKING = [
    "German lacks 4 texts; people will read these in English.",
    "Swahili lacks 4 texts; people will read these in English.",
    "This server's own words (buttons, Yes and No) are not in Swahili; people will read these in the next language that their browser asks "
    "for, at last in English.",
]


@pytest.mark.parametrize(("page", "back"), [("", ""), ("/publish", "/manage/drafts/ID")])
def test_what_a_language_lacks_is_listed_where_one_edits_and_where_one_publishes(
    ada: FlaskClient, store: Store, page: str, back: str
) -> None:
    draft = store.drafts.begin("ada", HALF)
    text = ada.get(f"/manage/drafts/{draft.id}{page}").text
    listed = re.findall(
        r'<li>([^<]*)(?: <a href="([^"]*)">Go to the first</a>)?</li>', text.partition("translations are missing:")[2].partition("</ul>")[0]
    )
    assert [unescape(sentence).strip() for sentence, _ in listed] == LACKING
    back = back.replace("ID", draft.id)
    assert [link for _, link in listed] == [f"{back}#languages-0-about", f"{back}#languages-1-title", ""]


def test_a_survey_that_is_whole_in_all_its_languages_has_no_such_list(ada: FlaskClient, store: Store) -> None:
    texts = "{title: T, about: A, questions: {affair: {text: t}, children: {text: t, options: [a, b, c]}}}"
    for languages in ("", f"translations: {{de: {texts}}}\n"):
        draft = store.drafts.begin("ada", OWN + languages)
        for page in ("", "/publish"):
            assert "every language:" not in ada.get(f"/manage/drafts/{draft.id}{page}").text


def test_the_command_line_names_them_too(tmp_path: Path) -> None:
    path, file = tmp_path / "deniable.db", tmp_path / "survey.yaml"
    file.write_text(HALF, encoding="utf-8")
    open_store(path).close()
    done = CliRunner().invoke(cli.main, ["publish", "--db", str(path), str(file)])
    assert (done.exit_code, done.stderr.splitlines()) == (0, LACKING)


def test_a_language_without_texts_is_named_in_words_of_the_page_beside_its_first_field(ada: FlaskClient, store: Store) -> None:
    draft = store.drafts.begin("ada", OWN + "translations: {de: {}}\n")
    page = ada.get(f"/manage/drafts/{draft.id}").text
    assert "must be a mapping" not in page
    words = "write one here or at a question, or remove the language"
    assert f'<a href="#languages-0-title">In another language: Title:</a> has no text in this language yet: {words}' in page


@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic.name)
def test_a_topic_that_nobody_has_changed_is_known_for_one(topic: Topic) -> None:
    assert {sample.field for sample in find_sample_text(Survey.from_text(topic.text))} == {"about", "contact"}


def test_the_command_line_names_sample_text_too_and_asks_whoever_is_at_a_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, file = tmp_path / "deniable.db", tmp_path / "survey.yaml"
    file.write_text(EXAMPLE)
    label = "Introduction: who you are and why you ask"
    said = f"The survey still has sample text. Respondents would read:\n  {label}: Who asks, why, and who to contact\n"

    def published(*words: str, answer: str = "", terminal: bool = True) -> tuple[int, bool, bool]:
        """The status, whether sample text was told, and whether there is a survey afterwards."""
        monkeypatch.setattr(cli, "at_terminal", lambda: terminal)
        open_store(path).close()
        done = CliRunner().invoke(cli.main, ["publish", "--db", str(path), str(file), *words], input=answer)
        store = open_store(path)
        there = bool(store.surveys.headings())
        store.close()
        return done.exit_code, said in done.stderr, there

    assert published(answer="n\n") == (1, True, False)
    assert published(answer="y\n") == (0, True, True)
    assert published() == (0, False, True), "it was published before: nothing is asked again"
    for name, words, terminal in (("yes", ["--yes"], True), ("script", [], False)):
        path = tmp_path / f"{name}.db"
        assert published(*words, terminal=terminal) == (0, True, True)
    path = tmp_path / "own.db"
    file.write_text(OWN)
    assert published() == (0, False, True)


def titled(title: str, id_: str = "other") -> Survey:
    return Survey.from_dict({**Survey.from_text(OWN).to_dict(), "title": title, "id": id_})


def test_a_title_like_another_owners_is_published_only_after_a_tick(ada: FlaskClient, store: Store, draft: Draft) -> None:
    store.accounts.set_password("eve", "x")
    store.surveys.publish(titled(Survey.from_text(OWN).title.upper()), "eve")
    path = f"/manage/drafts/{draft.id}/publish"
    page = ada.get(path).text
    assert "looks like the title of another researcher" in page
    assert "other" not in re.findall("<code>([^<]+)</code>", page), "a survey that is not hers is not named"
    sent = filled(page, "publishing")
    refused = ada.post(path, data=sent)
    assert (refused.status_code, "looks like the title of" in refused.text, ids(store)) == (409, True, ["other", "study"])
    assert ada.post(path, data=sent | {"same_title": "y"}).status_code == 302
    assert ids(store) == ["affairs", "other", "study"]


def test_a_title_like_one_of_ones_own_is_noticed_and_published(ada: FlaskClient, store: Store, draft: Draft) -> None:
    store.surveys.publish(titled(Survey.from_text(OWN).title), "ada")
    path = f"/manage/drafts/{draft.id}/publish"
    page = ada.get(path).text
    assert "(<code>other</code>)" in page
    assert 'name="same_title"' not in page
    assert ada.post(path, data=filled(page, "publishing")).status_code == 302


def test_an_id_that_looks_like_another_surveys_is_refused_by_every_page(ada: FlaskClient, store: Store) -> None:
    store.surveys.publish(titled("Another", "modem"), "ada")
    draft = store.drafts.begin("ada", OWN.replace("id: affairs", "id: modern"))
    path = f"/manage/drafts/{draft.id}"
    page = ada.get(f"{path}/publish").text
    assert ("must be new" in page, "Publish for good</button>" in page) == (True, False)
    assert ada.post(f"{path}/publish", data=filled(page, "publishing")).status_code == 409
    for kind, form in (("", "editor"), ("/source", "source-file")):
        sent = filled(ada.get(path + kind).text, form)
        reply = ada.post(path + kind, data={**sent, "do": "publish", "publish": "Publish"})
        assert "must be new" in reply.text
    assert ids(store) == ["modem", "study"]


def test_the_command_refuses_another_owners_title_and_names_ones_own(tmp_path: Path) -> None:
    path, file = tmp_path / "deniable.db", tmp_path / "survey.yaml"
    store = open_store(path)
    store.accounts.set_password("eve", "x")
    store.surveys.publish(titled(Survey.from_text(OWN).title), "eve")
    store.close()

    def publish(id_: str, *words: str) -> tuple[int, str]:
        file.write_text(OWN.replace("id: affairs", f"id: {id_}"), encoding="utf-8")
        done = CliRunner().invoke(cli.main, ["publish", "--db", str(path), str(file), *words])
        return done.exit_code, done.stderr

    code, said = publish("first", "--yes")
    assert (code, "nothing was published" in said, "--same-title" in said) == (1, True, True)
    assert publish("first", "--same-title") == (0, "")
    assert publish("second", "--owner", "eve")[0] == 1, "the first one is the operators'"
    named = "The title looks like the title of 1 survey of the same owner: other.\n"
    assert publish("second", "--owner", "eve", "--same-title") == (0, named)
    assert publish("first") == (0, ""), "it was published before: nothing is asked again"
