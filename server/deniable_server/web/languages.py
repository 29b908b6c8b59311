"""Languages of respondents' pages: gettext catalogs, read once, and language negotiation.

English texts are the keys. The catalogs are the `.po` files themselves; nothing is compiled ahead.

A page about a survey has two languages: one for its own words, which needs a catalog, and one for the survey's texts, which needs
none. A survey in Swahili is shown in Swahili, with the page's words in the reader's next language.
"""

from __future__ import annotations

import io
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from gettext import GNUTranslations, NullTranslations
from pathlib import Path
from typing import Any, NamedTuple

from babel import Locale, UnknownLocaleError, parse_locale
from babel.dates import format_date, format_time
from babel.messages.catalog import Catalog, Message
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from babel.numbers import format_decimal, format_percent
from flask import Flask, Response, g, request
from jinja2.utils import htmlsafe_json_dumps
from markupsafe import Markup
from werkzeug.datastructures import LanguageAccept

from deniable.survey import Survey
from deniable.survey.translation import negotiate
from deniable_server.paths import TRANSLATIONS
from deniable_server.web.audience import current_audience

FORCED = "deniable.languages"  # the key of the environ with the PageLanguages of a page that is rendered for everybody
COUNTS = (*range(200), 10**6)  # every plural category that whole numbers have in a language of CLDR is met among these

_BEYOND_CLDR = {"prs": ("دری", "rtl"), "tet": ("Tetun", "ltr"), "tl": ("Tagalog", "ltr")}
_RIGHT_TO_LEFT = frozenset({"Adlm", "Arab", "Hebr", "Nkoo", "Rohg", "Syrc", "Thaa"})


@dataclass(frozen=True)
class Tongue:
    """A language as links offer it."""

    tag: str  # BCP 47: de, pt-BR
    name: str  # in the language itself; the tag where CLDR does not know it
    direction: str  # ltr, rtl, or auto where CLDR does not know it


@dataclass(frozen=True)
class Language(Tongue):
    """A language with a catalog for the pages' words."""

    texts: NullTranslations
    messages: Markup  # JSON for the page's modules, without characters that can end a script element


class PageLanguages(NamedTuple):
    """The languages of one page.

    Attributes:
        page: The tag of its own words, which has a catalog.
        survey: The tag of the survey's texts.
        address: The tag in the address, if it is offered.
    """

    page: str
    survey: str
    address: str | None


def read(file: Path) -> Language:
    """Reads a catalog, TAG/LC_MESSAGES/deniable.po. Raises PoFileError or UnicodeDecodeError for an invalid file."""
    with file.open("rb") as lines:
        catalog = read_po(lines, locale=file.parents[1].name, abort_invalid=True)
    compiled = io.BytesIO()
    write_mo(compiled, catalog)
    compiled.seek(0)
    return _language(Locale.parse(file.parents[1].name), GNUTranslations(compiled), catalog)


def _language(locale: Locale, texts: NullTranslations, catalog: Catalog) -> Language:
    tongue = tongue_of(str(locale).replace("_", "-"))
    messages = {"language": tongue.tag, "messages": script_messages(catalog, texts, locale)}
    data = htmlsafe_json_dumps(messages, ensure_ascii=False, separators=(",", ":"))
    return Language(tongue.tag, tongue.name, tongue.direction, texts, data)


def tongue_of(tag: str) -> Tongue:
    """Returns the name and direction of a language by its tag, whether or not it has a catalog. Twin: `browser/language_names.mjs`."""
    if tag in _BEYOND_CLDR:
        return Tongue(tag, *_BEYOND_CLDR[tag])
    try:
        locale, script = Locale.parse(tag, sep="-"), parse_locale(tag, sep="-")[2]
    except (UnknownLocaleError, ValueError):
        return Tongue(tag, tag, "auto")
    name = locale.get_display_name() or tag
    direction = "rtl" if script in _RIGHT_TO_LEFT else "ltr" if script else locale.text_direction
    return Tongue(tag, name[:1].upper() + name[1:], direction)


def script_messages(catalog: Catalog, texts: NullTranslations, locale: Locale) -> dict[str, str | dict[str, str]]:
    """Returns the translated texts of the browser's modules, by their English; texts with a count by CLDR plural category."""
    texts_by_key: dict[str, str | dict[str, str]] = {}
    for message in catalog:
        if translated(message) and any(place.endswith(".mjs") for place, _ in message.locations):
            if isinstance(message.id, str):
                texts_by_key[message.id] = texts.gettext(message.id)
            else:
                one, other = message.id
                texts_by_key[one] = {category: texts.ngettext(one, other, count) for category, count in samples(locale).items()}
    return texts_by_key


def translated(message: Message) -> bool:
    """Returns whether a text has a confirmed (not fuzzy) translation in all its plural forms."""
    forms = message.string if isinstance(message.string, list | tuple) else (message.string,)
    return bool(message.id) and not message.fuzzy and all(forms)


def samples(locale: Locale) -> dict[str, int]:
    """Returns a whole number for each CLDR plural category of a language, since gettext has only numbers for its plural forms."""
    fallback = {"other": COUNTS[-1]}  # where only fractions are "other", as in Polish, any form will do
    return fallback | {locale.plural_form(count): count for count in COUNTS}


ENGLISH = _language(Locale("en"), NullTranslations(), Catalog())
LANGUAGES: Mapping[str, Language] = {
    language.tag: language for language in (ENGLISH, *map(read, sorted(TRANSLATIONS.glob("*/LC_MESSAGES/deniable.po"))))
}
"""The languages offered, by tag; English, the source language, first."""


def register(app: Flask) -> None:
    """Adds `_`, `trans` blocks, languages, `number`, `percent`, `day` and `time` to the templates, and language headers to the replies."""
    environment: Any = app.jinja_env
    environment.add_extension("jinja2.ext.i18n")
    environment.policies["ext.i18n.trimmed"] = True
    environment.install_gettext_callables(translate, _ngettext, newstyle=True)
    app.add_template_filter(write_number, "number")
    app.add_template_filter(_percent, "percent")
    app.add_template_filter(write_day, "day")
    app.add_template_filter(write_time, "time")
    app.add_template_global(lambda tag: "rtl" if tongue_of(tag).direction == "rtl" else "auto", "direction_of")
    app.context_processor(_names)
    app.after_request(_declare)


def about(survey: Survey) -> None:
    """Offers this request's page in the languages of a survey, too. Call it before you render anything."""
    g.survey = survey


def chosen() -> Language:
    """Returns the language of this page's own words: the best with a catalog for the reader, else the survey's own, else English.

    Researchers' pages are in English.
    """
    if "language" not in g:
        g.language = LANGUAGES[_negotiated().page] if current_audience().translated else ENGLISH
    language: Language = g.language
    return language


@contextmanager
def speaking(language: Language) -> Iterator[None]:
    """Renders templates in this language inside a `with` block, whatever the reader's is."""
    own = chosen()
    g.language = language
    try:
        yield
    finally:
        g.language = own


def reading() -> str:
    """Returns the tag of the survey's texts on this page: the best match. Twin: `surveyLanguage` in browser/survey_language.mjs."""
    return _negotiated().survey if _survey() else chosen().tag


def addressed() -> str:
    """Returns the tag for links to other pages about this survey: the one in the address, if offered, else the page's own."""
    return _negotiated().address or chosen().tag


def offered_tag(tag: str | None, languages: Collection[str] = ()) -> str | None:
    """Returns a tag if it has a catalog or is one of a survey's languages, else None."""
    return tag if tag in LANGUAGES or tag in languages else None


def page_languages(address: str | None, accepted: LanguageAccept, own: str | None = None, languages: Sequence[str] = ()) -> PageLanguages:
    """Returns the languages of a page for a reader.

    Args:
        address: The tag in the address, if it is offered.
        accepted: The languages that the browser requests.
        own: The survey's own language, or None for a page about no survey.
        languages: All languages of the survey.
    """
    requested = [*([address] if address else []), *(tag for tag, quality in accepted if quality > 0)]
    page = negotiate([*requested, *([own] if own else [])], list(LANGUAGES)) or "en"
    return PageLanguages(page, (negotiate(requested, languages) or own) if own else page, address)


def _negotiated() -> PageLanguages:
    forced: PageLanguages | None = request.environ.get(FORCED)
    if forced:
        return forced
    own, languages = (survey.language, survey.languages) if (survey := _survey()) else (None, ())
    return page_languages(offered_tag(request.args.get("lang"), languages), request.accept_languages, own, languages)


def _survey() -> Survey | None:
    survey: Survey | None = g.get("survey")
    return survey


def _names() -> dict[str, Any]:
    """Returns the templates' language variables. `offered` are the languages with a catalog, and the survey's."""
    survey = _survey()
    own = [tongue_of(tag) for tag in survey.languages if tag not in LANGUAGES] if survey else []
    variables = {"language": chosen(), "languages": LANGUAGES.values(), "offered": [*LANGUAGES.values(), *own]}
    return {**variables, "reading": reading(), "addressed": addressed()}


def translate(message: str) -> str:
    """Returns a text in the page's language."""
    return chosen().texts.gettext(message)


def _ngettext(one: str, other: str, count: int) -> str:
    return chosen().texts.ngettext(one, other, count)


def write_number(value: Decimal) -> str:
    """Formats a number in the page's language, with all its digits: for display only."""
    return format_decimal(value, locale=_locale(), decimal_quantization=False, numbering_system="latn")


def write_day(moment: datetime) -> str:
    """Returns the day of a local time, in the page's language."""
    return format_date(moment, "full", locale=_locale())


def write_time(moment: datetime) -> str:
    """Returns a local time without its day, in the page's language."""
    return format_time(moment.replace(tzinfo=None), "short", locale=_locale())


def _percent(value: Decimal) -> str:
    """Formats a percentage in the page's language: 99.97% or 99,97 %. Twin: `percent` in browser/language.mjs."""
    return format_percent(value / 100, locale=_locale(), decimal_quantization=False, numbering_system="latn")


def _locale() -> Locale:
    return Locale.parse(chosen().tag, sep="-")


def _declare(response: Response) -> Response:
    """Adds the language headers to a reply with texts; another browser may get another language."""
    if "language" in g:
        response.content_language.add(g.language.tag)
        if current_audience().translated:
            response.vary.add("Accept-Language")
    return response
