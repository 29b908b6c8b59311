"""Information sheet for participants, in a language of the survey: what the survey's first page says, to print or to send.

It uses the texts of respondents' pages and their translations, so that a sheet promises nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal

from babel import Locale
from babel.numbers import format_decimal

from deniable.bundle.report import ReportSection
from deniable.estimate.present.table import Table
from deniable.privacy.claims import claim_texts, facts_of, guesses
from deniable.privacy.posterior import people
from deniable.survey import Survey
from deniable_server.web.languages import LANGUAGES, Language

FALLBACK = "en"

TEXTS = {
    "asks": "Who asks, and why",
    "contact": "Contact",
    "ethics": "Ethics approval",
    "odds": "The odds of every question",
    "question": "Question",
    "own": "Recorded, if it is your answer",
    "other": "Recorded, if it is not",
    "of": "{counted} of {of}",
    "even": "Over many people the coins even out.",
    "sees": "Who can see what",
    "asker": "Those who ask, even if it is your boss or doctor",
    "server": "Who runs the server",
    "thief": "A thief of the database",
    "sender": "Who sent you the link",
    "network": "Your network",
    "mind": "If you change your mind",
    "limits": "What this cannot protect against",
    "agree": "“Start” means that you agree to take part.",
    "stop": "You can stop at any time before you send.",
}
"""The texts of respondents' pages that a sheet uses, by their English; a test compares them with the catalogs."""


def page_language(tag: str) -> Language:
    """Returns the language of the pages' words for a language of a survey: itself, its relative, or English."""
    return LANGUAGES.get(tag) or LANGUAGES.get(tag.split("-")[0]) or LANGUAGES[FALLBACK]


def sections(survey: Survey, tag: str) -> Iterator[ReportSection]:
    """Yields the sheet in order. tag: one of the survey's languages."""
    language, facts = page_language(tag), facts_of(survey)
    translate: Callable[[str], str] = language.texts.gettext
    locale = Locale.parse(language.tag, sep="-")

    def number(value: int) -> str:
        return format_decimal(Decimal(value), locale=locale, numbering_system="latn")

    def word(name: str) -> str:
        return translate(TEXTS[name])

    def claims(*topics: str) -> tuple[str, ...]:
        return tuple(text for topic in topics for text in claim_texts(topic, facts, translate, number))

    def own(key: str) -> str:
        return survey.text_in(tag, key)[0]

    crowd = guesses(survey)
    rows = [("blind", crowd.blind), ("one", crowd.one), *([("all", crowd.record)] if len(survey.questions) > 1 else [])]
    yield ReportSection(own("title"), 1, tuple(filter(None, (own("institution"), own("about")))))
    people_to_ask = tuple(f"{word(key)}: {own(key)}" for key in ("contact", "ethics") if own(key))
    if people_to_ask:
        yield ReportSection(word("asks"), 2, people_to_ask)
    promise = " ".join(claims("promise"))
    yield ReportSection(promise, 2, (" ".join(claims("coins", "advice")), " ".join(claims("level", "crowd"))), _pairs(claims, rows, number))
    yield ReportSection(word("odds"), 2, (word("even"), *claims("learn")), _odds(survey, tag, word, number))
    release = tuple(filter(None, (" ".join(claims(topic)) for topic in ("release", "floor", "groups", "public", "sample"))))
    observers = tuple((word(who), " ".join(claims(who))) for who in ("asker", "server", "thief", "sender", "network"))
    yield ReportSection(word("sees"), 2, release, Table("", ("", ""), observers, texts=2))
    started = (f"{word('agree')} {word('stop')}", *claims("code", "send"))
    yield ReportSection(word("mind"), 2, (*started, *claims("withdraw", "lost", "leave", "known", "twice")))
    yield ReportSection(word("limits"), 2, claims("limits"))


def _pairs(claims: Callable[[str], tuple[str, ...]], rows: list[tuple[str, int]], number: Callable[[int], str]) -> Table:
    return Table("", ("", ""), tuple((" ".join(claims(topic)), number(people)) for topic, people in rows))


def _odds(survey: Survey, tag: str, word: Callable[[str], str], number: Callable[[int], str]) -> Table:
    rows: list[tuple[str, ...]] = []
    for question in survey.questions:
        if question.grid and question.stem:
            rows.append((survey.grid_in(tag, question.grid)[0], "", ""))
        of, own, other = people(question.channel)
        shares = (word("of").format(counted=number(counted), of=number(of)) for counted in (own, other))
        rows.append((survey.question_in(tag, question)[0], *shares))
    return Table("", (word("question"), word("own"), word("other")), tuple(rows))
