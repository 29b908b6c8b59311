"""A document's value becomes the fields of a form, and the fields the value again.

What no field can hold is kept as it is, in `rest`: keys that the form does not know, and values of another shape. So a form
that nobody touched gives the document that it was made from. Fields are texts, as browsers send them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from deniable.survey.translation import TEXTS
from deniable.survey.types import TYPES
from deniable_server.drafts.editor.conditions import BLANK, condition_of, rows_of
from deniable_server.drafts.editor.shapes import (
    Fields,
    Shape,
    bins,
    line,
    lines,
    numbers,
    split_bins,
    split_lines,
    split_numbers,
    text,
)

LINE = ("id", "epsilon", "ask", "batch", "language", "return_link")
DEFAULTS = {"access": "open", "layout": "list"}  # what a survey is that does not say
QUESTION_LINE = ("id", "type", "epsilon", "weight", "low", "high", "levels", "none")
SECTION = ("title", "note")
LISTS = ("options", "exclusive", "scores", "bins")
ENDS = ("low", "high", "levels", "none")
WORDS = ("text", "options", "help", "section")


def editable(value: Any) -> bool:
    """Whether a document has the shape of a survey, so that there are fields for it."""
    questions = value.get("questions", []) if isinstance(value, Mapping) else None
    return isinstance(questions, list) and all(isinstance(one, Mapping) for one in questions)


def fields_of(value: Mapping[str, Any]) -> Fields:
    """The fields of a document that is `editable`."""
    rest = dict(value)
    fields: Fields = _taken(rest, dict.fromkeys(LINE, line) | dict.fromkeys(TEXTS, text) | {"groups": lines})
    fields |= {key: _chosen(rest, key, usual) for key, usual in DEFAULTS.items()}
    fields["accept_high_epsilon"] = _ticked(rest, "accept_high_epsilon", "true")
    written = rest.pop("questions", [])
    translations = _translations(rest, [one.get("id") for one in written])
    fields["languages"] = [{"tag": tag, **{key: texts.get(key, "") for key in TEXTS}} for tag, texts in translations.items()]
    fields["questions"] = [_question(one, list(translations.values())) for one in written]
    if rest.get("deniable") == "1":
        del rest["deniable"]
    return fields | {"rest": json.dumps(rest) if rest else ""}


def value_of(fields: Fields) -> dict[str, Any]:
    """The document of the fields. Raises ValueError where a `rest` is none that `fields_of` made."""
    rest = _rest(fields)
    value: dict[str, Any] = {"deniable": "1", **_set(fields, (*LINE[:1], *TEXTS[:2]))}
    value |= _set(fields, TEXTS[2:]) | _set(fields, LINE[1:])
    value |= {key: fields[key] for key, usual in DEFAULTS.items() if fields[key] not in ("", usual)}
    value |= {"groups": split_lines(fields["groups"])} if split_lines(fields["groups"]) else {}
    value |= {"accept_high_epsilon": "true"} if fields["accept_high_epsilon"] else {}
    if translated := dict(_translated(fields)):
        left = rest.get("translations")
        value["translations"] = {**left, **translated} if isinstance(left, dict) else translated
    renamed = _renamed(fields["questions"])
    questions = [_question_value(one, renamed) for one in fields["questions"]]
    return {**rest, **value, **({"questions": questions} if questions else {})}


# --- from a document ----------------------------------------------------------------------------------------------------


def _question(value: Mapping[str, Any], translations: Sequence[Mapping[str, Any]]) -> Fields:
    rest = dict(value)
    shapes: dict[str, Shape] = dict.fromkeys(QUESTION_LINE, line) | dict.fromkeys(("text", "help"), text)
    shapes |= {"options": lines, "exclusive": lines, "scores": numbers, "bins": bins}
    fields = _taken(rest, shapes)
    fields["optional"] = _ticked(rest, "required", "false")
    if (condition := rows_of(rest.get("show_if"))) is not None:
        del rest["show_if"]
    fields["joined"], fields["conditions"] = condition or ("all", [dict(BLANK)])
    fields |= _section(rest.pop("section")) if _is_section(rest.get("section")) else _section({})
    fields["words"] = [words_of(texts.get("questions", {}).get(fields["id"], {})) for texts in translations]
    return fields | {"was": fields["id"], "rest": json.dumps(rest) if rest else ""}


def words_of(own: Mapping[str, Any]) -> Fields:
    """The fields of a question in another language."""
    return {
        "text": own.get("text", ""),
        "help": own.get("help", ""),
        "options": lines(own.get("options")) or "",
        **_section(own.get("section", {})),
    }


def _section(value: Mapping[str, Any]) -> Fields:
    return {f"section_{key}": value.get(key, "") for key in SECTION}


def _is_section(value: Any) -> bool:
    """Whether a section has fields for everything."""
    return (
        isinstance(value, Mapping) and bool(value) and set(value) <= set(SECTION) and all(text(one) is not None for one in value.values())
    )


def _taken(rest: dict[str, Any], shapes: Mapping[str, Shape]) -> Fields:
    """Takes out of `rest` what has its shape."""
    found = {key: shape(rest.get(key)) for key, shape in shapes.items()}
    for key, written in found.items():
        if written is not None:
            del rest[key]
    return {key: written or "" for key, written in found.items()}


def _chosen(rest: dict[str, Any], key: str, usual: str) -> str:
    """One of a few words. The usual one stays in `rest` where it is written, for it may be left out as well."""
    written = rest.get(key)
    return usual if written in (None, usual) or line(written) is None else str(rest.pop(key))


def _ticked(rest: dict[str, Any], key: str, when: str) -> bool:
    """Whether something other than the usual is so. What is written otherwise stays in `rest`, likewise."""
    return rest.get(key) == when and rest.pop(key) == when


def _translations(rest: dict[str, Any], ids: Sequence[Any]) -> dict[str, Mapping[str, Any]]:
    """Takes out of `rest` the languages for which there are fields for everything."""
    written = rest.get("translations")
    if not isinstance(written, Mapping) or len({one for one in ids if isinstance(one, str)}) < len(ids):
        return {}
    known = {tag: texts for tag, texts in written.items() if line(tag) and _has_fields(texts, ids)}
    left = {tag: texts for tag, texts in written.items() if tag not in known}
    rest |= {"translations": left}
    if not left and known:
        del rest["translations"]
    return known


def _has_fields(texts: Any, ids: Sequence[str]) -> bool:
    if not isinstance(texts, Mapping) or not set(texts) <= {*TEXTS, "questions"}:
        return False
    questions = texts.get("questions", {})
    if not isinstance(questions, Mapping) or not set(questions) <= set(ids) or any(line(name) is None for name in questions):
        return False
    flat = [texts[key] for key in TEXTS if key in texts]
    for own in questions.values():
        if not isinstance(own, Mapping) or not set(own) <= set(WORDS) or ("options" in own and lines(own["options"]) is None):
            return False
        if "section" in own and not _is_section(own["section"]):
            return False
        flat += [own[key] for key in ("text", "help") if key in own]
    return all(text(one) is not None for one in flat)


# --- back to a document -------------------------------------------------------------------------------------------------


def _question_value(fields: Fields, renamed: Mapping[str, str]) -> dict[str, Any]:
    kind = TYPES.get(fields["type"])
    own = {*kind.required_keys, *kind.optional_keys} if kind else {*LISTS, *ENDS}
    value: dict[str, Any] = _set(fields, ("id", "text", "help", "type")) | _set_section(fields)
    value |= _set({key: fields[key] for key in ENDS if key in own}, ENDS)
    lists = {
        **{key: split_lines(fields[key]) for key in ("options", "exclusive")},
        "scores": split_numbers(fields["scores"]),
        "bins": split_bins(fields["bins"]),
    }
    value |= {key: found for key, found in lists.items() if found and key in own}
    value |= _set(fields, ("epsilon", "weight"))
    value |= {"required": "false"} if fields["optional"] else {}
    condition = condition_of(fields["joined"], fields["conditions"], renamed)
    value |= {"show_if": condition} if condition else {}
    rest = _rest(fields)
    if "levels" not in value:
        rest.pop("window", None)  # which is wide for so many levels
    return {**rest, **value}


def _renamed(questions: Sequence[Fields]) -> dict[str, str]:
    """The new ids of questions by their old ones, which nobody has any more: what was asked after them is asked after them still."""
    now = {one["id"] for one in questions}
    return {one["was"]: one["id"] for one in questions if one["was"] and one["id"] and one["was"] not in now}


def _translated(fields: Fields) -> Iterator[tuple[str, dict[str, Any]]]:
    for place, language in enumerate(fields["languages"]):
        questions = {}
        for one in fields["questions"]:
            words = one["words"][place] if place < len(one["words"]) else words_of({})
            own = _set(words, ("text", "help")) | _set_section(words)
            own |= {"options": split_lines(words["options"])} if split_lines(words["options"]) else {}
            if own and one["id"]:
                questions[one["id"]] = own
        if language["tag"]:
            yield language["tag"], _set(language, TEXTS) | ({"questions": questions} if questions else {})


def _set_section(fields: Mapping[str, Any]) -> dict[str, Any]:
    section = {key: fields[f"section_{key}"] for key in SECTION if fields[f"section_{key}"]}
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
