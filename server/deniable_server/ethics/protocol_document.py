"""Protocol of a survey for an ethics board: its data, their protection, the observers, and the plan of analysis.

Sentences about protection are claims (`deniable.privacy.claims`) that hold for this survey. The others state what the definition, the
settings or the planner say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from deniable.bundle.codebook import condition_in_words
from deniable.bundle.report import ReportSection
from deniable.estimate.present.table import Table
from deniable.plan import Plan
from deniable.plan.result import points
from deniable.privacy.claims import bounds_of, claim_text, claim_texts, claims_about, facts_of, guesses, protection_of
from deniable.privacy.posterior import least_protected, odds_in_words, people
from deniable.survey import Survey
from deniable.survey.condition import in_words
from deniable.survey.kind_words import kind_in_words, orders_in_words
from deniable.survey.question import Question
from deniable_server.pages.figures import plain
from deniable_server.store.life import Settings

TO_FILL_IN = "Text in [square brackets] is for you to fill in."


@dataclass(frozen=True)
class Study:
    """The survey of a document, with its plan.

    Attributes:
        survey: The survey.
        plan: Its plan for the expected number of people.
        status: Its state in one sentence, such as that it is a draft.
        settings: Its settings, or None for a draft.
    """

    survey: Survey
    plan: Plan
    status: str
    settings: Settings | None = None


def sections(study: Study) -> Iterator[ReportSection]:
    """Yields the protocol in order."""
    survey = study.survey
    yield ReportSection(f"Protocol: {survey.title}", 1, (study.status, TO_FILL_IN, *_identity(survey)))
    yield from _collected(survey)
    yield from _protection(survey)
    yield from _observers(survey)
    yield ReportSection("Storage, release and retention", 2, _retention(study))
    yield ReportSection("Consent and withdrawal", 2, _consent(survey))
    yield ReportSection("Data protection impact assessment", 2, _impact(survey))
    yield from _preregistration(study)


def _identity(survey: Survey) -> tuple[str, ...]:
    lines = (("Institution", survey.institution), ("Contact", survey.contact), ("Ethics approval", survey.ethics))
    return (survey.about, *(f"{name}: {text or '[fill in]'}" for name, text in lines))


def _collected(survey: Survey) -> Iterator[ReportSection]:
    rows = tuple(_rows(survey, lambda question: (kind_in_words(question), _options(question), _when(question))))
    sample = [] if survey.ask is None else [f"Each device draws {survey.ask} of {len(survey.blocks)} blocks of questions at random."]
    groups = [f"Each record openly names one of these groups: {', '.join(survey.groups)}."] if survey.groups else []
    codes = ["Each person needs a one-time invitation code."] if survey.access == "invited" else ["Anyone with the link can answer."]
    orders = list(filter(None, [orders_in_words(survey)]))
    link = [f"At the end everyone is shown the same link, {survey.return_link}."] if survey.return_link else []
    paragraphs = (
        *sample,
        *orders,
        *codes,
        *groups,
        *link,
        f"True answers are not collected. The operator of the server {claim_text('server')}",
    )
    yield ReportSection("Data", 2, paragraphs, Table("", ("Question", "Kind of answer", "Options", "Asked"), rows, texts=4))


def _rows(survey: Survey, cells: Callable[[Question], tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
    """Yields the row of each question: its text, then its cells; before a rating block a row with the text of the block alone."""
    for question in survey.questions:
        row = question.text, *cells(question)
        if question.stem:
            yield question.stem, *[""] * (len(row) - 1)
        yield row


def _options(question: Question) -> str:
    if question.options:
        return "; ".join(question.options)
    if question.kind.range:
        return " to ".join(map(plain, question.kind.range))
    return "; ".join(question.categories[: None if question.required else -1])


def _when(question: Question) -> str:
    required = "everyone" if question.required else "may be skipped"
    return f"{required}; only after {in_words(question.show_if, condition_in_words)}" if question.show_if else required


def _protection(survey: Survey) -> Iterator[ReportSection]:
    weakest, (one, record) = least_protected(survey.items), bounds_of(survey)
    crowd = guesses(survey)
    rows = tuple(_rows(survey, lambda question: (*_odds(question), f"{question.epsilon:.4g}")))
    words = odds_in_words(weakest)
    yield ReportSection(
        "How answers are protected",
        2,
        (
            "Each answer is randomized before it is sent (randomized response, local differential privacy), by the respondent's own "
            "device. The server receives and stores randomized records only.",
            *_other_ways(survey),
            f"Respondents read: {' '.join(protection_of(survey).lines)}",
            f"The least protected question is “{' '.join(weakest.label.split())}”: {words[0].lower()}{words[1:]}.",
            f"Someone who starts at 50:50 about a respondent can become at most {one}% sure from one answer, and {record}% sure from the "
            f"whole record: a guess is right for at most {crowd.record:,} of {crowd.of:,} people. Epsilon of a whole record: "
            f"{survey.epsilon:.4g}.",
        ),
        Table("", ("Question", "Recorded, if given", "Recorded, if not given", "Epsilon"), rows),
    )


def _other_ways(survey: Survey) -> Iterator[str]:
    """Yields the other ways to randomize, and the rule for multiple choice."""
    if survey.coins_can_answer:
        yield "People without JavaScript can answer with two real coins: they toss the coins, and send a mark that is already randomized."
    yield (
        "An organisation that has answers of its people, and a key of this survey, can also send records. It randomizes them itself, so "
        "the server does not receive the answers; the organisation has them. Results state how many such records there are."
    )
    if any(question.labels for question in survey.questions):
        yield "Where people may choose several options, each option is randomized by itself, and the table has the odds of one option."


def _odds(question: Question) -> tuple[str, str]:
    frequencies = people(question.channel)
    return f"{frequencies.own:,} of {frequencies.of:,}", f"{frequencies.other:,} of {frequencies.of:,}"


def _observers(survey: Survey) -> Iterator[ReportSection]:
    facts = facts_of(survey)
    everyone = claim_text("public", facts)
    rows = (
        ("Researchers", claim_text("asker", facts)),
        ("Operator of the server", claim_text("server", facts)),
        ("Thief of the database", claim_text("thief", facts)),
        ("Sender of the link", claim_text("sender", facts)),
        ("Network", claim_text("network", facts)),
        *([("Everyone", everyone)] if everyone else []),
    )
    cannot = (*claim_texts("limits", facts), *claim_texts("twice", facts))
    words = "The table has the words of respondents' pages."
    yield ReportSection(
        "Who could learn what",
        2,
        (
            words,
            f"Outside the protection: {' '.join(cannot)}",
        ),
        Table("", ("Who", "What"), rows, texts=2),
    )


def _retention(study: Study) -> tuple[str, ...]:
    facts, settings = facts_of(study.survey), study.settings
    claims = (*claim_texts("release", facts), *claim_texts("floor", facts), *claim_texts("groups", facts), *claim_texts("sample", facts))
    if settings is None:
        deletion = "A day of deletion can be set once the survey is published; none is set yet: [day]."
    elif settings.deleted_on:
        deletion = f"The records were deleted on {settings.deleted_on}."
    elif settings.delete_on:
        deletion = f"All records are deleted on {settings.delete_on}."
    else:
        deletion = "No day of deletion is set: records stay until the researchers delete them."
    close = [f"Answers are accepted until {settings.close_on}."] if settings and settings.close_on else []
    return (f"In the words of respondents' pages: {' '.join(claims)}", *close, deletion, "Backups: [how long the operator keeps them].")


def _consent(survey: Survey) -> tuple[str, ...]:
    facts = facts_of(survey)
    return (
        "Before the first question, the page on a device shows who asks and why, the odds, and what could be learned. Taking part starts "
        "with the button “Start”; “No thanks” beside it is as prominent, and nothing is ticked in advance.",
        *(text for topic in ("code", "send", "withdraw", "lost", "leave", "known") for text in claim_texts(topic, facts)),
    )


def _impact(survey: Survey) -> tuple[str, ...]:
    facts, (one, record) = facts_of(survey), bounds_of(survey)
    return (
        f"Processing: randomized answers to {len(survey.questions)} questions are collected, counted and analysed for the purpose above. "
        f"Controller: {survey.institution or '[controller]'}. Legal basis: [legal basis].",
        "Necessity and proportionality: shares and means of groups are estimated without collecting the answers of persons. Randomization "
        "on the respondent's side is data minimisation and data protection by design (Articles 5(1)(c) and 25 GDPR).",
        "A randomized record can still be personal data if its person is known otherwise, for example by an invitation or a small group. "
        "Treat records as personal data unless your data protection officer decides otherwise.",
        f"Risk to respondents: a guess about a person can become at most {one}% sure from one answer, {record}% from the whole record. "
        f"{' '.join((*claim_texts('floor', facts), *_limits(survey)))}",
        "Measures: published odds that the respondent's browser checks; a definition that cannot change after publication; "
        f"{_minimum(survey)}withdrawal with a code. Residual risk: [assessment].",
    )


def _limits(survey: Survey) -> Iterator[str]:
    """Yields what the system cannot do, without the limits of invitation codes for an open survey."""
    for claim in claims_about("cannot", facts_of(survey)):
        if survey.access == "invited" or claim.id not in ("cannot.minutes", "cannot.by_hand"):
            yield claim.text


def _minimum(survey: Survey) -> str:
    return f"no figure from fewer than {survey.batch:,} records; " if survey.batch > 1 else ""


def _preregistration(study: Study) -> Iterator[ReportSection]:
    plan, survey = study.plan, study.survey
    rows = tuple((row.question, f"{row.respondents:,}", f"± {points(row.half_width)}", _mean(row.mean_half_width)) for row in plan.rows)
    before = "No estimate from people's own records is shown before the survey closes, so none can be used for stopping."
    daily = "Estimates from people's own records change at most once a day while people answer. The stopping rule is fixed in advance."
    conditional = {
        "Each person is asked some of the questions only, so the number of records differs by question.": survey.ask is not None,
        "Groups are compared by the difference of their shares, with intervals for independent samples.": bool(survey.groups),
        before: survey.release == "close",
        daily: survey.release == "daily",
    }
    paragraphs = (
        f"We plan for n = {plan.n:,} records. The share of each answer is estimated by inverting the known chances of the coins. The "
        "estimate is unbiased and is not truncated at 0% or 100%.",
        f"Intervals have a confidence of {100 * plan.confidence:g}%. For shares they follow Feldman and Cousins (Phys. Rev. D 57, 1998), "
        "for means the same method for a normal error. The respondents are taken as a random sample of the population.",
        "The table has the expected half-width of the intervals: of a share in percentage points, where it is widest, and of a mean in the "
        "unit of its scores.",
        *(sentence for sentence, applies in conditional.items() if applies),
        "Primary question: [question]. Hypotheses: [hypotheses]. Stopping rule: [number of records, or day].",
    )
    columns = ("Question", "Records", "Share, points", "Mean")
    yield ReportSection("Plan of analysis, for a preregistration", 2, paragraphs, Table("", columns, rows))


def _mean(half_width: float | None) -> str:
    return "" if half_width is None else f"± {half_width:.3g}"
