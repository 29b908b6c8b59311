"""Parser of translations: a survey's texts in further languages; the survey must have each text in its own language too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from deniable.survey.piping import pipe_problem, texts_of
from deniable.survey.question import Grid, Question
from deniable.survey.rating import dependencies, is_rating, item_texts
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
    return {} if validator.problems else {language: _of_items(top, texts) for language, texts in plain(translations).items()}


def _of_items(top: Mapping[str, Any], texts: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the texts of one language with the texts of rating blocks at their first items."""
    return {**texts, **({"questions": item_texts(top["questions"], texts["questions"])} if "questions" in texts else {})}


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
    sources = top.get("questions", ())
    if len(by_id) < len(dependencies(sources)):
        return  # the author has to correct the questions first
    blocks = {source["id"]: by_id[source["items"][0]["id"]] for source in filter(is_rating, sources)}
    of_blocks = {question.id for question in questions if question.grid and question.grid.id in blocks}
    for name, words in own.items():
        here = f"{where}.questions.{name}"
        if name not in {*by_id, *blocks} or not isinstance(words, Mapping) or not words:
            validator.refuse(here, "must be the id of a question, with its text, its options or both")
        elif name in blocks:
            _check_block(validator, words, here, blocks[name])
        elif name in of_blocks:
            validator.keys(words, here, required=[], optional=["text"])
            validator.text(words, here, "text")
            _check_pipes(validator, words, here, by_id[name])
        else:
            _check_question(validator, words, here, by_id[name])


def _check_block(validator: Validator, words: Mapping[str, Any], where: str, first: Question) -> None:
    """Checks the texts of a rating block, by its first item."""
    validator.keys(words, where, required=[], optional=["text", "options", "help", "section"])
    _check_grid_texts(validator, words, where, first.grid)
    _check_options(validator, words, where, first)
    if "section" in words:
        _check_section(validator, words["section"], f"{where}.section", first)
    _check_pipes(validator, words, where, first)


def _check_question(validator: Validator, words: Mapping[str, Any], where: str, question: Question) -> None:
    """Checks the texts of one question."""
    grid = question.grid if question.grid and question.grid.first == question.id else None
    validator.keys(words, where, required=[], optional=["text", "options", "help", "section", *(["grid"] if grid else [])])
    for key in ("text", "help"):
        validator.text(words, where, key)
    if "help" in words and not question.help:
        validator.refuse(f"{where}.help", f"must be left out: question {question.id} has no help")
    _check_options(validator, words, where, question)
    if "section" in words:
        _check_section(validator, words["section"], f"{where}.section", question)
    if "grid" in words and (not isinstance(words["grid"], Mapping) or not words["grid"]):
        validator.refuse(f"{where}.grid", "must be a mapping with some of text, help")
    elif "grid" in words:
        validator.keys(words["grid"], f"{where}.grid", required=[], optional=["text", "help"])
        _check_grid_texts(validator, words["grid"], f"{where}.grid", grid)
    _check_pipes(validator, words, where, question)


def _check_pipes(validator: Validator, words: Mapping[str, Any], where: str, question: Question) -> None:
    """Checks that translated texts refer to no other answers than the question does in the survey's own language."""
    for key, text in texts_of(words):
        broken = pipe_problem(text, question.piped, "the answers that the question refers to in the survey's own language")
        if broken is not None:
            validator.refuse(f"{where}.{key}", broken)


def _check_options(validator: Validator, words: Mapping[str, Any], where: str, question: Question) -> None:
    """Checks translated options; a grid has them at its first question."""
    if "options" in words and question.grid and question.grid.first != question.id:
        validator.refuse(f"{where}.options", f"must be left out: question {question.grid.first} has the options of its grid")
    elif "options" in words:
        for key, message in option_problems(question, words["options"]):
            validator.refuse(f"{where}.{key}", message)


def _check_grid_texts(validator: Validator, words: Mapping[str, Any], where: str, grid: Grid | None) -> None:
    """Checks the text and the help of a rating block."""
    for key in ("text", "help"):
        validator.text(words, where, key)
    if "help" in words and grid and not grid.help:
        validator.refuse(f"{where}.help", f"must be left out: {grid.id} has no help")


def _check_section(validator: Validator, words: Any, where: str, question: Question) -> None:
    """Checks the texts of the section that begins with a question."""
    own = question.section.raw_texts if question.section else {}
    if not own:
        validator.refuse(where, f"must be left out: no section begins with question {question.id}")
    elif not isinstance(words, Mapping) or not words:
        validator.refuse(where, f"must be a mapping with some of {', '.join(own)}")
    else:
        validator.keys(words, where, required=[], optional=list(own))
        for key in own:
            validator.text(words, where, key)
