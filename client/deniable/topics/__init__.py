"""Sample surveys: a file for each of a dozen sensitive topics.

Each is a valid survey, and estimates every share within ten points at its number of people. Its author adds who asks.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files


@dataclass(frozen=True)
class Topic:
    """A sample survey.

    Attributes:
        name: The name of its file.
        title: The topic.
        people: The number of people who must answer.
    """

    name: str
    title: str
    people: int

    @property
    def text(self) -> str:
        """The survey file."""
        return (files("deniable.topics") / f"{self.name}.yaml").read_text("utf-8")


TOPICS = (
    Topic("abortion", "Abortion", 1_400),
    Topic("bribery", "Bribes for public services", 1_500),
    Topic("cheating", "Cheating at university", 1_000),
    Topic("debt", "Debt and gambling", 1_500),
    Topic("doping", "Doping in sport", 800),
    Topic("drugs", "Drugs and alcohol", 2_300),
    Topic("harassment", "Harassment at work", 1_400),
    Topic("moods", "Low mood and self-harm", 1_500),
    Topic("poaching", "Hunting and fishing against the rules", 1_000),
    Topic("sexual_health", "Sexual health", 2_300),
    Topic("taxes", "Undeclared work and taxes", 1_500),
    Topic("violence", "Violence by a partner", 1_200),
)
"""All topics, by name."""

BLANKS = ("your name and institution", "Your name, your address", "add here a number")
"""Placeholders for the author to replace: no finished survey contains them."""
