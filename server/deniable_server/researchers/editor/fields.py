"""A document's value becomes the fields of a form, and the fields the value again.

What no field can hold is kept as it is, in `rest`: keys that the form does not know, and values of another shape. So a form
that nobody touched gives the document that it was made from. Fields are texts, as browsers send them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from deniable.survey.translation import TEXTS
from deniable.survey.types import TYPES

Fields = dict[str, Any]
"""Texts by name; `questions` and `languages` are lists of the same."""

LINE = ("id", "epsilon", "ask", "batch", "language", "return_link")
DEFAULTS = {"access": "open", "layout": "list"}  # what a survey is that does not say
QUESTION_LINE = ("id", "type", "epsilon", "weight", "low", "high", "levels")
WORDS = ("text", "options")


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
    value |= {"groups": _lines(fields["groups"])} if _lines(fields["groups"]) else {}
    value |= {"accept_high_epsilon": "true"} if fields["accept_high_epsilon"] else {}
    if translated := dict(_translated(fields)):
        left = rest.get("translations")
        value["translations"] = {**left, **translated} if isinstance(left, dict) else translated
    renamed = _renamed(fields["questions"])
    questions = [_question_value(one, renamed) for one in fields["questions"]]
    return {**rest, **value, **({"questions": questions} if questions else {})}


# --- one shape of values: its text in a field, or None where it has another shape ---------------------------------------


def text(value: Any) -> str | None:
    """Any text, on one line or several."""
    return value if isinstance(value, str) and value and "\r" not in value else None


def line(value: Any) -> str | None:
    """A text on one line."""
    return value if text(value) is not None and "\n" not in value else None


def lines(value: Any) -> str | None:
    """A list of texts, one a line."""
    if not isinstance(value, list) or not value or any(line(one) is None or one != one.strip() for one in value):
        return None
    return "\n".join(value)


def numbers(value: Any) -> str | None:
    """A list of numbers, with commas between them."""
    return None if lines(value) is None or any("," in one for one in value) else ", ".join(value)


def bins(value: Any) -> str | None:
    """Named bins, one a line: where it begins, a colon, its name."""
    if not isinstance(value, list) or not all(isinstance(one, Mapping) and set(one) == {"name", "from"} for one in value):
        return None
    edges, names = ([one[key] for one in value] for key in ("from", "name"))
    if lines(names) is None or lines(edges) is None or any(":" in edge for edge in edges):
        return None
    return "\n".join(f"{edge}: {name}" for edge, name in zip(edges, names, strict=True))


Shape = Callable[[Any], str | None]


# --- from a document ----------------------------------------------------------------------------------------------------


def _question(value: Mapping[str, Any], translations: Sequence[Mapping[str, Any]]) -> Fields:
    rest = dict(value)
    shapes: dict[str, Shape] = dict.fromkeys(QUESTION_LINE, line) | {"text": text, "options": lines, "scores": numbers, "bins": bins}
    fields = _taken(rest, shapes)
    fields["optional"] = _ticked(rest, "required", "false")
    show_if = rest.get("show_if")
    asked, answers = "", None
    if isinstance(show_if, Mapping) and set(show_if) == {"question", "is"} and line(show_if["question"]):
        asked, answers = show_if["question"], lines(show_if["is"]) if show_if["is"] != [] else ""
    if answers is not None:
        del rest["show_if"]
    fields |= {"show_if_question": asked if answers is not None else "", "show_if_is": answers or ""}
    words = [texts.get("questions", {}).get(fields["id"], {}) for texts in translations]
    fields["words"] = [{"text": own.get("text", ""), "options": lines(own.get("options")) or ""} for own in words]
    return fields | {"was": fields["id"], "rest": json.dumps(rest) if rest else ""}


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
        flat += [own["text"]] if "text" in own else []
    return all(text(one) is not None for one in flat)


# --- back to a document -------------------------------------------------------------------------------------------------


def _question_value(fields: Fields, renamed: Mapping[str, str]) -> dict[str, Any]:
    kind = TYPES.get(fields["type"])
    own = {*kind.required_keys, *kind.optional_keys} if kind else {"options", "scores", "bins", "low", "high", "levels"}
    value: dict[str, Any] = _set(fields, ("id", "text", "type"))
    value |= _set({key: fields[key] for key in ("low", "high", "levels") if key in own}, ("low", "high", "levels"))
    lists = {"options": _lines(fields["options"]), "scores": _numbers(fields["scores"]), "bins": _bins(fields["bins"])}
    value |= {key: found for key, found in lists.items() if found and key in own}
    value |= _set(fields, ("epsilon", "weight"))
    value |= {"required": "false"} if fields["optional"] else {}
    if fields["show_if_question"] or fields["show_if_is"].strip():
        asked = fields["show_if_question"]
        value["show_if"] = {"question": renamed.get(asked, asked), "is": _lines(fields["show_if_is"])}
    return {**_rest(fields), **value}


def _renamed(questions: Sequence[Fields]) -> dict[str, str]:
    """The new ids of questions by their old ones, which nobody has any more: what was asked after them is asked after them still."""
    now = {one["id"] for one in questions}
    return {one["was"]: one["id"] for one in questions if one["was"] and one["id"] and one["was"] not in now}


def _translated(fields: Fields) -> Iterator[tuple[str, dict[str, Any]]]:
    for place, language in enumerate(fields["languages"]):
        questions = {}
        for one in fields["questions"]:
            words = one["words"][place] if place < len(one["words"]) else {"text": "", "options": ""}
            own = _set(words, ("text",)) | ({"options": _lines(words["options"])} if _lines(words["options"]) else {})
            if own and one["id"]:
                questions[one["id"]] = own
        if language["tag"]:
            yield language["tag"], _set(language, TEXTS) | ({"questions": questions} if questions else {})


def _set(fields: Mapping[str, Any], keys: Sequence[str]) -> dict[str, Any]:
    return {key: fields[key] for key in keys if fields.get(key)}


def _lines(written: str) -> list[str]:
    return [one.strip() for one in written.split("\n") if one.strip()]


def _numbers(written: str) -> list[str]:
    return [one.strip() for one in written.split(",") if one.strip()]


def _bins(written: str) -> list[dict[str, str]]:
    """What has no colon is a name without a number, which the parser tells."""
    found = []
    for one in _lines(written):
        edge, colon, name = one.partition(":")
        found.append({"name": name.strip(), "from": edge.strip()} if colon else {"name": one})
    return found


def _rest(fields: Fields) -> dict[str, Any]:
    try:
        rest = json.loads(fields["rest"] or "{}")
    except (ValueError, RecursionError):
        rest = None
    if not isinstance(rest, dict):
        raise ValueError("rest must be a JSON object, as the form had it")
    return rest
