"""Progress and warnings of a survey while people answer, the same for pages, API and command line."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime

from deniable.errors import EstimateError
from deniable.estimate.checks import plausibility
from deniable.estimate.checks.made_up_reports import made_up
from deniable.estimate.checks.method import check_range
from deniable.plan.progress import Progress, in_words, progress
from deniable.plan.survey import half_width_of
from deniable.survey import Survey
from deniable.wire.tally import Tally
from deniable_server.results.disclosure_control import counted, release_of
from deniable_server.results.results import of_organisations, waiting_of
from deniable_server.store.life import Settings
from deniable_server.store.moments import in_zone
from deniable_server.store.protocol import Published, Store, by_hand, estimated

SOON = 14  # days before a closing or a deletion from which on there is a warning
QUIET = 7  # days without a batch after which there is a warning


def today() -> str:
    """Returns the day in UTC, YYYY-MM-DD."""
    return datetime.now(UTC).date().isoformat()


def progress_of(store: Store, published: Published, settings: Settings, *, rough: bool = False) -> Progress:
    """Returns a survey's progress today without alarms, which need the tallies. rough: approximate and fast, as in `people_needed`."""
    survey = published.survey
    counts, parts = store.submissions.counts(survey.id), estimated(survey)
    growth = [(span.since, span.until, span.n) for span in store.life.spans(survey.id)]
    waiting, is_open = waiting_of(store, survey), published.state == "open"
    n = counted(counts, parts) + waiting
    planned = progress(survey, n, growth, today(), goal=settings.half_width, expected=settings.expected, is_open=is_open, rough=rough)
    codes_made, codes_spent = store.invitations.count(survey.id) if survey.access == "invited" else (None, None)
    return replace(
        planned,
        state=published.state,
        n_organisation=of_organisations(counts, parts),
        n_by_hand=counted(counts, by_hand(survey)) + waiting_of(store, survey, by_hand=True),
        waiting=waiting,
        codes_made=codes_made,
        codes_spent=codes_spent,
        withdrawn=store.submissions.withdrawn(survey.id),
    )


def checked_progress(store: Store, survey_id: str) -> Progress:
    """Returns a survey's progress today with its alarms."""
    published = store.surveys.published(survey_id)
    current = progress_of(store, published, store.life.settings(survey_id))
    return replace(current, alarms=alarms_of(store, published.survey))


def alarms_of(store: Store, survey: Survey) -> tuple[str, ...]:
    """Returns a sentence for each check that failed; none if there are too few records to release."""
    release = release_of(store, survey)
    return () if release.is_withheld else release.compute_once("alarms", lambda: alarms(survey, release.tally()))


def alarms(survey: Survey, tally: Tally) -> tuple[str, ...]:
    """Returns the alarms of a tally. Honest records raise one in fewer than 2 of 100 surveys."""
    if not tally.n:
        return ()
    items, sentences = {item.id: item for item in survey.items}, []
    try:
        checks, whole = check_range(survey, tally), made_up(survey, tally)
    except EstimateError:  # no record has one of the questions yet, in a survey that asks each person some of them
        return ()
    for check in checks:
        item = items[check.question]
        if check.alarm and (len(item.recorded) > 2 or check.option == item.categories[0]):  # the second of two options mirrors the first
            remark = plausibility.remark(check.ones, check.n, check.lowest, check.highest, check.level)
            sentences.append(f"{item.text} {check.option}: {remark}.")
    return (*sentences, *([whole.words] if whole and whole.alarm else []))


def in_words_of(moment: str, zone: str) -> str:
    """Returns a minute in a time zone, in words."""
    return f"{in_zone(moment, zone):%Y-%m-%d %H:%M} ({zone})"


def warnings(published: Published, settings: Settings, progress: Progress) -> list[str]:
    """Returns warnings that a researcher may have to act on, the most urgent first."""
    day, sentences = date.fromisoformat(progress.day), list(progress.alarms)
    if settings.deleted_on:
        return [f"Its records were deleted on {in_words(settings.deleted_on, progress.day)}."]
    if settings.delete_on and (date.fromisoformat(settings.delete_on) - day).days <= SOON:
        sentences.append(f"Its records will be deleted on {in_words(settings.delete_on, progress.day)}.")
    if not published.is_open:
        return sentences
    if published.is_paused:
        sentences.append("It is paused: nobody can answer.")
    if published.opens_at:
        sentences.append(f"It opens at {in_words_of(published.opens_at, settings.zone)}.")
    if settings.closes_at and (date.fromisoformat(settings.closes_at[:10]) - day).days <= SOON:
        sentences.append(f"It closes at {in_words_of(settings.closes_at, settings.zone)}.")
    if settings.close_on and (date.fromisoformat(settings.close_on) - day).days <= SOON:
        sentences.append(f"It closes at the end of {in_words(settings.close_on, progress.day)}.")
    if progress.codes_made and progress.codes_made == progress.codes_spent:
        sentences.append("All codes are used.")
    if settings.expected and (progress.needed is None or settings.expected < progress.needed):
        reach = f"{100 * half_width_of(published.survey, settings.expected):.1f}".removesuffix(".0")
        target = f"{100 * settings.half_width:g}"
        sentences.append(f"The {settings.expected:,} people you expect give ±{reach} points, not the target of ±{target}.")
    if progress.growth and not published.paused and (day - date.fromisoformat(progress.growth[-1][1])).days > QUIET:
        sentences.append(f"No records arrived since {in_words(progress.growth[-1][1], progress.day)}.")
    return sentences
