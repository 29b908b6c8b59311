"""What a survey asks two people whose records come out alike, and what they say to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Asked:
    """The questions of a survey, and the answers of two people to them; the second says the contrary."""

    questions: list[dict[str, Any]]
    answers: list[dict[str, Any]]

    @property
    def single(self) -> list[dict[str, Any]]:
        """The questions as they stand on the page, each item of a rating block by itself."""
        return [one for question in self.questions for one in _items(question)]


def _items(question: dict[str, Any]) -> list[dict[str, Any]]:
    """A question, or the items of a rating block as the scales that they are."""
    if question["type"] != "rating":
        return [question]
    return [{**item, "type": "scale", "options": question["options"]} for item in question["items"]]


_TOWNS = [f"Town {number}" for number in range(1, 15)]
_QUESTIONS: list[dict[str, Any]] = [
    {"id": "smokes", "text": "Do you smoke?", "type": "yes_no"},
    {
        "id": "often",
        "text": "How often?",
        "type": "choice",
        "options": ["daily", "weekly"],
        "show_if": {"question": "smokes", "is": ["yes"]},
    },
    {"id": "town", "text": "Where do you live?", "type": "choice", "options": _TOWNS, "order": "random"},
    {
        "id": "used",
        "text": "Which have you used in ${town|your town}?",
        "type": "multi_choice",
        "options": ["tea", "coffee"],
        "order": "rotate",
        "other": True,
        "required": False,
    },
    {"id": "mood", "text": "How do you feel?", "type": "scale", "options": ["badly", "so so", "well"], "required": False},
    {
        "id": "cold",
        "text": "How cold was it?",
        "type": "number",
        "low": -30,
        "high": 30,
        "bins": [{"name": "frost", "from": -30}, {"name": "no frost", "from": 0}],
        "required": False,
    },
    {
        "id": "age",
        "text": "How old are you?",
        "type": "number",
        "low": 18,
        "high": 120,
        "bins": [{"name": "under 40", "from": 18}, {"name": "40 or more", "from": 40}],
    },
    {
        "id": "bad",
        "section": {"title": "After ${town}", "note": "You said ${cold|nothing}, ${used|nothing} and ${age}."},
        "text": "Is it ${mood} because of the cold?",
        "help": "In ${town}, at ${age}.",
        "type": "yes_no",
        "show_if": {"score": ["mood"], "at_least": 1},
    },
]
_ANSWERS: list[dict[str, Any]] = [
    {"smokes": "yes", "often": "weekly", "town": "Town 3", "used": ["tea"], "mood": "badly", "cold": -12, "age": 23, "bad": "yes"},
    {"smokes": "no", "town": "Town 9", "used": [], "mood": None, "cold": None, "age": 61},
]

EVERY_TYPE = Asked(_QUESTIONS, _ANSWERS)
"""All types of questions, conditions, orders, and answers in later texts."""

_OFTEN = ["Not at all", "Several days", "More than half the days", "Nearly every day"]
_MOOD: dict[str, Any] = {
    "id": "mood",
    "section": {"title": "These days"},
    "type": "rating",
    "text": "How often have you been bothered by these?",
    "options": _OFTEN,
    "items": [{"id": "joy", "text": "Little joy"}, {"id": "sleep", "text": "Trouble with sleep"}, {"id": "down", "text": "Feeling down"}],
    "order": "random",
    "required": False,
}
_TOOK: dict[str, Any] = {
    "id": "took",
    "section": {"title": "Remedies"},
    "text": "What have you taken?",
    "type": "multi_choice",
    "options": ["tea", "pills", "drops", "I do not know"],
    "exclusive": ["I do not know"],
    "at_least": 1,
    "at_most": 2,
    "order": "random",
}
_HELPED: dict[str, Any] = {
    "id": "helped",
    "section": {"title": "After ${joy|these days}"},
    "text": "Did anything help, ${down|in general}?",
    "type": "yes_no",
    "show_if": {"score": ["joy", "sleep", "down"], "at_least": 7},
}
RATED = Asked(
    [_MOOD, _TOOK, _HELPED],
    [
        {"joy": _OFTEN[0], "sleep": None, "down": _OFTEN[1], "took": ["I do not know"]},
        {"joy": _OFTEN[3], "sleep": _OFTEN[3], "down": _OFTEN[2], "took": ["tea", "pills"], "helped": "yes"},
    ],
)
"""A rating block, a question about the sum of its scores with its answers in the text, and a selection with limits and an exclusive option.

Items, options and, with `section_order`, sections come in an order that the device draws.
"""
SAME = Asked(RATED.questions, RATED.answers[1:] * 2)
"""The same, and two people who say the same."""
