"""Menus of questions on pages of results."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from markupsafe import Markup, escape

from deniable.survey import Question, Survey
from deniable_server.results.result_cache import compute_once


def question_menu(survey: Survey, questions: Callable[[Survey], Iterable[Question]], chosen: str | None) -> Markup:
    """Returns the HTML options of a menu, rendered once for all menus of a survey: a wide survey has hundreds in each.

    Args:
        survey: The survey.
        questions: Returns the questions, or items, that the menu offers. Its name tells menus apart.
        chosen: The id of the selected one, or None.
    """
    options = compute_once(("menu", questions.__name__, survey.digest), lambda: Markup("").join(map(_option, questions(survey))))
    of_chosen = f'value="{escape(chosen or "")}" dir='
    return Markup(str(options).replace(of_chosen, of_chosen.replace(" dir=", " selected dir="), 1))  # noqa: S704 - escaped


def _option(question: Question) -> Markup:
    return Markup('<option value="{}" dir="auto">{}</option>').format(question.id, question.text)
