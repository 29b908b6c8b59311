"""Invitation codes: creates random codes, stored as hashes and shown once. `store/sql/submissions` checks them and uses them up."""

from __future__ import annotations

import csv
import io
import secrets
from collections.abc import Sequence

from deniable.survey import Survey
from deniable.wire import access_codes
from deniable.wire.link import Link
from deniable_server.store.protocol import Store

MOST_CODES = 100_000  # at a time


def make(store: Store, survey_id: str, count: int) -> list[str]:
    """Creates codes and returns their texts; their hashes are on the disk by then.

    Raises:
        UnknownSurveyError: There is no such survey.
        ValueError: The survey takes no codes, or `count` is not from 1 to MOST_CODES.
    """
    if not 1 <= count <= MOST_CODES:
        raise ValueError(f"count must be a whole number from 1 to {MOST_CODES:,}, got {count:,}")
    survey = store.surveys.published(survey_id).survey
    if survey.access != "invited":
        raise ValueError(f"access of survey {survey_id} must be invited, got {survey.access}: it takes no codes")
    code_secrets = [secrets.token_bytes(access_codes.SECRET_BYTES) for _ in range(count)]
    store.invitations.add(survey_id, [access_codes.invitation_hash(survey_id, secret) for secret in code_secrets])
    return [access_codes.format_code(secret) for secret in code_secrets]


def to_csv(survey: Survey, codes: Sequence[str], public_url: str | None = None, group: str | None = None) -> str:
    """Returns a table of codes and their personal links; without a public address, links are paths.

    A code begins with a letter or digit, a link with https://, http:// or /, so spreadsheets read neither as a formula.
    """
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["code", "link"])
    writer.writerows([code, personal_link(survey, code, public_url, group)] for code in codes)
    return out.getvalue()


def personal_link(survey: Survey, code: str, public_url: str | None = None, group: str | None = None) -> str:
    """Returns the link for one person. The code is in its fragment, which no server sees when a chat program fetches the link."""
    return str(Link((public_url or "").rstrip("/"), survey.id, survey.digest, group, code))
