"""The JSON Schema (2020-12) of a survey file, made from the same tables that the parser reads.

It holds for a file as a YAML 1.2 or JSON reader gives it. What the parser accepts, the schema accepts. The
parser is stricter where a schema cannot be: ids and options that repeat, the bits and the epsilon in all, and a logarithm's value.
"""

from __future__ import annotations

from typing import Any

from deniable.survey.epsilon import LN, MAX_EPSILON, NUMBER
from deniable.survey.parse import (
    ACCESS,
    BATCH,
    FORMAT,
    LAYOUT,
    LENGTHS,
    MAX_BATCH,
    MAX_LINK,
    MAX_QUESTIONS,
    MAX_WEIGHT,
    MIN_WEIGHT,
    QUESTION_ID,
    RETURN_LINK,
    SURVEY_ID,
)
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


SHOW_IF: dict[str, Any] = {
    "type": "object",
    "description": "Show the question only to those who gave one of these answers to an earlier one; it may then be skipped.",
    "properties": {
        "question": {"type": ["string", "boolean"]},
        "is": {"type": "array", "minItems": 1, "items": {"type": ["string", "number", "boolean"]}},
    },
    "required": ["question", "is"],
    "additionalProperties": False,
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
                    "properties": {"text": _text("text", "The question, in this language."), "options": LABELS},
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
            **kind.required_keys,
            **kind.optional_keys,
        },
        "required": ["id", "text", "type", *kind.required_keys],
        "additionalProperties": False,
    }
