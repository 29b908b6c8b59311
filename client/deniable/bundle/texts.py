"""Documentation in a bundle: README, datasheet, methods paragraph, limits, citation and licence."""

from __future__ import annotations

from collections.abc import Mapping

from deniable.bundle.codebook import escape_markdown
from deniable.bundle.counted_records import CountedRecords
from deniable.bundle.variables import MODE_LABELS
from deniable.privacy import published
from deniable.privacy.claims import claim_text, claim_texts, facts_of
from deniable.privacy.posterior import least_protected, odds_in_words, posterior_bound
from deniable.survey import Survey

LICENCES = {
    "cc-by-4.0": "The rows, the codebook and the figures are licensed under Creative Commons Attribution 4.0 International (CC BY 4.0): "
    "https://creativecommons.org/licenses/by/4.0/",
    "cc0-1.0": "The rows, the codebook and the figures are in the public domain as far as the law allows (CC0 1.0): "
    "https://creativecommons.org/publicdomain/zero/1.0/",
    "none": "No licence is given: ask the researchers before you use the rows, the codebook or the figures.",
}
"""The licences that a researcher can choose; the first is the default."""


def publishable(survey: Survey) -> str:
    """Returns whether the rows may be published, by how much a row reveals."""
    return claim_text("publish", facts_of(survey))


def odds(survey: Survey) -> str:
    """Returns how much a row can reveal about a person, in people and in percent."""
    weakest, bound = least_protected(survey.items), posterior_bound(survey.odds)
    words = odds_in_words(weakest)
    return (
        f"The least protected question is “{' '.join(weakest.label.split())}”: {words[0].lower()}{words[1:]}. Someone who starts at 50:50 "
        f"about a respondent can become at most {bound}% sure from the whole record. In technical terms, the survey is epsilon-locally "
        f"differentially private with epsilon = {survey.epsilon:.6f} for a whole record."
    )


def observers(counted: CountedRecords) -> str:
    """Returns how much less the published figures alone reveal about a person; empty if a question has no reports."""
    survey, fields = counted.survey, counted.survey.record.fields
    tallies = [tally for tally in counted.tallies.values() if tally.n]
    sizes = [tally.n if field.mask is None else int(tally.ones[field.mask]) for tally in tallies for field in fields]
    return published(survey, min(sizes)).words if min(sizes, default=0) else ""


def method(counted: CountedRecords) -> str:
    """Returns a paragraph for the methods section of an article."""
    survey, n = counted.survey, counted.n
    sample = "" if survey.ask is None else f" Each device asked {survey.ask} of {len(survey.blocks)} blocks of questions, drawn at random."
    return (
        f"{n:,} records were collected with deniable, a survey system with local differential privacy. Each answer was randomized before "
        "it was sent, by Subset Selection (Ye and Barg, IEEE Trans. Inf. Theory 64, 2018), which for two options is Warner's randomized "
        f"response (J. Am. Stat. Assoc. 60, 1965).{_windows(survey)} One record reveals at most epsilon = {survey.epsilon:.4g}."
        f"{sample}{_other_modes(counted)} Shares were estimated by inverting the known chances, which is unbiased; they were never "
        "truncated at 0% or 100%. Intervals have a confidence of 95% for a population if the respondents are a random sample of it. "
        "Intervals of shares follow Feldman and Cousins (Phys. Rev. D 57, 1998): exactly up to 10,000 records, or 200,000 for answers "
        "that are hardly hidden, and by the likelihood ratio above. Intervals of means follow the same method for a normal error, with "
        "Student's t; if some people gave no answer, they are Fieller's. Adjusted shares are between 0% and 100%, and add to 100%."
    )


def _windows(survey: Survey) -> str:
    if all(item.shared == item.categories for item in survey.items):
        return ""
    return (
        " A number was randomized to one of a row of outputs, with a higher chance in a window around the number; each output has a score, "
        "and the scores have the same mean as the numbers."
    )


def _other_modes(counted: CountedRecords) -> str:
    """Returns a sentence for each way of randomizing, other than by the person's device, that has records."""
    sentences = {
        "organisation": "were randomized by an organisation that had the answers.",
        "by_hand": "were randomized by the people themselves, who tossed two real coins; these records have separate figures.",
    }
    numbers = {mode: sum(n for part, n in counted.sizes.items() if part.mode == mode) for mode in sentences}
    return "".join(f" Of these records, {n:,} {sentences[mode]}" for mode, n in numbers.items() if n)


def limits(counted: CountedRecords) -> tuple[str, ...]:
    """Returns what the data cannot show and which mistakes to avoid, a sentence or two each."""
    survey = counted.survey
    optional = {
        "Numbers were rounded at random to the levels of a grid: their mean is unbiased, but the share of a level is not the share of "
        "people at it.": any(item.levelled for item in survey.items),
    }
    return (
        *counted.omitted,
        "A row is not what a person answered. If you count rows as answers, the figures are wrong: estimate, as the two scripts do.",
        "Chance can move an estimate below 0% or above 100%. This is not an error: truncated estimates would bias every average of them.",
        "Intervals are wider than in a plain survey of the same size: this is the price of privacy.",
        "The intervals assume that the respondents are a random sample. Randomization corrects neither a poor sample nor false answers.",
        "Single invented records cannot be recognised; `warning` in estimates.csv says where the counts do not look like honest coins.",
        *(sentence for sentence, applies in optional.items() if applies),
        *claim_texts("rows", facts_of(survey)),
    )


def citation(counted: CountedRecords) -> str:
    """Returns a citation of the data; the researchers fill in the names and the year."""
    survey = counted.survey
    title = " ".join(survey.title.split())
    return (
        f"[Names] ([year]). {title}: {counted.n:,} perturbed records with local differential privacy (epsilon = {survey.epsilon:.4g}) "
        f"[Data set]. Survey {survey.id}, definition SHA-256 {survey.digest}."
    )


def _sizes(counted: CountedRecords) -> list[tuple[str, str, int]]:
    """Returns the group, who randomized, and the number of records of each part that has some."""
    unlabelled = "groups with too few records to be shown" if counted.survey.groups else "all"
    return [(part.group or unlabelled, MODE_LABELS[part.mode], n) for part, n in counted.sizes.items()]


def readme(counted: CountedRecords, licence: str, files: Mapping[str, str], omitted_files: Mapping[str, str]) -> str:
    """Returns the README.

    Args:
        counted: The records.
        licence: One of `LICENCES`.
        files: The description of each file.
        omitted_files: The reason why each other file is missing.
    """
    contents = "\n".join(f"- `{name}`: {description}" for name, description in files.items())
    missing = "\n".join(f"- `{name}` is left out: {reason}" for name, reason in omitted_files.items())
    privacy = "\n\n".join(escape_markdown(text) for text in (odds(counted.survey), observers(counted)) if text)
    parts = [
        f"# {escape_markdown(counted.survey.title)}",
        f"{counted.n:,} perturbed records of the survey `{counted.survey.id}`, with everything that you need to use them. "
        f"{publishable(counted.survey)}",
        f"## Files\n\n{contents}" + (f"\n\n{missing}" if missing else ""),
        "## Recompute every figure\n\n`python reproduce.py` (needs numpy and pandas) or `Rscript --vanilla reproduce.R` (needs R only) "
        "computes each figure of `estimates.csv` from `rows.csv` and `codebook.csv`, and reports whether all agree. Neither uses deniable.",
        f"## How well answers are hidden\n\n{privacy}",
        "## What to keep in mind\n\n" + "\n".join(f"- {sentence}" for sentence in limits(counted)),
        f"## How to cite\n\n{escape_markdown(citation(counted))}",
        f"## Licence\n\n{LICENCES[licence]}",
        "The rows of each group, and of each way of randomizing, are sorted by their values: the first rows are no random sample. The same "
        "records always give the same files, byte for byte.",
    ]
    return "\n\n".join(parts) + "\n"


def datasheet(counted: CountedRecords, licence: str) -> str:
    """Returns a datasheet that answers questions of T. Gebru et al., "Datasheets for Datasets" (Commun. ACM 64, 2021)."""
    survey = counted.survey
    collected = "\n".join(f"- {escape_markdown(group)}, {mode}: {n:,}" for group, mode, n in _sizes(counted)) or "- none yet"
    contact = [escape_markdown(text) for text in (survey.contact, survey.ethics and f"Ethics approval: {survey.ethics}") if text]
    parts = [
        f"# Datasheet: {escape_markdown(survey.title)}",
        f"## Why were the data collected, and who collected them?\n\n{escape_markdown(survey.about)}\n\n"
        + "\n\n".join(contact or ["No contact is given."]),
        f"## What is a row?\n\nOne person's randomized record of {len(survey.questions)} questions. There are "
        f"{counted.n:,}:\n\n{collected}",
        "## What is not in the data?\n\nNo true answer, name, address, time, device, code or order. A row shows only who tossed its coins, "
        "and the person's group if the survey has groups.",
        f"## How were they collected?\n\n{escape_markdown(method(counted))}",
        f"## Were people informed, and did they agree?\n\n{_consent(counted)}",
        f"## How well are answers hidden?\n\n{escape_markdown(odds(survey))}",
        "## What should they not be used for?\n\n" + "\n".join(f"- {sentence}" for sentence in limits(counted)),
        f"## How are they shared?\n\n{publishable(survey)} {LICENCES[licence]}",
        "## Can they change?\n\nRecords of people are added as the survey's release says, and withdrawn ones leave. "
        f"{claim_text('leave')} The definition of a published survey never changes.",
    ]
    return "\n\n".join(parts) + "\n"


def _consent(counted: CountedRecords) -> str:
    own = "People who answer on their own device first see the questions, how well each answer is hidden, and a contact."
    organisations = (
        " The information that an organisation gave its people is not known here."
        if any(part.mode == "organisation" for part in counted.sizes)
        else ""
    )
    facts = facts_of(counted.survey)
    return " ".join([own + organisations, *(text for topic in ("release", "floor") for text in claim_texts(topic, facts))])
