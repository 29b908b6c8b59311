"""Comprehension check: three statements about the method whose truth follows from how every survey works, whatever its epsilon.

They are ordinary questions, randomized and reported like all others. The share of right answers says how well a survey's words
explain its protection, so that words can be chosen by data.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from deniable.survey.question import Question

_WEIGHT = "0.5"
"""The share of the survey's epsilon of a statement, relative to an ordinary question."""


@dataclass(frozen=True)
class Statement:
    """A statement about the method.

    Attributes:
        id: The id of its question.
        answer: The right answer.
        texts: The statement, by language.
    """

    id: str
    answer: Literal["yes", "no"]
    texts: Mapping[str, str]


STATEMENTS = (
    Statement(
        "check_1",
        "yes",
        {
            "en": "Before my device sends my answers, it may change some of them by chance.",
            "de": "Bevor mein Gerät meine Antworten sendet, kann es einige davon zufällig ändern.",
            "es": "Antes de enviar mis respuestas, mi dispositivo puede cambiar algunas al azar.",
            "fr": "Avant d’envoyer mes réponses, mon appareil peut en changer certaines au hasard.",
            "ar": "قبل أن يرسل جهازي إجاباتي، قد يغيّر بعضها بالصدفة.",
        },
    ),
    Statement(
        "check_2",
        "no",
        {
            "en": "If my record says Yes, I must have answered Yes.",
            "de": "Wenn in meinem Eintrag Ja steht, muss ich Ja geantwortet haben.",
            "es": "Si mi registro dice Sí, es que respondí Sí.",
            "fr": "Si mon enregistrement dit Oui, c’est que j’ai forcément répondu Oui.",
            "ar": "إذا ورد في سجلي «نعم»، فلا بد أنني أجبت بنعم.",
        },
    ),
    Statement(
        "check_3",
        "yes",
        {
            "en": "Those who ask can find out about how many of all people answered Yes.",
            "de": "Wer fragt, kann herausfinden, wie viele von allen ungefähr mit Ja geantwortet haben.",
            "es": "Quienes preguntan pueden saber, más o menos, cuántas de todas las personas respondieron Sí.",
            "fr": "Ceux qui posent les questions peuvent savoir combien de personnes, à peu près, ont répondu Oui.",
            "ar": "يمكن لمن يسألون أن يعرفوا، على وجه التقريب، كم شخصًا من الجميع أجابوا بنعم.",
        },
    ),
)
_SECTION = {
    "en": {"title": "How this survey works", "note": "Is each statement right? Your device treats these answers like all others."},
    "de": {
        "title": "Wie diese Umfrage funktioniert",
        "note": "Stimmen diese Aussagen? Ihr Gerät behandelt diese Antworten wie alle anderen.",
    },
    "es": {
        "title": "Cómo funciona esta encuesta",
        "note": "¿Es correcta cada afirmación? Su dispositivo trata estas respuestas como todas las demás.",
    },
    "fr": {
        "title": "Comment fonctionne cette enquête",
        "note": "Chaque affirmation est-elle juste ? Votre appareil traite ces réponses comme toutes les autres.",
    },
    "ar": {"title": "كيف يعمل هذا الاستبيان", "note": "هل كل عبارة صحيحة؟ يعامل جهازك هذه الإجابات كغيرها."},
}
_NEXT = {"en": "The questions", "de": "Die Fragen", "es": "Las preguntas", "fr": "Les questions", "ar": "الأسئلة"}
"""The section after the check, for a survey whose first question begins none."""


def right_answer(question: Question) -> str | None:
    """Returns the right answer to a statement of the check; None for any other question, such as one with another text."""
    for statement in STATEMENTS:
        if question.id == statement.id and statement.answer in question.categories and question.text in statement.texts.values():
            return statement.answer
    return None


def with_check(document: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a survey file's document that begins with the check, in each of its languages that the check has.

    In other languages its texts are English. A document that has a question with one of its ids stays as it is.

    Args:
        document: A survey file's document, which may have problems; its questions must be mappings.
    """
    questions = list(document.get("questions", []))
    if any(question.get("id") == statement.id for question in questions for statement in STATEMENTS):
        return dict(document)
    own = _language_of(str(document.get("language", "en")))
    share = {} if "epsilon" not in document else {"weight": _WEIGHT}
    check: list[dict[str, Any]] = [{"id": one.id, "text": one.texts[own], "type": "yes_no", **share} for one in STATEMENTS]
    place = {"fixed": "true"} if "section_order" in document else {}  # the check comes first
    check[0] = {"id": check[0]["id"], "section": {**_SECTION[own], **place}, **check[0]}
    is_bare = bool(questions) and "section" not in questions[0]
    if is_bare:
        questions[0] = {**questions[0], "section": {"title": _NEXT[own], **place}}
    following = questions[0].get("id") if is_bare else None
    translated = document.get("translations")
    if isinstance(translated, Mapping):
        translations = {tag: _translated(texts, _language_of(str(tag)), following) for tag, texts in translated.items()}
        document = {**document, "translations": translations}
    return {**document, "questions": [*check, *questions]}


def _language_of(tag: str) -> str:
    """Returns the language of the check's texts for a language tag."""
    family = tag.split("-")[0].lower()
    return family if family in _SECTION else "en"


def _translated(texts: Any, language: str, following: Any) -> Any:
    """Returns the translations of a survey with the check, and with the section of the question `following`."""
    own = texts.get("questions", {}) if isinstance(texts, Mapping) else None
    if not isinstance(own, Mapping):
        return texts  # a problem that its author is shown
    questions: dict[str, Any] = {statement.id: {"text": statement.texts[language]} for statement in STATEMENTS}
    questions[STATEMENTS[0].id]["section"] = _SECTION[language]
    questions |= own
    if isinstance(following, str) and isinstance(words := own.get(following, {}), Mapping):
        questions[following] = {**words, "section": {"title": _NEXT[language]}}
    return {**texts, "questions": questions}
