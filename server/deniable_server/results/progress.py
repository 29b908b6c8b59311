"""What is known of a survey while people answer: how far it is, and what is wrong. Pages, API and command line say the same."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime
from functools import lru_cache

from deniable.errors import EstimateError
from deniable.estimate.checks import plausibility
from deniable.estimate.checks.made_up_reports import made_up
from deniable.estimate.checks.method import check_range
from deniable.plan.progress import Progress, in_words, progress
from deniable.plan.survey import half_width_of
from deniable.survey import Survey
from deniable.wire.tally import Tally
from deniable_server.results.release import counted, release_of
from deniable_server.results.results import may_wait, of_organisations
from deniable_server.store.life import Settings
from deniable_server.store.protocol import Published, Store, by_hand, estimated

SOON = 14  # days before something ends in which that is said
QUIET = 7  # days without a batch after which that is said


def today() -> str:
    """The day in UTC, YYYY-MM-DD."""
    return datetime.now(UTC).date().isoformat()


def progress_of(store: Store, published: Published, settings: Settings, *, rough: bool = False) -> Progress:
    """A survey's progress today, without the checks of the method, which need all that is counted. Raises what the store raises.

    rough: at once, as in `people_needed`.
    """
    survey = published.survey
    counts, together = store.submissions.counts(survey.id), estimated(survey)
    growth = [(span.since, span.until, span.n) for span in store.life.spans(survey.id)]
    n = counted(counts, together)
    taking = published.state == "open"
    found = progress(survey, n, growth, today(), goal=settings.half_width, expected=settings.expected, is_open=taking, rough=rough)
    made, spent = store.access.invitations(survey.id) if survey.access == "invited" else (None, None)
    return replace(
        found,
        state=published.state,
        n_organisation=of_organisations(counts, together),
        n_by_hand=counted(counts, by_hand(survey)),
        may_wait=may_wait(published, together),
        codes_made=made,
        codes_spent=spent,
    )


def watched(store: Store, survey_id: str) -> Progress:
    """The same with the checks of the method."""
    published = store.surveys.published(survey_id)
    found = progress_of(store, published, store.life.settings(survey_id))
    return replace(found, alarms=alarms_of(store, published.survey))


def alarms_of(store: Store, survey: Survey) -> tuple[str, ...]:
    """What the checks of the method say is wrong, a sentence each; nothing where nothing was found, or too few to show anything of them."""
    release = release_of(store, survey)
    return () if release.is_withheld else alarms(survey, release.tally())


def alarms(survey: Survey, tally: Tally) -> tuple[str, ...]:
    """The same of a tally. Honest records raise one in fewer than 2 of 100 surveys."""
    return _alarms(survey.definition, tally.n, tally.to_bytes()) if tally.n else ()


@lru_cache(maxsize=64)  # a list of surveys asks for those of all, again and again
def _alarms(definition: bytes, n: int, pairs: bytes) -> tuple[str, ...]:
    survey = Survey.from_definition(definition)
    tally = Tally.from_bytes(n, survey.record.bits, pairs)
    items, said = {item.id: item for item in survey.items}, []
    try:
        checks, whole = check_range(survey, tally), made_up(survey, tally)
    except EstimateError:  # so few that a question was asked of nobody yet, where each person is asked some
        return ()
    for check in checks:
        item = items[check.question]
        if check.alarm and (
            len(item.recorded) > 2 or check.option == item.categories[0]
        ):  # of two options the second is the first one's mirror image
            remark = plausibility.remark(check.ones, check.n, check.lowest, check.highest, check.level)
            said.append(f"{item.text} {check.option}: {remark}.")
    return (*said, *([whole.words] if whole and whole.alarm else []))


def warnings(published: Published, settings: Settings, found: Progress) -> list[str]:
    """What a researcher may have to do something about, the most urgent first."""
    day, said = date.fromisoformat(found.day), list(found.alarms)
    if settings.deleted_on:
        return [f"Its records were deleted on {in_words(settings.deleted_on, found.day)}."]
    if settings.delete_on and (date.fromisoformat(settings.delete_on) - day).days <= SOON:
        said.append(f"Its records will be deleted on {in_words(settings.delete_on, found.day)}.")
    if not published.is_open:
        return said
    if published.paused:
        said.append("It is paused: nobody can answer.")
    if settings.close_on and (date.fromisoformat(settings.close_on) - day).days <= SOON:
        said.append(f"It closes at the end of {in_words(settings.close_on, found.day)}.")
    if found.codes_made and found.codes_made == found.codes_spent:
        said.append("All codes are spent.")
    if settings.expected and (found.needed is None or settings.expected < found.needed):
        reach = f"{100 * half_width_of(published.survey, settings.expected):.1f}".removesuffix(".0")
        wanted = f"{100 * settings.half_width:g}"
        said.append(f"The {settings.expected:,} people who are expected give {reach} points either way, not the {wanted} that are wanted.")
    if found.growth and not published.paused and (day - date.fromisoformat(found.growth[-1][1])).days > QUIET:
        said.append(f"Nothing was counted since {in_words(found.growth[-1][1], found.day)}.")
    return said
