"""Files for translators on a draft's pages: who may download and upload, what a reader sees of each row, and that nothing is lost."""

from __future__ import annotations

import csv
import html
import io
import re
from collections.abc import Callable

import pytest
from flask import Flask
from flask.testing import FlaskClient
from tests.kit.drafts import EXAMPLE
from werkzeug.test import TestResponse

from deniable.survey import Survey
from deniable.translation_files import translation_tables
from deniable_server.drafts import translation_pages
from deniable_server.identity.passwords import set_password
from deniable_server.store.protocol import Store
from deniable_server.store.roles import Role

GERMAN = EXAMPLE + "translations: {de: {title: Über die Ehe}}\n"
NOTED = "# as agreed with the board\n" + GERMAN


@pytest.fixture
def ada(app: Flask, logged_in: Callable[[Flask], FlaskClient]) -> FlaskClient:
    app.config["WTF_CSRF_ENABLED"] = False
    return logged_in(app)


class Draft:
    def __init__(self, client: FlaskClient, store: Store, text: str = NOTED) -> None:
        self.client, self.store = client, store
        self.id = store.drafts.begin("ada", text).id
        self.path = f"/manage/drafts/{self.id}/translations"

    @property
    def text(self) -> str:
        return self.store.drafts.draft(self.id).text

    def download(self, language: str, ending: str = "csv") -> TestResponse:
        return self.client.get(f"{self.path}/file", query_string={"language": language, "ending": ending})

    def upload(self, raw: bytes, name: str = "de.csv") -> TestResponse:
        return self.client.post(self.path, data={"file": (io.BytesIO(raw), name)})


@pytest.fixture
def draft(ada: FlaskClient, store: Store) -> Draft:
    return Draft(ada, store)


def filled(raw: bytes, delimiter: str = ",", **words: str) -> bytes:
    """A downloaded file with translations in the rows whose keys end so."""
    rows = list(csv.reader(io.StringIO(raw.decode("utf-8-sig"), newline="")))
    for row in rows[1:]:
        row[3] = words.get(row[0].replace(".", "_"), row[3])
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=delimiter).writerows(rows)
    return out.getvalue().encode("utf-8-sig")


def shown(reply: TestResponse) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", reply.text)).split())


def test_the_page_lists_each_language_with_its_files(draft: Draft) -> None:
    page = draft.client.get(draft.path)
    assert "German de , 1 of 7 texts translated" in shown(page)
    links = [html.unescape(link) for link in re.findall(r'href="([^"]*/translations/file[^"]*)"', page.text)]
    assert links == [f"{draft.path}/file?language=de&ending={ending}" for ending in ("xlsx", "csv")]
    assert [draft.client.get(link).status_code for link in links] == [200, 200]
    assert f'href="{draft.path}"' in draft.client.get(draft.path.rpartition("/")[0]).text, "the editor leads here"


def test_a_server_that_cannot_read_workbooks_offers_none(draft: Draft, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(translation_pages, "available", lambda need: False)
    assert "xlsx" not in draft.client.get(draft.path).text
    assert draft.download("de", "xlsx").status_code == 404
    assert draft.download("de").status_code == 200


def test_a_translated_file_is_imported_and_can_be_undone(draft: Draft) -> None:
    reply = draft.download("ar")
    assert reply.headers["Content-Disposition"] == 'attachment; filename="affairs-ar.csv"'
    assert reply.headers["Content-Type"] == "text/csv; charset=utf-8"
    before = draft.text
    page = draft.upload(filled(reply.data, ";", title="عن الزواج", questions_affair_text="هل؟"))
    assert page.status_code == 200
    assert "Arabic: 2 texts imported" in shown(page)
    assert "5 texts have no translation" in shown(page)
    assert "Not imported" not in page.text
    survey = Survey.from_text(draft.text)
    assert survey.translations["ar"]["title"] == "عن الزواج"
    assert survey.translations["de"] == {"title": "Über die Ehe"}
    assert draft.text.startswith("# as agreed with the board\n")
    draft.store.drafts.undo(draft.id, draft.store.drafts.draft(draft.id).revision)
    assert draft.text == before


def test_a_workbook_comes_back(draft: Draft) -> None:
    reply = draft.download("de", "xlsx")
    assert reply.data.startswith(b"PK")
    page = draft.upload(reply.data, "de.xlsx")
    assert "German: 0 texts imported" in shown(page)
    assert "1 text was the same already" in shown(page)
    assert draft.text == NOTED, "nothing is saved"


def test_rows_that_are_refused_are_listed_and_the_others_imported(draft: Draft) -> None:
    whole = filled(draft.download("de").data, title="Ehe", about="Wir fragen.")
    raw = whole.rpartition(b"questions.children.options.3")[0].replace(b"About marriage", b"About <b>love</b>")
    page = draft.upload(raw)
    assert "German: 1 text imported" in shown(page)
    assert "Row 2, title : its original text has changed since the download" in shown(page)
    assert "1 text of the draft without a row in the file" in shown(page)
    assert "<b>love" not in page.text
    german = Survey.from_text(draft.text).translations["de"]
    assert german == {"title": "Über die Ehe", "about": "Wir fragen."}


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"", "Choose a file that is not empty."),
        (b"\xff\xff\xff", "must be UTF-8"),
        (b"a,b\n1,2\n", "must have the columns of the downloaded file"),
        (b"key,text (en),translation (en)\n", "must be in another language than the survey's own"),
    ],
)
def test_a_file_that_cannot_be_read_is_explained(draft: Draft, raw: bytes, message: str) -> None:
    reply = draft.upload(raw)
    assert reply.status_code == 422
    assert message in shown(reply)
    assert draft.text == NOTED


@pytest.mark.parametrize(
    ("language", "message"), [("", "language tag"), ("German", "language tag"), ("EN", "tag"), ("en", "is in this language")]
)
def test_a_wrong_language_is_explained(draft: Draft, language: str, message: str) -> None:
    reply = draft.download(language)
    assert reply.status_code == 400
    assert message in shown(reply)


def test_a_draft_that_is_too_large_is_not_saved(draft: Draft, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(translation_pages, "MAX_BYTES", 100)
    reply = draft.upload(filled(draft.download("de").data, about="Wir fragen."))
    assert (reply.status_code, draft.text) == (422, NOTED)


def test_a_change_in_the_meantime_is_not_overwritten(draft: Draft, monkeypatch: pytest.MonkeyPatch) -> None:
    raw, imported = filled(draft.download("de").data, about="Wir fragen."), translation_pages._imported

    def slow(*arguments: str | bytes) -> object:
        draft.store.drafts.save(draft.id, GERMAN, draft.store.drafts.draft(draft.id).revision)
        return imported(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(translation_pages, "_imported", slow)
    reply = draft.upload(raw)
    assert (reply.status_code, draft.text) == (409, GERMAN)
    assert "Nothing was imported: upload the file again" in shown(reply)


def test_a_draft_that_is_no_valid_file_leads_to_its_source(ada: FlaskClient, store: Store) -> None:
    broken = Draft(ada, store, "deniable: 1\nid: [")
    for reply in (ada.get(broken.path), broken.download("de"), broken.upload(b"key,text (en),translation (de)\n")):
        assert reply.status_code == 302


def test_a_viewer_downloads_and_does_not_upload(app: Flask, draft: Draft, logged_in: Callable[..., FlaskClient]) -> None:
    set_password(draft.store.accounts, "vic", "correct horse battery")
    draft.store.draft_roles.grant(draft.id, "vic", Role.VIEWER)
    raw = draft.download("de").data
    draft.client = logged_in(app, "vic")
    page = draft.client.get(draft.path)
    assert (page.status_code, 'type="file"' in page.text) == (200, False)
    assert f'href="{draft.path}"' in draft.client.get(draft.path.replace("translations", "read")).text
    assert draft.download("de").data == raw
    assert draft.upload(filled(raw, about="Wir fragen.")).status_code == 403
    assert draft.text == NOTED


def test_the_upload_has_room_for_the_largest_file() -> None:
    assert translation_pages.MOST_UPLOAD > translation_tables.MOST_BYTES
