"""The languages of the respondents' pages: gettext catalogs, read once, and which language a request gets.

English texts are the keys. The catalogs are the `.po` files themselves; nothing is compiled ahead.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from gettext import GNUTranslations, NullTranslations
from pathlib import Path
from typing import Any

from babel import Locale, negotiate_locale
from babel.messages.catalog import Catalog, Message
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from babel.numbers import format_decimal, format_percent
from flask import Flask, Response, g, request
from jinja2.utils import htmlsafe_json_dumps
from markupsafe import Markup

from deniable_server.paths import TRANSLATIONS
from deniable_server.web.audience import current_audience

COUNTS = (*range(200), 10**6)  # every plural category that whole numbers have in a language of CLDR is met among these


@dataclass(frozen=True)
class Language:
    """A language that pages are offered in."""

    tag: str  # BCP 47: de, pt-BR
    name: str  # in the language itself
    direction: str  # ltr or rtl
    texts: NullTranslations
    messages: Markup  # JSON for the page's modules, in which no character can end a script element


def read(file: Path) -> Language:
    """The language of a catalog, TAG/LC_MESSAGES/deniable.po. Raises PoFileError or UnicodeDecodeError for a file that is not one."""
    with file.open("rb") as lines:
        catalog = read_po(lines, locale=file.parents[1].name, abort_invalid=True)
    compiled = io.BytesIO()
    write_mo(compiled, catalog)
    compiled.seek(0)
    return _language(Locale.parse(file.parents[1].name), GNUTranslations(compiled), catalog)


def _language(locale: Locale, texts: NullTranslations, catalog: Catalog) -> Language:
    tag = str(locale).replace("_", "-")
    name = locale.get_display_name() or tag
    messages = {"language": tag, "messages": script_messages(catalog, texts, locale)}
    data = htmlsafe_json_dumps(messages, ensure_ascii=False, separators=(",", ":"))
    return Language(tag, name[:1].upper() + name[1:], locale.text_direction, texts, data)


def script_messages(catalog: Catalog, texts: NullTranslations, locale: Locale) -> dict[str, str | dict[str, str]]:
    """The translated texts of the browser's modules, by their English; one for each CLDR plural category where a text has a count."""
    found: dict[str, str | dict[str, str]] = {}
    for message in catalog:
        if translated(message) and any(place.endswith(".mjs") for place, _ in message.locations):
            if isinstance(message.id, str):
                found[message.id] = texts.gettext(message.id)
            else:
                one, other = message.id
                found[one] = {category: texts.ngettext(one, other, count) for category, count in samples(locale).items()}
    return found


def translated(message: Message) -> bool:
    """Whether a text has a translation that somebody stands by, in all its plural forms."""
    forms = message.string if isinstance(message.string, list | tuple) else (message.string,)
    return bool(message.id) and not message.fuzzy and all(forms)


def samples(locale: Locale) -> dict[str, int]:
    """A whole number for each plural category of a language: a browser knows these by name, and gettext only its own numbers for them."""
    fallback = {"other": COUNTS[-1]}  # where only fractions are "other", as in Polish, any form will do
    return fallback | {locale.plural_form(count): count for count in COUNTS}


ENGLISH = _language(Locale("en"), NullTranslations(), Catalog())
LANGUAGES: Mapping[str, Language] = {
    language.tag: language for language in (ENGLISH, *map(read, sorted(TRANSLATIONS.glob("*/LC_MESSAGES/deniable.po"))))
}
"""The languages offered, by tag; English, in which all is written, first."""


def register(app: Flask) -> None:
    """Gives the templates `_`, `trans` blocks, `language`, `languages`, `number` and `percent`, and the replies their headers."""
    environment: Any = app.jinja_env
    environment.add_extension("jinja2.ext.i18n")
    environment.policies["ext.i18n.trimmed"] = True
    environment.install_gettext_callables(_gettext, _ngettext, newstyle=True)
    app.add_template_filter(_number, "number")
    app.add_template_filter(_percent, "percent")
    app.context_processor(lambda: {"language": chosen(), "languages": LANGUAGES.values()})
    app.after_request(_declare)


def chosen() -> Language:
    """The language of the page that this request gets. Researchers' pages are in English."""
    if "language" not in g:
        accepted = [tag for tag, quality in request.accept_languages if quality > 0]
        g.language = negotiated(request.args.get("lang"), accepted) if current_audience().translated else ENGLISH
    language: Language = g.language
    return language


def negotiated(wanted: str | None, accepted: Sequence[str]) -> Language:
    """The language `wanted` by its tag, where it is offered, else the first of those accepted, best first, that is; else English."""
    if wanted is not None and wanted in LANGUAGES:
        return LANGUAGES[wanted]
    found = negotiate_locale(accepted, list(LANGUAGES), sep="-") or "en"
    return next(language for tag, language in LANGUAGES.items() if tag.lower() == found.lower())


def _gettext(message: str) -> str:
    return chosen().texts.gettext(message)


def _ngettext(one: str, other: str, count: int) -> str:
    return chosen().texts.ngettext(one, other, count)


def _number(value: Decimal) -> str:
    """A number as the page's language writes it, with all its digits: for reading only, so compare the number itself."""
    return format_decimal(value, locale=_locale(), decimal_quantization=False, numbering_system="latn")


def _percent(value: Decimal) -> str:
    """A percentage, 99.97, as the page's language writes it: 99.97% or 99,97 %. Twin: `percent` in browser/language.mjs."""
    return format_percent(value / 100, locale=_locale(), decimal_quantization=False, numbering_system="latn")


def _locale() -> Locale:
    return Locale.parse(chosen().tag, sep="-")


def _declare(response: Response) -> Response:
    """A reply with texts says which language they are in, and that another browser may get another."""
    if "language" in g:
        response.content_language.add(g.language.tag)
        if current_audience().translated:
            response.vary.add("Accept-Language")
    return response
