"""Expected precision of a draft, which the editor shows beside its fields, and proposals to improve it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from deniable.plan.proposals import ROUGH, outlook, proposals, verdict
from deniable.privacy.claims import protection_of
from deniable.privacy.posterior import least_protected, odds_in_words
from deniable.privacy.stronger import stronger
from deniable.survey import Survey
from deniable.survey.labels import warnings
from deniable.survey.reachable import unreachable
from deniable.survey.undeclared import undeclared
from deniable_server.drafts.block_rows import block_texts, by_block
from deniable_server.drafts.editor.draft_text import check_document
from deniable_server.web.offload import UPLOAD_SECONDS, computed


def expected_precision(survey: Survey, document: Mapping[str, Any], n: int) -> dict[str, Any]:
    """Returns the expected precision of a survey with `n` respondents, as the editor shows it."""
    rows = outlook(survey, n)
    return {
        "n": n,
        "verdict": verdict(survey, n),
        "rows": by_block(survey, rows),
        "texts": block_texts(survey),
        "is_imprecise": max(row.half_width for row in rows) > ROUGH,
        "proposals": proposals(document, n),
        "weakest": least_protected(survey.items),
        "odds_in_words": odds_in_words,
        "box": protection_of(survey),
        "stronger": stronger(survey),
        "doubts": (*unreachable(survey.questions), *undeclared(survey.questions), *warnings(survey.groups, n)),
    }


@computed(UPLOAD_SECONDS)
def apply_proposal(document: dict[str, Any], n: int, words: str) -> dict[str, Any]:
    """Returns the document with a proposal applied; unchanged if the proposal no longer exists."""
    if check_document(document)[0] is None:
        return document
    return next((dict(proposal.document) for proposal in proposals(document, n) if proposal.words == words), document)
