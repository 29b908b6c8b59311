"""Claims in templates: sentences that reassure, warn or advise, in the reader's language, printed only where their condition holds."""

from __future__ import annotations

from decimal import Decimal
from functools import cache

from flask import Flask
from jinja2.utils import htmlsafe_json_dumps
from markupsafe import Markup

from deniable.privacy.claims import NO_FACTS, Facts, all_claims, claim_texts, levels
from deniable_server.web import languages

SCRIPTED = (
    "level",
    "crowd",
    "promise",
    "coins",
    "advice",
    "excuse",
    "lock",
    "arrived",
    "release",
    "floor",
    "spare",
    "groups",
    "sample",
    "public",
    "asker",
    "thief",
    "code",
)
"""Topics that the page's script fills in, since they depend on the survey that it has checked."""


def register(app: Flask) -> None:
    """Adds `claims`, `claims_list` and `claims_table` to the templates."""
    app.add_template_global(claims)
    app.add_template_global(claims_list)
    app.add_template_global(claims_table)


def claims(topic: str, facts: Facts = NO_FACTS) -> str:
    """Returns the claims of a topic that hold, in the page's language; without facts, the unconditional ones."""
    return " ".join(claims_list(topic, facts))


def claims_list(topic: str, facts: Facts = NO_FACTS) -> tuple[str, ...]:
    """Returns the same, one text for each claim."""
    return claim_texts(topic, facts, languages.translate, lambda number: languages.write_number(Decimal(number)))


def claims_table() -> Markup:
    """Returns the part of the table that the page's script needs, in the page's language, as JSON in a script element."""
    return _table_in(languages.chosen())


@cache
def _table_in(language: languages.Language) -> Markup:
    translate = language.texts.gettext
    rows = [[claim.topic, claim.when, translate(claim.text)] for claim in all_claims() if claim.topic in SCRIPTED]
    return htmlsafe_json_dumps({"levels": levels(), "claims": rows}, ensure_ascii=False, separators=(",", ":"))
