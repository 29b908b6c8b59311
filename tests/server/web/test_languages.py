"""Respondents read the pages in their language; researchers in English; what has no translation is in English too."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from babel import Locale
from babel.messages.pofile import PoFileError
from flask import Flask, render_template_string
from flask.testing import FlaskClient

from deniable.survey import Survey
from deniable_server.store.protocol import Store
from deniable_server.web import languages
from deniable_server.web.languages import ENGLISH, LANGUAGES, Language

Catalog = Callable[..., Language]
ARABIC = "nplurals=6; plural=(n==0 ? 0 : n==1 ? 1 : n==2 ? 2 : n%100>=3 && n%100<=10 ? 3 : n%100>=11 ? 4 : 5);"
ARABIC_OTHERWISE = "nplurals=6; plural=(n==0 ? 0 : n==1 ? 1 : n==2 ? 2 : n%100>=3 && n%100<=10 ? 3 : n%100>=0 && n%100<=2 ? 4 : 5);"
GERMAN = "nplurals=2; plural=(n != 1);"
TEXTS = '#: a.html\nmsgid "Not found"\nmsgstr "Nicht gefunden"\n\n#: b.mjs\nmsgid "Send"\nmsgstr "Absenden"\n'


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    """`catalog(tag, plural_forms, texts)` is the language of a .po file with these entries."""

    def make(tag: str, plurals: str, texts: str) -> Language:
        file = tmp_path / tag / "LC_MESSAGES" / "deniable.po"
        file.parent.mkdir(parents=True)
        head = f'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=utf-8\\n"\n"Plural-Forms: {plurals}\\n"\n\n'
        file.write_text(head + texts, encoding="utf-8")
        return languages.read(file)

    return make


@pytest.fixture
def german(catalog: Catalog, monkeypatch: pytest.MonkeyPatch) -> Language:
    """A German that has two texts, in place of the one that is shipped."""
    made = catalog("de", GERMAN, TEXTS)
    monkeypatch.setattr(languages, "LANGUAGES", {**LANGUAGES, "de": made})
    return made


def messages_of(language: Language) -> dict[str, object]:
    return dict(json.loads(language.messages)["messages"])


# ---- which language a request gets ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("wanted", "accepted", "tag"),
    [
        ("de", "", "de"),
        ("ar", "de", "ar"),
        ("en", "ar,de", "en"),
        ("xx", "de", "de"),
        ("", "ar", "ar"),
        ("de/../..", "", "en"),
        (None, "", "en"),
        (None, "de-AT", "de"),
        (None, "de-AT,en;q=0.5", "de"),
        (None, "AR-eg, de;q=0.9", "ar"),
        (None, "pt, de;q=0.3, ar;q=0.7", "ar"),
        (None, "en-US,en;q=0.9,de;q=0.8", "en"),
        (None, "de;q=0, pt", "en"),
        (None, "xx, *;q=0.1", "en"),
        (None, ";;;,q=,-", "en"),
    ],
)
def test_a_request_gets_the_language_it_names_or_else_the_best_that_the_browser_accepts(
    client: FlaskClient, wanted: str | None, accepted: str, tag: str
) -> None:
    reply = client.get("/s/study", query_string={} if wanted is None else {"lang": wanted}, headers={"Accept-Language": accepted})
    assert reply.status_code == 200
    assert f'<html lang="{tag}" dir="{LANGUAGES[tag].direction}">' in reply.text
    assert reply.headers["Content-Language"] == tag
    assert "Accept-Language" in reply.vary
    assert "Set-Cookie" not in reply.headers


def test_german_arabic_and_english_are_offered_in_their_own_names_and_directions() -> None:
    offered = {language.tag: (language.name, language.direction) for language in LANGUAGES.values()}
    assert offered == {
        "en": ("English", "ltr"),
        "ar": ("العربية", "rtl"),
        "de": ("Deutsch", "ltr"),
        "es": ("Español", "ltr"),
        "fr": ("Français", "ltr"),
    }
    assert next(iter(LANGUAGES)) == "en"


def test_a_language_of_one_country_has_its_own_tag_and_name(catalog: Catalog, client: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    brazilian = catalog("pt_BR", GERMAN, TEXTS)
    assert (brazilian.tag, brazilian.name) == ("pt-BR", "Português (Brasil)")
    monkeypatch.setattr(languages, "LANGUAGES", {**LANGUAGES, "pt-BR": brazilian})
    for asked in ({"query_string": {"lang": "pt-BR"}}, {"headers": {"Accept-Language": "pt-br"}}):
        assert '<html lang="pt-BR" dir="ltr">' in client.get("/s/study", **asked).text


def test_a_page_links_to_itself_in_every_language_and_marks_its_own(client: FlaskClient, store: Store) -> None:
    store.surveys.set_open("study", False)
    page = client.get("/s/study?lang=ar").text
    links = re.findall(r'<a href="\?lang=(\S+)" lang="(\S+)" hreflang="(\S+)" dir="(\S+)"( aria-current="true")?>(.*?)</a>', page)
    assert [(a, b, c, d, name) for a, b, c, d, _, name in links] == [(k, k, k, v.direction, v.name) for k, v in LANGUAGES.items()]
    assert [tag for tag, *_, current, _ in links if current] == ["ar"]


@pytest.mark.parametrize("path", ["/login", "/login?lang=de", "/manage?lang=ar", "/manage/surveys/none/results.json"])
def test_researchers_read_english(client: FlaskClient, path: str) -> None:
    reply = client.get(path, headers={"Accept-Language": "de"}, follow_redirects=True)
    assert '<html lang="en" dir="ltr">' in reply.text
    assert "Accept-Language" not in reply.vary


def test_replies_to_machines_have_no_language(client: FlaskClient) -> None:
    for path in ("/api/v1/surveys/study", "/api/v1/surveys/none", "/healthz", "/static/base.css"):
        reply = client.get(path, headers={"Accept-Language": "de"})
        assert "Content-Language" not in reply.headers
        assert "Accept-Language" not in reply.vary


# ---- a survey in languages that have no catalog ----------------------------------------------------

SPOKEN = """
deniable: 1
id: spoken
title: Maisha yako
about: Tunauliza kwa ajili ya utafiti.
closed: Asante.
epsilon: ln 3
language: sw
questions:
  - {id: drinks, text: "Je, unakunywa pombe?", type: yes_no}
translations:
  ur:
    title: آپ کی زندگی
    closed: شکریہ
    questions: {drinks: {text: "HIV: کیا آپ شراب پیتے ہیں؟"}}
  en:
    title: Your life
    closed: Thanks.
    questions: {drinks: {text: "Do you drink?"}}
"""
PAGES = ("", "/by-hand", "/definition", "/withdraw")


@pytest.fixture
def spoken(store: Store) -> Survey:
    survey = Survey.from_text(SPOKEN)
    store.surveys.publish(survey)
    return survey


@pytest.mark.parametrize(
    ("wanted", "accepted", "words", "texts"),
    [
        (None, "sw", "en", "sw"),
        (None, "sw,fr;q=0.5", "fr", "sw"),
        (None, "de,ur;q=0.5", "de", "ur"),
        (None, "de", "de", "sw"),
        (None, "en-GB,sw", "en", "en"),
        ("ur", "fr,en", "fr", "ur"),
        ("sw", "", "en", "sw"),
        ("ar", "ur", "ar", "ur"),
        ("pt", "ur", "en", "ur"),
    ],
)
@pytest.mark.parametrize("page", PAGES[1:])
def test_a_survey_is_read_in_its_language_and_the_pages_words_in_the_next_one(
    client: FlaskClient, spoken: Survey, page: str, wanted: str | None, accepted: str, words: str, texts: str
) -> None:
    query = {} if wanted is None else {"lang": wanted}
    reply = client.get(f"/s/spoken{page}", query_string=query, headers={"Accept-Language": accepted})
    assert f'<html lang="{words}" dir="{LANGUAGES[words].direction}">' in reply.text
    title, tag = spoken.text_in(texts, "title")
    assert f'<span lang="{tag}" dir="{"rtl" if texts == "ur" else "auto"}">{title}</span>' in reply.text
    [current] = re.findall(r'hreflang="(\S+)" dir="\S+" aria-current="true"', reply.text)
    assert current == (words if texts in LANGUAGES or texts == words else texts)


def test_a_page_without_a_script_offers_every_language_of_the_survey_by_its_name(client: FlaskClient, spoken: Survey) -> None:
    for page in PAGES[1:]:
        links = re.findall(
            r'<a href="\?lang=(\S+)" lang="\S+" hreflang="\S+" dir="(\S+)".*?>(.*?)</a>', client.get(f"/s/spoken{page}").text
        )
        assert links == [*((k, v.direction, v.name) for k, v in LANGUAGES.items()), ("sw", "ltr", "Kiswahili"), ("ur", "rtl", "اردو")], page


def test_the_page_of_the_script_is_the_same_whatever_languages_a_survey_has(client: FlaskClient, spoken: Survey) -> None:
    headers = {"Accept-Language": "sw,de"}
    pages = {client.get(f"/s/{name}?lang={tag}", headers=headers).text.replace(name, "ID") for name in ("study",) for tag in ("de",)}
    with_coins = client.get("/s/spoken?lang=sw", headers=headers).text
    assert with_coins == client.get("/s/spoken?lang=de", headers=headers).text
    assert re.findall("hreflang=.*", with_coins) == re.findall("hreflang=.*", pages.pop())


def test_links_about_the_survey_and_its_forms_keep_the_language_that_was_chosen(client: FlaskClient, spoken: Survey) -> None:
    by_hand = client.get("/s/spoken/by-hand?lang=ur").text
    assert 'action="/s/spoken/by-hand?lang=ur"' in by_hand
    assert 'action="/s/spoken/withdraw?lang=ur"' in client.get("/s/spoken/withdraw?lang=ur").text
    secret = re.search(r'name="secret"[^>]*value="([^"]+)"', by_hand)
    assert secret
    thanks = client.post("/s/spoken/by-hand?lang=ur", data={"secret": secret[1], "mark-1": "yes"})
    assert (thanks.status_code, "/s/spoken/withdraw?lang=ur" in thanks.text) == (200, True)
    assert '<span lang="ur" dir="rtl">HIV: ' in thanks.text


def test_a_closed_survey_says_so_in_its_language(client: FlaskClient, store: Store, spoken: Survey) -> None:
    store.surveys.set_open("spoken", False)
    for query, text in (("?lang=ur", "شکریہ"), ("?lang=sw", "Asante."), ("?lang=en", "Thanks."), ("?lang=de", "Asante.")):
        assert f">{text}</p>" in client.get(f"/s/spoken{query}").text


# ---- what is said in it --------------------------------------------------------------------------


def test_a_page_has_the_translations_of_its_language_and_english_where_there_is_none(client: FlaskClient, german: Language) -> None:
    page = client.get("/nowhere", headers={"Accept-Language": "de"}).text
    assert "<h1>Nicht gefunden</h1>" in page
    assert "<p>There is nothing at this address. Check the link that you were given.</p>" in page


def test_a_text_over_several_lines_is_one_text(app: Flask, german: Language) -> None:
    with app.test_request_context("/?lang=de"):
        assert render_template_string("{% trans %}\n  Not\n  found\n{% endtrans %}") == "Nicht gefunden"


def test_an_error_that_respondents_meet_is_told_in_their_language_its_detail_in_english(client: FlaskClient, store: Store) -> None:
    page = client.get("/s/none").text
    assert "There is no survey at this address. Check the link that you were given." in page
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store.surveys, "published", lambda _: 1 / 0)
        page = client.get("/s/study").text
    assert "<h1>Something went wrong</h1>" in page
    assert re.search(r"The server's log has the details of error [0-9a-f]{8}\.</bdi>", page.replace("&#39;", "'"))


def test_the_modules_get_their_texts_and_no_others(german: Language) -> None:
    assert json.loads(german.messages)["language"] == "de"
    assert messages_of(german) == {"Send": "Absenden"}
    assert messages_of(ENGLISH) == {}  # English is what the modules fall back to


def test_a_text_that_nobody_stands_by_is_left_in_english(catalog: Catalog) -> None:
    fuzzy = '#: a.mjs\n#, fuzzy\nmsgid "Send"\nmsgstr "Senf"\n\n#: a.mjs\nmsgid "Agree"\nmsgstr ""\n\n'
    half = '#: a.mjs\nmsgid "{n} year"\nmsgid_plural "{n} years"\nmsgstr[0] "{n} Jahr"\nmsgstr[1] ""\n'
    read = catalog("de", GERMAN, fuzzy + half)
    assert messages_of(read) == {}
    assert [read.texts.gettext(text) for text in ("Send", "Agree")] == ["Send", "Agree"]


@pytest.mark.parametrize("plurals", [ARABIC, ARABIC_OTHERWISE])
def test_a_browser_gets_the_plural_form_that_gettext_takes_however_a_catalog_numbers_them(catalog: Catalog, plurals: str) -> None:
    forms = "".join(f'msgstr[{index}] "form {index}"\n' for index in range(6))
    read = catalog("ar", plurals, f'#: a.mjs\nmsgid "one"\nmsgid_plural "other"\n{forms}')
    found = messages_of(read)["one"]
    assert isinstance(found, dict)
    assert len(set(found.values())) == 6
    category = Locale("ar").plural_form
    counts = (*range(1000), 10**6, 10**6 + 3)
    assert [found[category(n)] for n in counts] == [read.texts.ngettext("one", "other", n) for n in counts]


@pytest.mark.parametrize("tag", ["pl", "cy", "fr", "ja", "lt", "pt_BR"])
def test_every_category_that_a_whole_number_can_have_has_a_sample(tag: str) -> None:
    locale = Locale.parse(tag)
    found = languages.samples(locale)
    assert {locale.plural_form(n) for n in (*range(3000), 10**6, 10**9)} | {"other"} == set(found)
    assert all(locale.plural_form(n) == category for category, n in found.items() if category != "other")


def test_no_translation_can_leave_its_data_block(catalog: Catalog) -> None:
    evil = "</script><!--<script>alert('1')//&amp;"
    read = catalog("de", GERMAN, f'#: a.mjs\nmsgid "Send"\nmsgstr "{evil}"\n')
    assert not set("<>&") & set(read.messages)
    assert messages_of(read) == {"Send": evil}


def test_the_data_block_is_the_same_for_all_surveys(client: FlaskClient, store: Store, survey: Survey) -> None:
    store.surveys.publish(Survey.from_dict({**survey.to_dict(), "id": "other", "title": "Another"}))
    pages = [client.get(f"/s/{name}?lang=de").text for name in ("study", "other")]
    blocks = [re.findall(r'<script type="application/json" id="messages">(.*?)</script>', page, re.DOTALL) for page in pages]
    assert blocks == [[str(LANGUAGES["de"].messages)]] * 2


def test_a_broken_catalog_stops_the_start(catalog: Catalog) -> None:
    with pytest.raises(PoFileError):
        catalog("de", GERMAN, "garbage")


@pytest.mark.parametrize("text", ['{{ _("Hello %(name)s", name=name) }}', "{% trans %}Hello {{ name }}{% endtrans %}"])
def test_a_value_in_a_translated_text_is_no_markup(app: Flask, text: str) -> None:
    with app.test_request_context("/?lang=de"):
        assert render_template_string(text, name="<b>") == "Hello &lt;b&gt;"
