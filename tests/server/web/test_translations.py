"""The catalogs hold the texts of the pages, all of them and no others; and the pages have no text beside them."""

from __future__ import annotations

import io
import re
import shlex
from collections import Counter
from collections.abc import Iterator
from gettext import c2py
from html.parser import HTMLParser
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.frontend import CommandLineInterface
from babel.messages.pofile import read_po
from jinja2 import Environment, nodes

from deniable_server import paths
from deniable_server.web.extract import module_texts
from deniable_server.web.languages import COUNTS, translated

ROOT = Path(__file__).parents[3]
CATALOGS = sorted(paths.TRANSLATIONS.glob("*/LC_MESSAGES/deniable.po"))
PAGES = [paths.TEMPLATES / "base.html", paths.TEMPLATES / "error.html", *sorted((paths.TEMPLATES / "respondents").glob("*.html"))]
MODULES = sorted(paths.BROWSER.rglob("*.mjs"))


def catalog_of(text: str, locale: str | None = None) -> Catalog:
    return read_po(io.BytesIO(text.encode()), locale=locale, abort_invalid=True)


def is_complete(catalog: Catalog) -> bool:
    """Whether a catalog claims, in its head, to have every text."""
    return "Complete: yes" in catalog.header_comment


@pytest.fixture(scope="session")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    """The texts of the pages as they are now, collected as `make messages` does it."""
    recipe = re.search(r"pybabel (--quiet extract .*?[^\\])\n", (ROOT / "Makefile").read_text(encoding="utf-8"), re.DOTALL)
    assert recipe
    words = shlex.split(recipe[1].replace("\\\n", " "))
    file = tmp_path_factory.mktemp("messages") / "deniable.pot"
    words[words.index("$(MESSAGES)/deniable.pot")] = str(file)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        CommandLineInterface().run(["pybabel", *words])
    return catalog_of(file.read_text(encoding="utf-8"))


# ---- the catalogs --------------------------------------------------------------------------------


def gaps(catalog: Catalog, sources: Catalog) -> Iterator[str]:
    """What a complete catalog may not have: texts that are missing, left over, untranslated or doubtful."""
    wanted, found = ({message.id: message for message in texts if message.id} for texts in (sources, catalog))
    for text in wanted.keys() - found.keys():
        yield f"missing, run make messages: {text}"
    for text in found.keys() - wanted.keys():
        yield f"left over, run make messages: {text}"
    for text in wanted.keys() & found.keys():
        if in_module(wanted[text]) != in_module(found[text]):
            yield f"in another kind of file, run make messages: {text}"
        if not translated(found[text]):
            yield f"fuzzy or not translated: {text}"


def in_module(message: Message) -> bool:
    return any(place.endswith(".mjs") for place, _ in message.locations)


def mistakes(catalog: Catalog) -> Iterator[str]:
    """What is wrong with the translations that a catalog has: each one a page that breaks or lies in that language."""
    numbers = plural_numbers(catalog)
    if set(map(len, numbers.values())) != {1} or set.union(*numbers.values()) != set(range(catalog.num_plurals)):
        yield f"plural forms are not those of {catalog.locale}: {numbers}"
        return
    for message in filter(translated, catalog):
        page = not all(place.endswith(".mjs") for place, _ in message.locations)
        if isinstance(message.id, str):
            yield from wrong_form(message.string, message.id, page)
            yield from wrong_names(message.string, message.id, catalog)
        else:
            for number, said in enumerate(message.string):
                yield from wrong_form(said, message.id[1], page, single=number in single_numbers(catalog))


def plural_numbers(catalog: Catalog) -> dict[str, set[int]]:
    """The numbers that a catalog's head gives to each plural category of its language."""
    number, category = c2py(catalog.plural_expr), catalog.locale.plural_form
    found: dict[str, set[int]] = {}
    for count in COUNTS:
        found.setdefault(category(count), set()).add(number(count))
    return found


def single_numbers(catalog: Catalog) -> set[int]:
    """The plural forms that serve one count only, such as "one" in German; they need not say it."""
    uses = Counter(map(c2py(catalog.plural_expr), COUNTS))
    return {form for form, times in uses.items() if times == 1}


def wrong_form(said: str, text: str, page: bool, single: bool = False) -> Iterator[str]:
    """`page`: the text stands in a template, so it is markup, and a % in it is doubled."""
    lacking = placeholders(text) - placeholders(said) - ({"n", "count"} if single else set())
    if lacking or placeholders(said) - placeholders(text):
        yield f"other placeholders than {text!r}: {said}"
    if page and (markup(said) != markup(text) or re.search(r"%(?!\(\w+\)s)", said.replace("%%", ""))):
        yield f"other markup than {text!r}: {said}"


def wrong_names(said: str, text: str, catalog: Catalog) -> Iterator[str]:
    """A button that a text names is called there as on the page: nobody finds one that is called otherwise."""
    for name in re.findall("“([^”]+)”", text):
        if name in catalog and translated(catalog[name]) and catalog[name].string not in said:
            yield f"the page calls {name!r} {catalog[name].string!r}: {said}"


def placeholders(text: str) -> set[str]:
    """The names in a text that a page fills in: %(name)s in templates, {name} in modules."""
    return {a or b for a, b in re.findall(r"%\((\w+)\)s|\{(\w+)\}", text)}


def markup(text: str) -> list[str]:
    return sorted(re.findall(r'<[^>]*>?|&\w+;|"', text))


@pytest.mark.parametrize("file", CATALOGS, ids=lambda file: file.parents[1].name)
def test_a_catalog_has_no_mistakes_and_where_it_claims_to_be_complete_no_gaps(file: Path, sources: Catalog) -> None:
    catalog = catalog_of(file.read_text(encoding="utf-8"), file.parents[1].name)
    assert list(mistakes(catalog)) == []
    if is_complete(catalog):
        assert list(gaps(catalog, sources)) == []
        template = catalog_of((paths.TRANSLATIONS / "deniable.pot").read_text(encoding="utf-8"))
        assert {message.id for message in template} == {message.id for message in sources}


def test_the_texts_of_templates_and_of_modules_are_collected(sources: Catalog) -> None:
    places = {text: {file for file, _ in sources[text].locations} for text in ("Not found", "This survey is closed")}
    pages = {"templates/respondents/closed.html", "templates/respondents/kiosk_steps.html"}
    assert places == {"Not found": {"templates/error.html"}, "This survey is closed": pages}
    assert sum(map(in_module, sources)) > 20
    assert any(in_module(message) and message.pluralizable for message in sources)


PAGE, MODULE = "#: a.html\n", "#: a.mjs\n"
FORMS = 'msgid "{n} year"\nmsgid_plural "{n} years"\n'
MISTAKES = {
    "a placeholder is lost": MODULE + 'msgid "of {n}"\nmsgstr "von"\n',
    "a placeholder is translated": MODULE + 'msgid "of {n}"\nmsgstr "von {zahl}"\n',
    "a placeholder of a template is lost": PAGE + 'msgid "of %(n)s"\nmsgstr "von n"\n',
    "a placeholder has lost its s": PAGE + 'msgid "of %(n)s"\nmsgstr "von %(n)s und %(n)"\n',
    "a percent sign is not doubled": PAGE + 'msgid "5 %% of"\nmsgstr "5 % von"\n',
    "an element is lost": PAGE + 'msgid "<b>of</b>"\nmsgstr "von"\n',
    "an element is new": PAGE + 'msgid "of"\nmsgstr "<script>von"\n',
    "a quote could end an attribute": PAGE + 'msgid "of"\nmsgstr "\\"von\\""\n',
    "a button is called otherwise": PAGE + 'msgid "Send"\nmsgstr "Absenden"\n\n' + PAGE + 'msgid "Press “Send”."\nmsgstr "Auf „Senden“."\n',
    "a plural form lacks its number": MODULE + FORMS + 'msgstr[0] "ein Jahr"\nmsgstr[1] "Jahre"\n',
    "a plural form has another placeholder": MODULE + FORMS + 'msgstr[0] "{one} Jahr"\nmsgstr[1] "{n} Jahre"\n',
}
HEAD = 'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=utf-8\\n"\n"Plural-Forms: nplurals=2; plural=(n != 1);\\n"\n\n'


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_in_a_translation_is_found(mistake: str) -> None:
    assert list(mistakes(catalog_of(HEAD + MISTAKES[mistake], "de")))


def test_what_is_no_mistake_is_not_taken_for_one() -> None:
    page = PAGE + 'msgid "<b>%(n)s</b> of 5 %%"\nmsgstr "von 5 %% <b>%(n)s</b>"\n\n'
    plural = MODULE + FORMS + 'msgstr[0] "ein Jahr"\nmsgstr[1] "{n} Jahre"\n\n'
    text = MODULE + 'msgid "less than 5 %"\nmsgstr "< 5 %"\n'
    assert list(mistakes(catalog_of(HEAD + page + plural + text, "de"))) == []


@pytest.mark.parametrize("forms", ["nplurals=2; plural=(n > 1);", "nplurals=3; plural=(n != 1);"])
def test_plural_forms_of_another_language_are_found(forms: str) -> None:
    assert list(mistakes(catalog_of(HEAD.replace("nplurals=2; plural=(n != 1);", forms), "de")))


def test_a_gap_in_a_catalog_is_found() -> None:
    sources = catalog_of(HEAD + PAGE + 'msgid "a"\nmsgstr ""\n\n' + MODULE + FORMS + 'msgstr[0] ""\nmsgstr[1] ""\n')
    full = PAGE + 'msgid "a"\nmsgstr "x"\n\n' + MODULE + FORMS + 'msgstr[0] "x"\nmsgstr[1] "y"\n'
    assert list(gaps(catalog_of(HEAD + full), sources)) == []
    for right, wrong in [("a.mjs", "a.html"), ('"a"', '"b"'), ('str "x"', 'str ""'), ('"y"', '""'), (PAGE, PAGE + "#, fuzzy\n")]:
        assert list(gaps(catalog_of(HEAD + full.replace(right, wrong)), sources)), wrong


def test_a_catalog_is_complete_by_its_word() -> None:
    assert [is_complete(catalog_of(f"# German.\n# Complete: {word}\n" + HEAD)) for word in ("yes", "no")] == [True, False]


# ---- the templates -------------------------------------------------------------------------------


class _Loose(HTMLParser):
    """Collects what a page says to people: texts, and the attributes that are read out or shown."""

    SPOKEN = ("aria-label", "aria-description", "alt", "title", "placeholder")

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value for name, value in attrs if value and name in self.SPOKEN]

    def handle_data(self, data: str) -> None:
        self.found.append(data)


def loose_texts(template: str) -> list[str]:
    """The texts of a template that stand outside of a translation: in its markup, or as a string of more than a bare name."""
    tree = Environment(extensions=["jinja2.ext.i18n"], autoescape=True).parse(template)
    page, said = _Loose(), {id(text) for call in tree.find_all(nodes.Call) if is_gettext(call) for text in call.find_all(nodes.Const)}
    page.feed("".join(node.data if isinstance(node, nodes.TemplateData) else "\u00b7" for node in parts(tree)))
    strings = [c.value for c in tree.find_all(nodes.Const) if id(c) not in said and isinstance(c.value, str)]
    strings = [text for text in strings if re.search(r"^[A-Z]|[A-Za-z] [A-Za-z]", text) and text != text.upper()]
    return [text.strip() for text in (*page.found, *strings) if re.search(r"[^\W\d_]", text)]


def is_gettext(call: nodes.Call) -> bool:
    return isinstance(call.node, nodes.Name) and call.node.name in ("_", "gettext", "ngettext")


def parts(tree: nodes.Node) -> Iterator[nodes.Node]:
    """The parts of a template that make its text, in the order in which they stand."""
    for node in tree.iter_child_nodes():
        if isinstance(node, nodes.TemplateData) or not isinstance(node, nodes.Stmt):
            yield node
        else:
            yield from parts(node)


def test_a_template_that_has_translated_texts_has_no_others() -> None:
    whole = any(is_complete(catalog_of(file.read_text(encoding="utf-8"))) for file in CATALOGS)
    texts = {file.name: file.read_text(encoding="utf-8") for file in PAGES}
    checked = {name: text for name, text in texts.items() if whole or re.search(r"_\(|\btrans\b", text)}
    assert {"base.html", "error.html", "closed.html", "languages.html"} <= checked.keys()
    assert {name: loose for name, text in checked.items() if (loose := loose_texts(text))} == {}


@pytest.mark.parametrize(
    "template",
    [
        "<p>Yes</p>",
        "{% if a %}<p>{{ a }} of {{ b }}</p>{% endif %}",
        '<nav aria-label="Language">',
        '<img alt="{{ a }} dots">',
        "{% block title %}Survey{% endblock %}",
        '{% with labels = ("Yes", "No") %}{% endwith %}',
        "{{ 'no answer' if a else b }}",
        "{% trans %}Yes{% endtrans %}, <b>certainly</b>",
        "{% macro m(a) %}<i>{{ a }} years</i>{% endmacro %}",
        "{% call m(1) %}years{% endcall %}",
    ],
)
def test_a_text_without_a_translation_is_found(template: str) -> None:
    assert loose_texts(template)


@pytest.mark.parametrize(
    "template",
    [
        "{% trans %}Yes{% endtrans %}: {{ number }} %",
        "{% trans trimmed n=a | length %}One <b>year</b>{% pluralize %}{{ n }} years{% endtrans %}",
        '<nav aria-label="{{ _(\'Language\') }}" class="languages">',
        '{% extends "base.html" %}{% include "respondents/options.html" %}{# a remark #}',
        '<a href="?lang={{ tag }}"{% if a == "yes_no" %} aria-current="true"{% endif %}>{{ name }}</a>',
        '<script type="application/json" id="messages">{{ messages }}</script><!-- a remark -->',
        '{{ m(75, _("Of 100 people:")) }} · {{ n }}',
    ],
)
def test_a_template_without_loose_texts_passes(template: str) -> None:
    assert loose_texts(template) == []


# ---- the modules ---------------------------------------------------------------------------------


def computed_texts(module: str) -> list[str]:
    """The calls of `t` and `tn` whose texts are not written out, so that nobody can collect them."""
    calls = re.findall(r"(?<![\w.$])(?:t|tn)\((?!\)).*", module)
    written = r'tn\(\s*"[^"]*",\s*"|t\(\s*"[^"]*"\s*[,)]|tn?\($|tn\("[^"]*",$'
    return [call for call in calls if not re.match(written, call)]


def test_the_modules_write_their_texts_out() -> None:
    sources = {file.name: file.read_text(encoding="utf-8") for file in MODULES if file.name != "language.mjs"}
    assert {name: found for name, source in sources.items() if (found := computed_texts(source))} == {}


@pytest.mark.parametrize("call", ["t(text)", "t(`a ${b}`)", 't(yes ? "a" : "b")', 'tn("a", more, 2)', "return t(a.b, { n })", 't("a" + b)'])
def test_a_computed_text_in_a_module_is_found(call: str) -> None:
    assert computed_texts(call)
    assert computed_texts('t("a"); t("a", { n }); tn("a", "b", 2); format(x); at(1); split(2); x.t(y);') == []


def texts_of(module: str) -> list[tuple[str, list[str]]]:
    return [(name, texts) for _, name, texts, _ in module_texts(io.BytesIO(module.encode()), (), (), {})]


@pytest.mark.parametrize(
    ("module", "texts"),
    [
        ('t("a"); t("b", { n }); format("c"); x.t("d"); split("e")', [("t", ["a"]), ("t", ["b"])]),
        ('tn(\n  "a",\n  "b", 2)', [("tn", ["a", "b"])]),
        ('t("{a} of {b}", { a: t("c"), b: tn("d", "e", n, { n: number(n) }) })', [("t", ["{a} of {b}"]), ("t", ["c"]), ("tn", ["d", "e"])]),
        ('`${a} · ${tn("d", "e", n, { n: number(n) })}`', [("tn", ["d", "e"])]),
        (r't("say \"a\"") + /"/.test(x) + t("b\u2026")', [("t", ['say "a"']), ("t", ["b…"])]),
    ],
)
def test_the_texts_of_a_module_are_collected_wherever_they_stand(module: str, texts: list[tuple[str, list[str]]]) -> None:
    assert texts_of(module) == texts


def test_no_text_of_the_modules_stands_both_with_a_count_and_without() -> None:
    texts = [call for file in MODULES for call in texts_of(file.read_text(encoding="utf-8"))]
    counted, plain = ({words[0] for name, words in texts if name == wanted} for wanted in ("tn", "t"))
    assert len(plain) > len(counted) > 3
    assert counted & plain == set()
