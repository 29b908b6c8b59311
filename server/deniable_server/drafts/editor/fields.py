"""Conversion between a document and form fields, in both directions and without loss.

The field `rest` holds, as JSON, all keys and values that have no field. An unchanged form gives the same document again. Fields are
texts, as browsers send them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from deniable.survey.translation import TEXTS
from deniable_server.drafts.editor.conditions import BLANK, condition_of, rows_of
from deniable_server.drafts.editor.known_keys import any_question_keys, has_items, question_keys, survey_keys
from deniable_server.drafts.editor.rating_items import format_item_words, item_ids, new_item_ids, parse_item_words
from deniable_server.drafts.editor.shapes import (
    Fields,
    Shape,
    format_bins,
    format_items,
    format_line,
    format_lines,
    format_numbers,
    format_text,
    parse_bins,
    parse_items,
    parse_lines,
    parse_numbers,
)

LINE = ("id", "epsilon", "ask", "batch", "language", "return_link", "logo")
DEFAULTS = {"access": "open", "layout": "list", "release": "", "results": "private", "order": "", "section_order": ""}
"""The choices of surveys without these keys."""
FLAGS = ("accept_high_epsilon", "accept_small_batches")
QUESTION_LINE = ("id", "type", "epsilon", "weight", "low", "high", "levels", "none", "at_least", "at_most")
SECTION = ("title", "note")
LISTS = ("options", "exclusive", "scores", "bins", "items")
ENDS = ("low", "high", "levels", "none", "at_least", "at_most")
WORDS = ("text", "options", "help", "section")


def is_editable(value: Any) -> bool:
    """Returns whether a document has the structure of a survey, so that `fields_of` can convert it."""
    questions = value.get("questions", []) if isinstance(value, Mapping) else None
    return isinstance(questions, list) and all(isinstance(question, Mapping) for question in questions)


def fields_of(value: Mapping[str, Any]) -> Fields:
    """Returns the fields of a document that `is_editable` accepts."""
    rest = dict(value)
    shapes: dict[str, Shape] = dict.fromkeys(LINE, format_line) | dict.fromkeys(TEXTS, format_text)
    fields: Fields = _extract_texts(rest, shapes | {"groups": format_lines})
    fields |= {key: _extract_choice(rest, key, default) for key, default in DEFAULTS.items()}
    fields |= {key: _extract_flag(rest, key, "true") for key in FLAGS}
    questions = rest.pop("questions", [])
    translations = _extract_translations(rest, questions)
    fields["languages"] = [{"tag": tag, **{key: texts.get(key, "") for key in TEXTS}} for tag, texts in translations.items()]
    fields["questions"] = [_question_fields(question, list(translations.values())) for question in questions]
    if rest.get("deniable") == "1":
        del rest["deniable"]
    return fields | {"rest": json.dumps(rest) if rest else ""}


def value_of(fields: Fields) -> dict[str, Any]:
    """Returns the document of the fields. Raises ValueError if a `rest` is not a JSON object."""
    rest = _rest(fields)
    value: dict[str, Any] = {"deniable": "1", **_set(fields, (*LINE[:1], *TEXTS[:2]))}
    value |= _set(fields, TEXTS[2:]) | _set(fields, LINE[1:])
    value |= {key: fields[key] for key, default in DEFAULTS.items() if fields[key] not in ("", default)}
    value |= {"groups": groups} if (groups := parse_lines(fields["groups"])) else {}
    value |= {key: "true" for key in FLAGS if fields[key]}
    if translations := dict(_translation_values(fields)):
        others = rest.get("translations")
        value["translations"] = {**others, **translations} if isinstance(others, dict) else translations
    new_ids, blocks = _new_ids(fields["questions"]), _blocks(fields["questions"])
    questions = [_question_value(question, new_ids, blocks) for question in fields["questions"]]
    return {**rest, **value, **({"questions": questions} if questions else {})}


# --- from a document ----------------------------------------------------------------------------------------------------


def _question_fields(value: Mapping[str, Any], translations: Sequence[Mapping[str, Any]]) -> Fields:
    rest = dict(value)
    shapes: dict[str, Shape] = dict.fromkeys(QUESTION_LINE, format_line) | dict.fromkeys(("text", "help"), format_text)
    shapes |= {"options": format_lines, "exclusive": format_lines, "scores": format_numbers, "bins": format_bins}
    if "items" in any_question_keys():
        shapes["items"] = format_items
    fields = {"items": "", **_extract_texts(rest, shapes)}
    fields["order"] = _extract_choice(rest, "order", "")
    fields["other"] = "other" in any_question_keys() and _extract_flag(rest, "other", "true")
    fields["optional"] = _extract_flag(rest, "required", "false")
    if (condition := rows_of(rest.get("show_if"))) is not None:
        del rest["show_if"]
    fields["joined"], fields["conditions"] = condition or ("all", [dict(BLANK)])
    fields |= _extract_section(rest)
    ids, words = item_ids(fields["items"]), [texts.get("questions", {}) for texts in translations]
    fields["words"] = [words_of(own.get(fields["id"], {}), format_item_words(ids, own)) for own in words]
    return fields | {"was": fields["id"], "was_items": " ".join(ids), "rest": json.dumps(rest) if rest else ""}


def words_of(texts: Mapping[str, Any], items: str = "") -> Fields:
    """Returns the fields of a question's texts in another language; `items` are the lines of a block's items."""
    return {
        "items": items,
        "text": texts.get("text", ""),
        "help": texts.get("help", ""),
        "options": format_lines(texts.get("options")) or "",
        **_section_fields(texts.get("section", {})),
    }


def _section_fields(value: Mapping[str, Any]) -> Fields:
    return {f"section_{key}": value.get(key, "") for key in SECTION}


def _extract_section(rest: dict[str, Any]) -> Fields:
    """Removes a section from `rest` if there is a field for each of its keys, and returns its fields."""
    section = rest.get("section")
    texts = {key: value for key, value in section.items() if key != "fixed"} if isinstance(section, Mapping) else {}
    is_fixed = isinstance(section, Mapping) and section.get("fixed") == "true"
    if not _is_section(texts) or (isinstance(section, Mapping) and "fixed" in section and not is_fixed):
        return {**_section_fields({}), "section_fixed": False}
    del rest["section"]
    return {**_section_fields(texts), "section_fixed": is_fixed}


def _is_section(value: Any) -> bool:
    """Returns whether the texts of a section have a field for each of them."""
    if not isinstance(value, Mapping) or not value or not set(value) <= set(SECTION):
        return False
    return all(format_text(text) is not None for text in value.values())


def _extract_texts(rest: dict[str, Any], shapes: Mapping[str, Shape]) -> Fields:
    """Removes the values with a known shape from `rest`, and returns their texts; an empty text for the other keys."""
    texts = {key: shape(rest.get(key)) for key, shape in shapes.items()}
    for key, text in texts.items():
        if text is not None:
            del rest[key]
    return {key: text or "" for key, text in texts.items()}


def _extract_choice(rest: dict[str, Any], key: str, default: str) -> str:
    """Removes a choice from `rest`, and returns it. A default that the document spells out stays, since `value_of` leaves it out."""
    choice = rest.get(key)
    if key not in survey_keys() | any_question_keys():
        return default
    return default if choice in (None, default) or format_line(choice) is None else str(rest.pop(key))


def _extract_flag(rest: dict[str, Any], key: str, when: str) -> bool:
    """Removes a key from `rest` if its value is `when`, and returns whether it was."""
    return rest.get(key) == when and rest.pop(key) == when


def _extract_translations(rest: dict[str, Any], questions: Sequence[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """Removes from `rest` the languages with fields for all of their texts, and returns these."""
    translations = rest.get("translations")
    ids = [question.get("id") for question in questions]
    items = [name for question in questions for name in item_ids(format_items(question.get("items")) or "")]
    names = [*ids, *items]
    if not isinstance(translations, Mapping) or len({name for name in names if isinstance(name, str)}) < len(names):
        return {}
    editable = {tag: texts for tag, texts in translations.items() if format_line(tag) and _has_fields(texts, ids, items)}
    others = {tag: texts for tag, texts in translations.items() if tag not in editable}
    rest |= {"translations": others}
    if not others and editable:
        del rest["translations"]
    return editable


def _has_fields(texts: Any, ids: Sequence[Any], items: Sequence[str]) -> bool:
    """Returns whether all texts of a language have fields, by the ids of the questions and of the items of rating blocks."""
    if not isinstance(texts, Mapping) or not set(texts) <= {*TEXTS, "questions"}:
        return False
    questions = texts.get("questions", {})
    if not isinstance(questions, Mapping) or not set(questions) <= {*ids, *items} or any(format_line(name) is None for name in questions):
        return False
    plain = [texts[key] for key in TEXTS if key in texts]
    for name, words in questions.items():
        if name in items and not _is_item_text(words):
            return False
        if not isinstance(words, Mapping) or not set(words) <= set(WORDS):
            return False
        if "options" in words and format_lines(words["options"]) is None:
            return False
        if "section" in words and not _is_section(words["section"]):
            return False
        plain += [words[key] for key in ("text", "help") if key in words]
    return all(format_text(text) is not None for text in plain)


def _is_item_text(words: Any) -> bool:
    """Returns whether translated texts of an item fit in its line."""
    return isinstance(words, Mapping) and set(words) == {"text"} and format_lines([words["text"]]) is not None


# --- back to a document -------------------------------------------------------------------------------------------------


def _question_value(fields: Fields, new_ids: Mapping[str, str], blocks: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    keys = question_keys().get(fields["type"], frozenset({*LISTS, *ENDS, "order", "other"}))
    value: dict[str, Any] = _set(fields, ("id", "text", "help", "type")) | _set_section(fields)
    value |= _set({key: fields[key] for key in ENDS if key in keys}, ENDS)
    lists = {
        **{key: parse_lines(fields[key]) for key in ("options", "exclusive")},
        "scores": parse_numbers(fields["scores"]),
        "bins": parse_bins(fields["bins"]),
        "items": parse_items(fields["items"]),
    }
    value |= {key: entries for key, entries in lists.items() if entries and key in keys}
    value |= {"order": fields["order"]} if fields["order"] and "order" in keys else {}
    value |= {"other": "true"} if fields["other"] and "other" in keys else {}
    value |= _set(fields, ("epsilon", "weight"))
    value |= {"required": "false"} if fields["optional"] else {}
    condition = condition_of(fields["joined"], fields["conditions"], new_ids, blocks)
    value |= {"show_if": condition} if condition else {}
    rest = _rest(fields)
    if "levels" not in value:
        rest.pop("window", None)  # only questions with levels have one
    return {**rest, **value}


def _blocks(questions: Sequence[Fields]) -> dict[str, list[str]]:
    """Returns the ids of the items of each rating block, by its id and the one that it had before."""
    blocks: dict[str, list[str]] = {}
    for question in questions:
        if has_items(question["type"]) and (ids := item_ids(question["items"])):
            blocks |= dict.fromkeys(filter(None, (question["was"], question["id"])), ids)
    return blocks


def _new_ids(questions: Sequence[Fields]) -> dict[str, str]:
    """Returns the new ids of renamed questions and items by their old ids, so that conditions follow them."""
    ids = {question["id"] for question in questions}
    renamed = [question for question in questions if question["was"] and question["id"] and question["was"] not in ids]
    items = {old: new for question in questions for old, new in new_item_ids(question).items()}
    return items | {question["was"]: question["id"] for question in renamed}


def _translation_values(fields: Fields) -> Iterator[tuple[str, dict[str, Any]]]:
    for index, language in enumerate(fields["languages"]):
        questions = {}
        for question in fields["questions"]:
            words = question["words"][index] if index < len(question["words"]) else words_of({})
            texts = _set(words, ("text", "help")) | _set_section(words)
            texts |= {"options": options} if (options := parse_lines(words["options"])) else {}
            if texts and question["id"]:
                questions[question["id"]] = texts
            questions |= _item_texts(question, words["items"])
        if language["tag"]:
            yield language["tag"], _set(language, TEXTS) | ({"questions": questions} if questions else {})


def _item_texts(question: Fields, words: str) -> dict[str, Any]:
    """Returns the translated texts of a block's items, by their ids."""
    if not has_items(question["type"]):
        return {}
    texts = parse_item_words(words, item_ids(question["items"]), new_item_ids(question))
    return {name: {"text": text} for name, text in texts.items()}


def _set_section(fields: Mapping[str, Any]) -> dict[str, Any]:
    section = {key: fields[f"section_{key}"] for key in SECTION if fields[f"section_{key}"]}
    section |= {"fixed": "true"} if fields.get("section_fixed") else {}
    return {"section": section} if section else {}


def _set(fields: Mapping[str, Any], keys: Sequence[str]) -> dict[str, Any]:
    return {key: fields[key] for key in keys if fields.get(key)}


def _rest(fields: Fields) -> dict[str, Any]:
    try:
        rest = json.loads(fields["rest"] or "{}")
    except (ValueError, RecursionError):
        rest = None
    if not isinstance(rest, dict):
        raise ValueError("rest must be a JSON object, as the form had it")
    return rest
