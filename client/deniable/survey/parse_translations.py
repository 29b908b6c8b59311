"""Parser of translations: a survey's texts in further languages; the survey must have each text in its own language too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from deniable.survey.question import Question
from deniable.survey.translation import TEXTS, language_problem, option_problems, plain
from deniable.survey.validator import Validator, excerpt


def parse_translations(validator: Validator, top: Mapping[str, Any], questions: Sequence[Question]) -> dict[str, Any]:
    """Returns the survey's texts in further languages; every text is optional."""
    own, translations = top.get("language", "en"), top.get("translations", {})
    if (broken := language_problem(own)) is not None:
        validator.refuse("language", f"{broken}, got {excerpt(own)}")
    if not isinstance(translations, Mapping) or ("translations" in top and not translations):
        validator.refuse("translations", "must be a mapping from one language or more to texts")
        return {}
    for language, texts in translations.items():
        where = f"translations.{language}"
        if (broken := language_problem(language)) is not None:
            validator.refuse(where, broken)
        elif language == own:
            validator.refuse(where, "must be another language than the survey's own")
        elif not isinstance(texts, Mapping) or not texts:
            validator.refuse(where, f"must be a mapping with some of {', '.join((*TEXTS, 'questions'))}")
        else:
            _check_language(validator, texts, where, top, questions)
    return {} if validator.problems else plain(translations)


def _check_language(
    validator: Validator, texts: Mapping[str, Any], where: str, top: Mapping[str, Any], questions: Sequence[Question]
) -> None:
    """Checks the texts of one language."""
    validator.keys(texts, where, required=[], optional=[key for key in TEXTS if key in top] + ["questions"])
    for key in TEXTS:
        validator.text(texts, where, key)
    own = texts.get("questions", {})
    if not isinstance(own, Mapping) or ("questions" in texts and not own):
        validator.refuse(f"{where}.questions", "must be a mapping from question ids to their text and options")
        return
    by_id = {question.id: question for question in questions}
    if len(by_id) < len(top.get("questions", ())):
        return  # the author has to correct the questions first
    for name, words in own.items():
        here = f"{where}.questions.{name}"
        if name not in by_id or not isinstance(words, Mapping) or not words:
            validator.refuse(here, "must be the id of a question, with its text, its options or both")
        else:
            _check_question(validator, words, here, by_id[name])


def _check_question(validator: Validator, words: Mapping[str, Any], where: str, question: Question) -> None:
    """Checks the texts of one question."""
    validator.keys(words, where, required=[], optional=["text", "options", "help", "section"])
    for key in ("text", "help"):
        validator.text(words, where, key)
    if "help" in words and not question.help:
        validator.refuse(f"{where}.help", f"must be left out: question {question.id} has no help")
    if "options" in words:
        for key, message in option_problems(question, words["options"]):
            validator.refuse(f"{where}.{key}", message)
    if "section" in words:
        _check_section(validator, words["section"], f"{where}.section", question)


def _check_section(validator: Validator, words: Any, where: str, question: Question) -> None:
    """Checks the texts of the section that begins with a question."""
    own = question.section.to_dict() if question.section else {}
    if not own:
        validator.refuse(where, f"must be left out: no section begins with question {question.id}")
    elif not isinstance(words, Mapping) or not words:
        validator.refuse(where, f"must be a mapping with some of {', '.join(own)}")
    else:
        validator.keys(words, where, required=[], optional=list(own))
        for key in own:
            validator.text(words, where, key)
