"""What a bundle says of itself: how the data came about, what they can and cannot tell, how to cite them, and what is in which file."""

from __future__ import annotations

from collections.abc import Mapping

from deniable.bundle.codebook import plain
from deniable.bundle.counted import Counted
from deniable.bundle.variables import MODE_LABELS
from deniable.privacy import published
from deniable.privacy.posterior import least_protected, odds_in_words, posterior_bound
from deniable.survey import Survey

LICENCES = {
    "cc-by-4.0": "The rows, the codebook and the figures are licensed under Creative Commons Attribution 4.0 International (CC BY 4.0): "
    "https://creativecommons.org/licenses/by/4.0/",
    "cc0-1.0": "The rows, the codebook and the figures are in the public domain as far as the law allows (CC0 1.0): "
    "https://creativecommons.org/publicdomain/zero/1.0/",
    "none": "No licence is given: ask the researchers before you use the rows, the codebook or the figures.",
}
"""What a researcher can choose; the first is proposed."""

PUBLISHABLE = (
    "The rows may be published as they are: each answer was randomized before it was sent, so a row says no more about a person to the "
    "whole world than it says to the researchers."
)


def odds(survey: Survey) -> str:
    """How much a row can tell about a person, in people and in percent."""
    weakest, bound = least_protected(survey.items), posterior_bound(survey.odds)
    told = odds_in_words(weakest)
    return (
        f"What the coins hide least is “{' '.join(weakest.text.split())}”: {told[0].lower()}{told[1:]}. "
        f"Whoever can only guess 50:50 whether something about a respondent is true can become, by seeing the whole record, {bound}% "
        f"sure of it at most. In the terms of the trade, the survey is epsilon-locally differentially private with "
        f"epsilon = {survey.epsilon:.6f} for a whole record."
    )


def observers(counted: Counted) -> str:
    """How much less those learn of one person who see no more than what is published; empty where there is a question without reports."""
    survey, fields = counted.survey, counted.survey.record.fields
    tallies = [tally for tally in counted.tallies.values() if tally.n]
    sizes = [tally.n if place.mask is None else int(tally.ones[place.mask]) for tally in tallies for place in fields]
    return published(survey, min(sizes)).words if min(sizes, default=0) else ""


def _windows(survey: Survey) -> str:
    if all(item.shared == item.categories for item in survey.items):
        return ""
    return (
        ", and of a number by one of a row of outputs, likelier one in a window around it than elsewhere, whose values are so chosen that "
        "their mean is that of the numbers"
    )


def method(counted: Counted) -> str:
    """A paragraph for the section on methods of an article."""
    survey, n = counted.survey, counted.n
    asked = (
        ""
        if survey.ask is None
        else f" Each device drew at random which {survey.ask} of {len(survey.blocks)} blocks of questions it asked."
    )
    return (
        f"{n:,} records were collected with deniable, a survey system with local differential privacy. Each answer was randomized before "
        "it was sent, by Subset Selection (Ye and Barg, IEEE Trans. Inf. Theory 64, 2018), which for two options is Warner's randomized "
        f"response (J. Am. Stat. Assoc. 60, 1965){_windows(survey)}; one record gives away at most epsilon = "
        f"{survey.epsilon:.4g}.{asked}{_by_others(counted)} Shares were estimated by inverting the known chances, which is unbiased, and "
        "were never cut off at 0% or 100%. Intervals have a confidence of 95% for the population of which the respondents are a random "
        "sample: for shares by Feldman and Cousins (Phys. Rev. D 57, 1998), exact up to 10,000 records, or 200,000 where answers are "
        "hardly hidden, and by the likelihood ratio above; for means by the same method for a normal error and Student's t, or Fieller's "
        "where some gave no answer. Adjusted shares lie between 0% and 100%, and add to 100%."
    )


def _by_others(counted: Counted) -> str:
    """Whose devices tossed no coins: a sentence for each, where there are such records."""
    told = {
        "organisation": " of them were randomized by an organisation that had its people's answers.",
        "by_hand": " were randomized by people themselves, who tossed two real coins; they are in no figures but their own.",
    }
    numbers = {mode: sum(n for part, n in counted.sizes.items() if part.mode == mode) for mode in told}
    return "".join(f" {n:,}{told[mode]}" for mode, n in numbers.items() if n)


def limits(counted: Counted) -> tuple[str, ...]:
    """Returns what the data cannot tell, and what would be a mistake, a sentence or two each."""
    survey = counted.survey
    return (
        *counted.omitted,
        "A row is not what a person answered. Counting rows as if they were answers gives wrong figures: estimate, as the two scripts do.",
        "Chance can take an estimate below 0% or above 100%. That is no mistake, and cutting it off would bias every average made of it.",
        "Intervals are wider than those of a plain survey of the same size: that is the price of the privacy.",
        "The intervals take the respondents for a random sample. What is wrong with who was asked, or with what they said, coins do not "
        "mend.",
        "Records that somebody made up cannot be told one by one; `warning` in estimates.csv says where the counts do not look like "
        "honest coins.",
        *(
            (
                "Numbers were rounded at random to the levels of a grid: their mean is right, but the share of a level is not that of "
                "the people at it.",
            )
            if any(item.levelled for item in survey.items)
            else ()
        ),
        *(
            ("Groups are public: a row says openly which group its person is in, and who belongs to a small group may be known.",)
            if survey.groups
            else ()
        ),
        "Whoever takes part in several surveys gives away the sum of their epsilons.",
    )


def citation(counted: Counted) -> str:
    """How to cite the data; names and year are for the researchers to fill in."""
    survey = counted.survey
    title = " ".join(survey.title.split())
    return (
        f"[Names] ([year]). {title}: {counted.n:,} perturbed records with local differential privacy (epsilon = {survey.epsilon:.4g}) "
        f"[Data set]. Survey {survey.id}, definition SHA-256 {survey.digest}."
    )


def sizes(counted: Counted) -> list[tuple[str, str, int]]:
    """(group, by whom, how many records) of each part that has some."""
    unlabelled = "groups with too few records to be told apart" if counted.survey.groups else "all"
    return [(part.group or unlabelled, MODE_LABELS[part.mode], n) for part, n in counted.sizes.items()]


def readme(counted: Counted, licence: str, files: Mapping[str, str], left_out: Mapping[str, str]) -> str:
    """files: what each file is; left_out: why others are missing."""
    listed = "\n".join(f"- `{name}`: {what}" for name, what in files.items())
    missing = "\n".join(f"- `{name}` is left out: {why}" for name, why in left_out.items())
    parts = [
        f"# {plain(counted.survey.title)}",
        f"{counted.n:,} perturbed records of the survey `{counted.survey.id}`, and all that is needed to use them. {PUBLISHABLE}",
        f"## What is here\n\n{listed}" + (f"\n\n{missing}" if missing else ""),
        "## Every figure again\n\n`python reproduce.py` (with numpy and pandas) or `Rscript --vanilla reproduce.R` (with R alone) "
        "computes each figure of `estimates.csv` from `rows.csv` and `codebook.csv`, and says whether all agree. Neither knows deniable.",
        f"## How well answers are hidden\n\n{plain(odds(counted.survey))}" + (f"\n\n{plain(less)}" if (less := observers(counted)) else ""),
        "## What to keep in mind\n\n" + "\n".join(f"- {one}" for one in limits(counted)),
        f"## How to cite\n\n{plain(citation(counted))}",
        f"## Licence\n\n{LICENCES[licence]}",
        "The rows of each group, and of each way of randomizing, stand in the order of their own numbers: the first rows are no sample "
        "of the rest. The same records always give the same files, byte for byte.",
    ]
    return "\n\n".join(parts) + "\n"


def datasheet(counted: Counted, licence: str) -> str:
    """The questions of T. Gebru et al., "Datasheets for Datasets" (Commun. ACM 64, 2021), as far as the data themselves answer them."""
    survey = counted.survey
    collected = "\n".join(f"- {plain(group)}, {who}: {n:,}" for group, who, n in sizes(counted)) or "- none yet"
    whom = [plain(text) for text in (survey.contact, survey.ethics and f"Ethics approval: {survey.ethics}") if text]
    parts = [
        f"# Datasheet: {plain(survey.title)}",
        f"## Why were the data collected, and by whom?\n\n{plain(survey.about)}\n\n" + "\n\n".join(whom or ["No contact is given."]),
        f"## What is a row?\n\nOne person's randomized record of {len(survey.questions)} questions. There are "
        f"{counted.n:,}:\n\n{collected}",
        "## What is not in the data?\n\nNo true answer, name, address, time, device, code or order. Only the group, where the survey has "
        "groups, and who tossed the coins.",
        f"## How were they collected?\n\n{plain(method(counted))}",
        f"## Were people told, and did they agree?\n\n{_told(counted)}",
        f"## How well are answers hidden?\n\n{plain(odds(survey))}",
        "## What should they not be used for?\n\n" + "\n".join(f"- {one}" for one in limits(counted)),
        f"## How are they shared?\n\n{PUBLISHABLE} {LICENCES[licence]}",
        "## Can they change?\n\nWhile the survey is open, records are added in batches, and a record that its person withdraws leaves "
        "with the next batch. The definition of a published survey never changes.",
    ]
    return "\n\n".join(parts) + "\n"


def _told(counted: Counted) -> str:
    own = "Whoever answers on a device of their own sees first what is asked, how well each answer is hidden, and whom to ask."
    others = (
        " What an organisation told its people is not known here." if any(part.mode == "organisation" for part in counted.sizes) else ""
    )
    batch = counted.survey.batch
    batches = (
        f" Records are counted {batch:,} or more at a time, so that no figure shows what one person sent, or when." if batch > 1 else ""
    )
    return own + others + batches
