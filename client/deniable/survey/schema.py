"""JSON Schema (2020-12) of survey files, derived from the parser's own tables.

It describes a file as read by a YAML 1.2 or JSON reader. The schema accepts every file that the parser accepts. The parser also refuses
what a schema cannot express: repeated ids and options, scores and ranges too close together for their distance from 0, too many bits,
too large a total epsilon, and invalid logarithms.
"""

from __future__ import annotations

from typing import Any

from deniable.survey.condition import MOST, MOST_SUMMED
from deniable.survey.content import BATCH
from deniable.survey.epsilon import LN, MAX_EPSILON, NUMBER
from deniable.survey.parse import (
    ACCESS,
    FORMAT,
    ISSUER,
    LAYOUT,
    LOGO,
    MAX_BATCH,
    MAX_LINK,
    MAX_LOGO,
    RELEASE,
    RESULTS,
    RETURN_LINK,
    SURVEY_ID,
)
from deniable.survey.parse_questions import MAX_QUESTIONS, QUESTION_ID
from deniable.survey.rating import MAX_ITEMS, MAX_WEIGHT, MIN_WEIGHT, RATING
from deniable.survey.total import HIGH
from deniable.survey.translation import LANGUAGE, TEXTS
from deniable.survey.types import TYPES
from deniable.survey.types.base import MAX_OPTIONS, ORDERS, QuestionType
from deniable.survey.validator import LENGTHS

ADDRESS = "https://json-schema.org/draft/2020-12/schema"

EPSILON: dict[str, Any] = {
    "description": f"The privacy loss of one submission: a number above 0 and at most {MAX_EPSILON}, or `ln x`.",
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


def _sum(word: str, description: str, **more: dict[str, Any]) -> dict[str, Any]:
    """Returns the schema of a condition on a sum over questions."""
    names = {"type": "array", "minItems": 1, "maxItems": MOST_SUMMED, "items": {"type": ["string", "boolean"]}}
    return {
        "type": "object",
        "description": description,
        "properties": {word: names, **more, "at_least": _EDGE, "below": _EDGE},
        "required": [word, *more],
        "anyOf": [{"required": ["at_least"]}, {"required": ["below"]}],
        "additionalProperties": False,
    }


_SINGLE = (
    CONDITION,
    _sum("score", "The sum of the scores of earlier scales, from `at_least` up to `below`."),
    _sum(
        "count",
        "How many earlier questions have one of these answers, from `at_least` up to `below`.",
        **{"is": CONDITION["properties"]["is"]},
    ),
)


def _list(word: str, *parts: dict[str, Any]) -> dict[str, Any]:
    conditions = {"type": "array", "minItems": 2, "maxItems": MOST, "items": {"oneOf": list(parts)}}
    return {"type": "object", "properties": {word: conditions}, "required": [word], "additionalProperties": False}


SHOW_IF: dict[str, Any] = {
    "description": "Show the question only after certain answers to earlier questions; it may then be skipped.",
    "oneOf": [
        *_SINGLE,
        _list("all", *_SINGLE, _list("any", *_SINGLE)),
        _list("any", *_SINGLE, _list("all", *_SINGLE)),
    ],
}


LABELS: dict[str, Any] = {
    "type": "array",
    "items": {"type": ["string", "number", "boolean"]},
    "minItems": 2,
    "maxItems": MAX_OPTIONS,
}


def _text(key: str, description: str) -> dict[str, Any]:
    """Returns the schema of a text. Every scalar is text as written, so a title may be `1984`."""
    return {
        "type": ["string", "number", "boolean"],
        "pattern": r"\S",
        "maxLength": LENGTHS[key],
        "description": description,
    }


def _section(description: str, required: bool) -> dict[str, Any]:
    properties = {"title": _text("title", "The section's title."), "note": _text("note", "A note below the title.")}
    if required:
        rule = "true keeps the section in its place: with `section_order`, no section moves past it."
        properties["fixed"] = {"enum": [True, False, "true", "false"], "description": rule}
    minimum: dict[str, Any] = {"required": ["title"]} if required else {"minProperties": 1}
    return {"type": "object", "description": description, "properties": properties, **minimum, "additionalProperties": False}


ITEM_ORDER: dict[str, Any] = {
    "enum": list(ORDERS),
    "description": "The order of the items, drawn on each device; as written if left out.",
}


def _grid(required: list[str]) -> dict[str, Any]:
    texts = {"text": _text("text", "The text of all items."), "help": _text("help", "An explanation below the text.")}
    own = {"id": {"type": ["string", "boolean"], "pattern": f"^{QUESTION_ID.pattern}$"}, "order": ITEM_ORDER}
    properties = {**(own if required else {}), **texts}
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


TRANSLATIONS: dict[str, Any] = {
    "type": "object",
    "minProperties": 1,
    "description": "The texts in other languages; pages show missing texts in the survey's own language.",
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
                        "help": _text("help", "The help, in this language."),
                        "section": _section("In this language.", required=False),
                        "options": LABELS,
                        "grid": _grid([]),
                    },
                    "additionalProperties": False,
                },
            },
        },
        "additionalProperties": False,
    },
}


def survey_schema() -> dict[str, Any]:
    """Returns the schema, as plain JSON types."""
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
                "description": "Part of the survey's address.",
            },
            "title": _text("title", "The first text that respondents read."),
            "about": _text("about", "The researchers, the purpose, and a contact."),
            "epsilon": {**EPSILON, "description": f"{EPSILON['description']} All questions share it, in proportion to their weights."},
            "institution": _text("institution", "The name of the institution that asks, above the title."),
            "logo": {
                "type": "string",
                "pattern": f"^{LOGO.pattern}$",
                "maxLength": MAX_LOGO,
                "description": "Its picture, PNG or WebP, as data:image/png;base64,...",
            },
            "contact": _text("contact", "A contact for respondents."),
            "ethics": _text("ethics", "The ethics approval, with its number."),
            "thanks": _text("thanks", "Shown at the end, when the record has arrived."),
            "closed": _text("closed", "Shown once the survey is closed."),
            "return_link": {
                "type": "string",
                "pattern": f"^{RETURN_LINK.pattern}$",
                "maxLength": MAX_LINK,
                "description": "Shown at the end: one address for everybody, such as a panel's.",
            },
            "ask": {"type": ["integer", "string"], "description": "How many blocks of questions a respondent's device draws and asks."},
            "groups": {**LABELS, "description": "Public labels. Each submission has one: a link per clinic or school."},
            "access": {"enum": list(ACCESS), "description": "invited: each submission needs a one-time code."},
            "layout": {"enum": list(LAYOUT), "description": "steps: one question a page."},
            "order": {
                "enum": list(ORDERS),
                "description": "The order of the questions in each section, drawn on each device; as written if left out.",
            },
            "section_order": {
                "enum": list(ORDERS),
                "description": "The order of the sections, drawn on each device; as written if left out.",
            },
            "release": {
                "enum": list(RELEASE),
                "description": "When records are shown: close, all together (the default with codes), or daily, once a day at most.",
            },
            "batch": {
                "type": ["integer", "string"],
                "minimum": 1,
                "maximum": MAX_BATCH,
                "description": f"The fewest records that are released together, or shown of a group; {BATCH} if left out.",
            },
            "results": {
                "enum": list(RESULTS),
                "description": "public: once records are shown, a page shows the results to everyone; private if left out.",
            },
            "language": {"type": "string", "pattern": f"^{LANGUAGE.pattern}$", "description": "The language of the texts; en if left out."},
            "translations": TRANSLATIONS,
            "accept_high_epsilon": {
                "enum": [True, False, "true", "false"],
                "description": f"true if the total epsilon may be above {HIGH}; the page then warns respondents.",
            },
            "accept_small_batches": {
                "enum": [True, False, "true", "false"],
                "description": f"true if batch may be below {BATCH}; the page then tells respondents.",
            },
            "issuer": {
                "type": "string",
                "pattern": f"^{ISSUER.pattern}$",
                "description": "Leave it out: a server adds its key when it publishes a survey by invitation.",
            },
            "questions": {
                "type": "array",
                "minItems": 1,
                "maxItems": MAX_QUESTIONS,
                "items": {"oneOf": [*map(_question, TYPES.values()), _rating()]},
            },
        },
        "required": ["deniable", "id", "title", "about", "questions"],
        "additionalProperties": False,
        "if": {"required": ["epsilon"]},
        "then": {"properties": {"questions": {"items": {"not": {"required": ["epsilon"]}}}}},
        "else": {"properties": {"questions": {"items": {"required": ["epsilon"], "not": {"required": ["weight"]}}}}},
    }


def _question(kind: type[QuestionType]) -> dict[str, Any]:
    """Returns the schema of a question of one type."""
    return {
        "type": "object",
        "properties": {
            "id": {
                "type": ["string", "boolean"],
                "pattern": f"^{QUESTION_ID.pattern}$",
                "description": "The name of the answer's column.",
            },
            "text": _text("text", "The question."),
            "type": {"const": kind.name},
            "epsilon": EPSILON,
            "weight": {
                "type": ["number", "string"],
                "minimum": MIN_WEIGHT,
                "maximum": MAX_WEIGHT,
                "description": "The question's share of the survey's epsilon, relative to the others; 1 if left out.",
            },
            "required": {
                "enum": [True, False, "true", "false"],
                "description": "false adds the category `no answer`, randomized like any other.",
            },
            "show_if": SHOW_IF,
            "help": _text("help", "An explanation below the question."),
            "section": _section("The section that begins with this question, up to the next one.", required=True),
            **kind.required_keys,
            **kind.optional_keys,
            **({"grid": _grid(["id"])} if "grid" in kind.optional_keys else {}),
        },
        "required": ["id", "text", "type", *kind.required_keys],
        "additionalProperties": False,
    }


def _rating() -> dict[str, Any]:
    """Returns the schema of a rating block: a scale with items."""
    scale = _question(TYPES["scale"])
    item = {"type": "object", "properties": {key: scale["properties"][key] for key in ("id", "text")}}
    properties = {key: value for key, value in scale["properties"].items() if key != "grid"}
    items = {
        "type": "array",
        "minItems": 2,
        "maxItems": MAX_ITEMS,
        "items": {**item, "required": ["id", "text"], "additionalProperties": False},
        "description": "The items, in order. Each becomes a scale question with the options of the block.",
    }
    own = {"type": {"const": RATING}, "items": items, "order": ITEM_ORDER}
    return {**scale, "properties": {**properties, **own}, "required": [*scale["required"], "items"]}
