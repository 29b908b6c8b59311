"""Body of the results page: table of contents and question cards, rendered once for all who may see them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from flask import render_template
from markupsafe import Markup

from deniable.estimate import Results
from deniable.survey import Survey
from deniable_server.pages.paging import Paging
from deniable_server.researchers.question_cards import cards, widest_half

PageOptions = Mapping[str, str | float | None]
"""The options in the address of a page, by name."""


@dataclass(frozen=True)
class ResultsBody:
    """The questions on a page of results. Nothing in it depends on the researcher.

    Attributes:
        widest: Half the width of the widest interval, as in `widest_half`.
        is_outside: Whether limits of shares leave 0 to 100%.
        contents: Explanations and table of contents; empty without records.
        cards: The cards of the questions on the page.
    """

    widest: float | None
    is_outside: bool
    contents: Markup
    cards: Markup


def render_body(survey: Survey, results: Results, options: PageOptions, paging: Paging, *, simulated: bool) -> ResultsBody:
    """Renders the body. options: of the page's address, without the page."""
    every = cards(survey, results)
    context = {
        "survey": survey,
        "results": results,
        "chosen": (results.rows or results.means)[0],
        "cards": every,
        "options": options,
        "paging": paging,
        "simulated": simulated,
    }
    contents = Markup(render_template("researchers/contents.html", **context) if results.n else "")  # noqa: S704 - our own template
    rendered = Markup(render_template("researchers/cards.html", **context))  # noqa: S704 - our own template
    return ResultsBody(widest_half(every), any(card.is_outside for card in every), contents, rendered)


def options_of(results: Results, method: str | None, clusters: str | None) -> PageOptions:
    """Returns the options of the results page that shows these results. method, clusters: as requested."""
    first = (results.rows or results.means)[0]
    by_hand = 1 if results.by_hand else None
    return {
        "target": first.target,
        "confidence": first.confidence,
        "method": method,
        "group": results.group,
        "by_hand": by_hand,
        "clusters": clusters,
    }
