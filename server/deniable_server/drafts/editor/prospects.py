"""Expected precision of a draft, shown beside its fields, and proposals to improve it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from deniable.plan.proposals import ROUGH, outlook, proposals, verdict
from deniable.privacy.posterior import least_protected, odds_in_words, posterior_bound
from deniable.survey import Survey
from deniable.survey.labels import warnings
from deniable.survey.reachable import unreachable
from deniable.survey.undeclared import undeclared
from deniable_server.drafts.editor.drafted import checked
from deniable_server.web.offload import UPLOAD_SECONDS, computed


def ahead(survey: Survey, value: Mapping[str, Any], n: int) -> dict[str, Any]:
    """Returns the expected precision of a survey, as the editor shows it."""
    rows = outlook(survey, n)
    return {
        "n": n,
        "verdict": verdict(survey, n),
        "rows": rows,
        "is_imprecise": max(row.half_width for row in rows) > ROUGH,
        "proposals": proposals(value, n),
        "weakest": least_protected(survey.items),
        "odds_in_words": odds_in_words,
        "belief": posterior_bound(survey.odds),
        "doubts": (*unreachable(survey.questions), *undeclared(survey.questions), *warnings(survey.groups, n)),
    }


@computed(UPLOAD_SECONDS)
def proposed(value: dict[str, Any], n: int, words: str) -> dict[str, Any]:
    """Returns the document with a proposal applied; unchanged if the proposal no longer exists."""
    if checked(value)[0] is None:
        return value
    return next((dict(one.document) for one in proposals(value, n) if one.words == words), value)
