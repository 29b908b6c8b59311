"""Coin-toss form for respondents without JavaScript: they toss two real coins and send the randomized answers.

This is Warner's randomized response with people instead of devices: the server receives a randomized mark, never an
answer. It is packed as a device packs it, counted separately from devices' records, and stored as sparingly: no cookie, no address.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection
from typing import Any
from urllib.parse import quote, urlencode

import numpy as np
from flask import render_template, request
from markupsafe import Markup
from werkzeug.datastructures import MultiDict

from deniable.privacy.claims import bounds_of, facts_of, guesses
from deniable.survey import Survey
from deniable.survey.compiled import SurveyRules
from deniable.wire import access_codes
from deniable.wire.record import pack
from deniable.wire.submission import Submission
from deniable_server.context import current_store
from deniable_server.respondents.forms import ByHandForm
from deniable_server.respondents.page import page
from deniable_server.store.errors import ClosedError, ConflictError, FullError, InvitationError, PausedError, UnavailableError
from deniable_server.store.spare_codes import spare_codes
from deniable_server.web import languages, limits, page_cache, sites
from deniable_server.web.audience import Audience, Routes
from deniable_server.web.errors import status_of
from deniable_server.web.lanes import Lane
from deniable_server.web.rate_limiter import RateLimitError, current_rates

bp = Routes("by_hand", __name__, Audience(login=False, forms=True, csrf=False, translated=True), Lane.RESPONDENTS)
Page = tuple[str, int]


def _new_code() -> str:
    return access_codes.format_code(secrets.token_bytes(access_codes.SECRET_BYTES))


_PLACEHOLDER = _new_code()
"""The secret in the cached form. It reaches no visitor."""
_QUESTIONS = b'<fieldset class="question"'
_ACTION = Markup('<form method="post" action="{}"')


def _fill(page: bytes, path: str, query: MultiDict[str, str], tags: languages.PageLanguages, facts: page_cache.SurveyFacts) -> bytes:
    """Fills a cached form in for one visitor: a new secret, the form's target, and the group in the address.

    Raises:
        LookupError: The page has another form than expected.
    """
    before, questions, after = page.partition(_QUESTIONS)  # they are nearly all of a long page
    if not questions and _PLACEHOLDER.encode() not in page:
        return page  # without a form
    address, group = _address(path, query, tags.address or tags.page, facts.groups), _group(facts.groups, query)
    changes = [(_PLACEHOLDER, _new_code()), (_ACTION.format(path), _ACTION.format(address))]
    if group in facts.groups:
        option = Markup(' lang="{}">{}</option>').format(facts.language, group)
        changes.append((f"<option{option}", f"<option selected{option}"))
    for part, own in changes:
        before = page_cache.replace_once(before, part, own)
    return b"".join((before, questions, after))


@bp.get("/s/<survey_id>/by-hand")
@page_cache.cacheable(codes=True, fill=_fill)
def blank(survey_id: str) -> Page:
    """Serves an empty form with a new secret: however often it is sent, it is counted once."""
    published = page_cache.published(survey_id)
    languages.about(published.survey)
    if not published.survey.coins_can_answer:
        return _impossible()
    if published.state == "closed":
        return page("respondents/closed.html", published), 403
    if published.paused:
        return page("respondents/closed.html", published), 503
    return _form(published.survey, ByHandForm.of(published.survey, group=_group(published.survey.groups, request.args)), 200)


def _group(groups: Collection[str], query: MultiDict[str, str]) -> str | None:
    """Returns the group in the address, whatever its case and spaces."""
    requested = " ".join(query.get("group", "").split()).casefold()
    matches = [label for label in groups if " ".join(label.split()).casefold() == requested]
    return matches[0] if len(matches) == 1 else query.get("group")


def _largest(survey: SurveyRules) -> int:
    """Returns the size of the largest form: a mark for each question, `mark-16000=yes&`."""
    return limits.SMALL + (16 * survey.record.bits if survey.coins_can_answer else 0)  # a bit for each question


@bp.post("/s/<survey_id>/by-hand")
@limits.body(_largest)
def record(survey_id: str) -> Page:
    """Stores one record. The store decides whether the survey is open, so that a repetition after closing is still acknowledged."""
    sites.refuse_other_sites(null_origin=True)
    survey = current_store().surveys.published(survey_id).survey
    languages.about(survey)
    if not survey.coins_can_answer:
        return _impossible()
    form = ByHandForm.of(survey, request.form)
    if not form.validate():
        return _form(survey, form, 400)
    try:
        current_rates().submissions.take()
    except RateLimitError:
        return _form(survey, form, 429, "later")
    submission = submission_of(survey, form)
    submission.check(survey)
    code = access_codes.format_code(form.secret.raw)
    context = {"survey": survey, "form": form, "code": code, "facts": facts_of(survey, "hand", spare_codes(current_store(), survey))}
    try:
        current_store().submissions.add(survey_id, submission)
    except ConflictError as error:  # this form's number was used before, so a retry cannot succeed
        return render_template("respondents/by_hand_taken.html", **context), status_of(error)[0]
    except (ClosedError, InvitationError, PausedError, FullError, UnavailableError) as error:
        return _form(survey, form, *status_of(error))
    return render_template("respondents/by_hand_thanks.html", **context), 200


def submission_of(survey: Survey, form: ByHandForm) -> Submission:
    """Returns the submission of a valid form, packed as a device packs it."""
    marks = [np.array([[field.data == "yes", field.data == "no"]]) for field in form.marks]
    return Submission(
        access_codes.submission_id(form.secret.raw),
        survey.digest,
        1,
        pack(survey, marks),
        group=form.group.data if survey.groups else None,
        mode="by_hand",
        invitation=form.invitation.raw if survey.access == "invited" else None,
    )


def _form(survey: Survey, form: ByHandForm, status: int, refused: str = "") -> Page:
    if not form.secret.raw:  # a new form, or a form whose number was damaged: nothing is stored under such a number
        form.secret.data = _PLACEHOLDER if page_cache.current_rendering() else _new_code()
    of_one, bound = bounds_of(survey)
    context: dict[str, Any] = {
        "survey": survey,
        "form": form,
        "refused": refused,
        "bound": bound,
        "of_one": of_one,
        "facts": facts_of(survey, "hand", page_cache.spare_codes_of(survey)),
        "guesses": guesses(survey),
    }
    return render_template(
        "respondents/by_hand.html", address=_address(request.path, request.args, languages.addressed(), survey.groups), **context
    ), status


def _address(path: str, query: MultiDict[str, str], language: str, groups: Collection[str]) -> str:
    """Returns the form's target: the page's address with the known query parameters, so that going back shows an empty form."""
    parameters = {"lang": (language,), "group": groups}
    pairs = {name: value for name, value in query.items() if value in parameters.get(name, ())}
    return path + ("?" + urlencode(pairs, quote_via=quote) if pairs else "")


def _impossible() -> Page:
    return render_template("respondents/by_hand_impossible.html"), 404
