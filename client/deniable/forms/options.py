"""Options of questions: mapped from the options of a foreign form."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from deniable.forms.conditions import digits
from deniable.forms.foreign import LIMITS_LEFT_OUT, ForeignOption, ForeignQuestion, text_in
from deniable.forms.languages import tag_of
from deniable.forms.texts import distinct_labels, one_line, references_in
from deniable.survey.types.base import MAX_OPTION_LENGTH, number
from deniable.survey.undeclared import means_none

OTHER = "other"
"""The name of the option that a form adds, in its conditions."""
_OTHER = {
    "am": "ሌላ",
    "ar": "أخرى",
    "bn": "অন্যান্য",
    "cs": "Jiné",
    "de": "Anderes",
    "en": "Other",
    "es": "Otro",
    "fa": "سایر",
    "fr": "Autre",
    "hi": "अन्य",
    "ht": "Lòt",
    "id": "Lainnya",
    "it": "Altro",
    "ja": "その他",
    "ko": "기타",
    "ne": "अन्य",
    "nl": "Anders",
    "pl": "Inne",
    "ps": "نور",
    "pt": "Outro",
    "ro": "Altul",
    "ru": "Другое",
    "so": "Kale",
    "sw": "Nyingine",
    "th": "อื่น ๆ",
    "tr": "Diğer",
    "uk": "Інше",
    "ur": "دیگر",
    "vi": "Khác",
    "zh": "其他",
}


@dataclass
class MappedOptions:
    """The options of a question in a survey file.

    Attributes:
        keys: The keys of the question's type.
        by_name: Its options by their names in the form.
        offered: The options in their order, without repeated ones, for translations.
        notes: A note for each change.
    """

    keys: dict[str, Any]
    by_name: dict[str, tuple[str, ...]]
    offered: list[ForeignOption] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def map_options(question: ForeignQuestion, language: str, wants_other: bool = True) -> MappedOptions | str:
    """Returns the options of a question, or the reason why they cannot be offered.

    Args:
        question: The question.
        language: The language of the form's own texts.
        wants_other: Whether the option “Other” is added where the form adds it.
    """
    offered = _distinct(question.options, language)
    if question.has_other and wants_other:
        offered.append(ForeignOption(OTHER, _other_texts(question, language)))
    own_labels = [one_line(text_in(option.labels, language)) for option in offered]
    if own_labels and all(_is_reference(label) for label in own_labels):
        return f"its options are answers to other questions, such as {own_labels[0]}: write options"
    names = [option.name for option in offered]
    full_labels = [label or one_line(name) for label, name in zip(own_labels, names, strict=True)]
    labels = distinct_labels(full_labels, names)
    if len(labels) < 2:
        return "it offers only one option"
    by_name: dict[str, tuple[str, ...]] = {}
    for name, label in zip(names, labels, strict=True):
        by_name[name] = (*by_name.get(name, ()), label)
    notes = _notes(question, own_labels, full_labels, wants_other)
    return _typed(question, MappedOptions({}, by_name, offered, notes), labels, wants_other)


def _typed(question: ForeignQuestion, options: MappedOptions, labels: list[str], wants_other: bool) -> MappedOptions:
    """Adds the keys of the question's type."""
    if question.is_plain and sorted(label.lower() for label in labels) == ["no", "yes"]:
        options.by_name = {name: tuple(label.lower() for label in texts) for name, texts in options.by_name.items()}
        options.keys, options.offered = {"type": "yes_no"}, []
        return options
    exclusive = [label for option, label in zip(options.offered, labels, strict=True) if option.is_exclusive]
    options.keys = {"type": question.kind, "options": labels, **_exclusive_keys(exclusive)}
    limits = _limit_keys(question, len(labels) - len(exclusive))
    if limits is None:
        options.notes.append(LIMITS_LEFT_OUT)
    options.keys |= limits or {}
    if question.is_scale:
        options.keys |= _scores([option.name for option in options.offered])
    if question.is_random and not question.is_scale:
        options.keys["order"] = "random"
    if question.has_other and wants_other:
        options.keys["other"] = labels[-1]
    return options


def _notes(question: ForeignQuestion, own_labels: Sequence[str], full_labels: Sequence[str], wants_other: bool) -> list[str]:
    references = list(dict.fromkeys(name for label in full_labels for name in references_in(label)))
    losses = {
        "its options have a fixed order": question.is_random and question.is_scale,
        "its option “Other” has no text": question.has_other and wants_other,
        "there is no option “Other”": question.has_other and not wants_other,
        "options without a label show their names": not all(own_labels),
        "options with the same label end with their names": len(set(full_labels)) < len(full_labels),
        f"options are cut to {MAX_OPTION_LENGTH} characters": any(len(label) > MAX_OPTION_LENGTH for label in full_labels),
        f"its options show {', '.join(references)}, which a survey cannot: rewrite them": bool(references),
    }
    return [note for note, applies in losses.items() if applies]


def _distinct(options: Sequence[ForeignOption], language: str) -> list[ForeignOption]:
    """Returns the options without those that repeat a name and a label, as lists do that a form filters."""
    by_key: dict[tuple[str, str], ForeignOption] = {}
    for option in options:
        by_key.setdefault((option.name, one_line(text_in(option.labels, language))), option)
    return list(by_key.values())


def _other_texts(question: ForeignQuestion, language: str) -> dict[str, str]:
    """Returns “Other” in the languages of a question."""
    languages = {language, *(name for option in question.options for name in option.labels)}
    return {name: _OTHER[tag_of(name) or "en"] for name in languages if (tag_of(name) or "en") in _OTHER} | (
        {} if (tag_of(language) or "en") in _OTHER else {language: "Other"}
    )


def _is_reference(label: str) -> bool:
    return bool(re.fullmatch(r"(\$\{[^}]*\}\s*)+", label))


def _exclusive_keys(labels: Sequence[str]) -> dict[str, Any]:
    """Returns the keys of exclusive options. The first that means "none" replaces the page's own option for it."""
    none = next((label for label in labels if means_none(label)), None)
    others = [label for label in labels if label != none]
    return {**({"exclusive": others} if others else {}), **({"none": none} if none else {})}


def _limit_keys(question: ForeignQuestion, together: int) -> dict[str, Any] | None:
    """Returns the keys of the limits of a selection, without those that hold of every answer; None if no answer meets them all.

    Args:
        question: The question.
        together: The number of options that are not exclusive.
    """
    most = together if question.at_most is None else min(question.at_most, together)
    if most < 1 or question.at_least > most or question.at_least == together:
        return None
    return {
        **({"at_least": str(question.at_least)} if question.at_least else {}),
        **({"at_most": str(most)} if most < together else {}),
    }


def _scores(names: Sequence[str]) -> dict[str, Any]:
    """Returns the scores of a scale, if the form's names of its options are numbers in order other than 1, 2, 3."""
    scores = [number(name) for name in names]
    values = [score for score in scores if score is not None]
    if len(values) < len(scores) or values == list(range(1, len(values) + 1)):
        return {}
    return {"scores": [digits(value) for value in values]} if all(a < b for a, b in pairwise(values)) else {}
