"""The JSON Schema (2020-12) of a survey file, made from the same tables that the parser reads.

It holds for a file as a YAML 1.2 or JSON reader gives it. What the parser accepts, the schema accepts. The
parser is stricter where a schema cannot be: ids and options that repeat, scores and ranges that are far from 0 beside
their spread, the bits and the epsilon in all, and a logarithm's value.
"""

from __future__ import annotations

from typing import Any

from deniable.survey.condition import MOST
from deniable.survey.epsilon import LN, MAX_EPSILON, NUMBER
from deniable.survey.parse import ACCESS, BATCH, FORMAT, LAYOUT, MAX_BATCH, MAX_LINK, RETURN_LINK, SURVEY_ID
from deniable.survey.parse_questions import MAX_QUESTIONS, MAX_WEIGHT, MIN_WEIGHT, QUESTION_ID
from deniable.survey.reading import LENGTHS
from deniable.survey.total import HIGH
from deniable.survey.translation import LANGUAGE, TEXTS
from deniable.survey.types import TYPES
from deniable.survey.types.base import MAX_OPTIONS, QuestionType

ADDRESS = "https://json-schema.org/draft/2020-12/schema"

EPSILON: dict[str, Any] = {
    "description": f"What one submission may give away: a number above 0 and at most {MAX_EPSILON}, or `ln x`.",
    "anyOf": [
        {"type": "number", "exclusiveMinimum": 0, "maximum": MAX_EPSILON},
        {"type": "string", "pattern": rf"^\s*(?:{LN.pattern}|{NUMBER.pattern})\s*$"},
    ],
}


_EDGE = {"type": ["number", "string"]}
CONDITION: dict[str, Any] = {
    "type": "object",
    "description": "One of these answers to an earlier question, or a number from where one bin begins up to another.",
    "properties": {
        "question": {"type": ["string", "boolean"]},
        "is": {"type": "array", "minItems": 1, "items": {"type": ["string", "number", "boolean"]}},
        "at_least": _EDGE,
        "below": _EDGE,
    },
    "required": ["question"],
    "oneOf": [{"required": ["is"]}, {"anyOf": [{"required": ["at_least"]}, {"required": ["below"]}]}],
    "additionalProperties": False,
}


def _list(word: str, *parts: dict[str, Any]) -> dict[str, Any]:
    listed = {"type": "array", "minItems": 2, "maxItems": MOST, "items": {"oneOf": list(parts)}}
    return {"type": "object", "properties": {word: listed}, "required": [word], "additionalProperties": False}


SHOW_IF: dict[str, Any] = {
    "description": "Show the question only to those who gave certain answers to earlier ones; it may then be skipped.",
    "oneOf": [
        CONDITION,
        _list("all", CONDITION, _list("any", CONDITION)),
        _list("any", CONDITION, _list("all", CONDITION)),
    ],
}


LABELS: dict[str, Any] = {
    "type": "array",
    "items": {"type": ["string", "number", "boolean"]},
    "minItems": 2,
    "maxItems": MAX_OPTIONS,
}


def _text(key: str, description: str) -> dict[str, Any]:
    """Every scalar is text as it is written, so a title may be `1984`."""
    return {
        "type": ["string", "number", "boolean"],
        "pattern": r"\S",
        "maxLength": LENGTHS[key],
        "description": description,
    }


def _section(description: str, required: bool) -> dict[str, Any]:
    texts = {"title": _text("title", "Its title."), "note": _text("note", "What stands under the title.")}
    asked: dict[str, Any] = {"required": ["title"]} if required else {"minProperties": 1}
    return {"type": "object", "description": description, "properties": texts, **asked, "additionalProperties": False}


TRANSLATIONS: dict[str, Any] = {
    "type": "object",
    "minProperties": 1,
    "description": "The texts in other languages; what is left out is shown in the survey's own.",
    "propertyNames": {"pattern": f"^{LANGUAGE.pattern}$"},
    "additionalProperties": {
        "type": "object",
        "minProperties": 1,
        "properties": {
            **{key: _text(key, "As above, in this language.") for key in TEXTS},
            "questions": {
                "type": "object",
                "minProperties": 1,
                "additionalProperties": {
                    "type": "object",
                    "minProperties": 1,
                    "properties": {
                        "text": _text("text", "The question, in this language."),
                        "help": _text("help", "Its help, in this language."),
                        "section": _section("In this language.", required=False),
                        "options": LABELS,
                    },
                    "additionalProperties": False,
                },
            },
        },
        "additionalProperties": False,
    },
}


def survey_schema() -> dict[str, Any]:
    """The schema, as plain JSON types."""
    return {
        "$schema": ADDRESS,
        "title": "A deniable survey",
        "type": "object",
        "properties": {
            "deniable": {"enum": [FORMAT, str(FORMAT)], "description": "The version of the format."},
            "id": {
                "type": ["string", "integer", "boolean"],
                "minimum": 0,
                "pattern": f"^{SURVEY_ID.pattern}$",
                "description": "Stands in the survey's address.",
            },
            "title": _text("title", "What respondents read first."),
            "about": _text("about", "Who asks, why, and whom to contact."),
            "epsilon": {**EPSILON, "description": f"{EPSILON['description']} Shared by all questions, equally but for their weights."},
            "contact": _text("contact", "Whom respondents can ask."),
            "ethics": _text("ethics", "Who approved the survey, and under which number."),
            "thanks": _text("thanks", "Said at the end, when the record has arrived."),
            "closed": _text("closed", "Said once the survey is closed."),
            "return_link": {
                "type": "string",
                "pattern": f"^{RETURN_LINK.pattern}$",
                "maxLength": MAX_LINK,
                "description": "Shown at the end: one address for everybody, such as a panel's.",
            },
            "ask": {"type": ["integer", "string"], "description": "How many blocks of questions a respondent's device draws and asks."},
            "groups": {**LABELS, "description": "Public labels, one of which each submission carries: a link per clinic or school."},
            "access": {"enum": list(ACCESS), "description": "invited: each submission takes a one-time code."},
            "layout": {"enum": list(LAYOUT), "description": "steps: one question a page."},
            "batch": {
                "type": ["integer", "string"],
                "minimum": 1,
                "maximum": MAX_BATCH,
                "description": f"How many records a server counts together at least; {BATCH} if left out.",
            },
            "language": {"type": "string", "pattern": f"^{LANGUAGE.pattern}$", "description": "That of the texts; en if left out."},
            "translations": TRANSLATIONS,
            "accept_high_epsilon": {
                "enum": [True, False, "true", "false"],
                "description": f"true where the questions may give away more than {HIGH} in total; respondents are told so.",
            },
            "questions": {
                "type": "array",
                "minItems": 1,
                "maxItems": MAX_QUESTIONS,
                "items": {"oneOf": [_question(t) for t in TYPES.items()]},
            },
        },
        "required": ["deniable", "id", "title", "about", "questions"],
        "additionalProperties": False,
        "if": {"required": ["epsilon"]},
        "then": {"properties": {"questions": {"items": {"not": {"required": ["epsilon"]}}}}},
        "else": {"properties": {"questions": {"items": {"required": ["epsilon"], "not": {"required": ["weight"]}}}}},
    }


def _question(named: tuple[str, QuestionType]) -> dict[str, Any]:
    name, kind = named
    return {
        "type": "object",
        "properties": {
            "id": {
                "type": ["string", "boolean"],
                "pattern": f"^{QUESTION_ID.pattern}$",
                "description": "The name of the answer's column.",
            },
            "text": _text("text", "The question."),
            "type": {"const": name},
            "epsilon": EPSILON,
            "weight": {
                "type": ["number", "string"],
                "minimum": MIN_WEIGHT,
                "maximum": MAX_WEIGHT,
                "description": "How much of the survey's epsilon the question takes beside the others; 1 if left out.",
            },
            "required": {
                "enum": [True, False, "true", "false"],
                "description": "false adds the category `no answer`, randomized like any other.",
            },
            "show_if": SHOW_IF,
            "help": _text("help", "What stands under the question."),
            "section": _section("The section that begins with this question, up to the next one.", required=True),
            **kind.required_keys,
            **kind.optional_keys,
        },
        "required": ["id", "text", "type", *kind.required_keys],
        "additionalProperties": False,
    }
