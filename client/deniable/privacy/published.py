"""What a publication gives away about one person, to whoever sees no more than it: the shares of all questions, or the rows without order.

The server's owner, and whoever can tell which report came from whom, are no such observers: for them one record's epsilon stands.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from deniable.privacy.shuffling import shuffled, shuffled_question
from deniable.survey import Survey

_SLACK = 1e-6  # the largest delta, and
_PER_PERSON = 1e-2  # .. the largest sum of it over all people: a promise that fails for somebody is none


@dataclass(frozen=True)
class Publication:
    """Upper bounds for one person, whatever all others answered.

    n: the fewest reports to a question in a published group. delta: the chance with which a bound may fail. alone: the epsilon of one
    record, which is what its bits by themselves give away. tables: that of the shares and means of all questions, in all groups. rows: that
    of whole records in an order that says nothing, and so of cross tables and models. Neither is above `alone`.
    """

    n: int
    delta: float
    alone: float
    tables: float
    rows: float

    @property
    def words(self) -> str:
        """For people who read the publication."""
        chance = f"but for a chance of 1 in {1 / self.delta:,.0f}"
        who = f"no question has fewer than {self.n:,} reports in a published group"
        told = [("only the published shares and means", self.tables), ("the rows, and nothing of whose they are,", self.rows)]
        parts = [
            f"Who sees {what} learns of one person at most what epsilon = {math.ceil(1000 * bound) / 1000:.3f} allows, {chance}."
            if bound < self.alone
            else f"Who sees {what} may learn as much of one person as from that person's record: no smaller bound is known."
            for what, bound in told
        ]
        seen = "That is about one publication: whoever also sees an earlier or a later one sees what the few reports between them add."
        return " ".join([*parts, f"Each person hides among the others; {who}.", seen])


def published(survey: Survey, n: int) -> Publication:
    """Bounds on what the published tables of a survey, and its rows, give away about one person.

    n: the fewest reports that any question has in any published group. Groups are disjoint, so each person is in the tables of one, and
    tables of all people follow from these. tables: of each question `shuffled_question`, at an equal part of delta; the bounds of the
    questions that one person is asked add. rows: `shuffled`. delta: one in a million, or a hundredth over n if that is less.
    Needs the extra `deniable[estimate]`: raises MissingExtraError without it; and ValueError for n below 1.
    """
    delta = min(_SLACK, _PER_PERSON / max(1, n))
    rows = shuffled(survey.epsilon, n, delta)
    known = {channel: shuffled_question(channel, n, delta / len(survey.items)) for channel in {item.channel for item in survey.items}}
    parts = [math.fsum(known[item.channel] for item in question.items) for question in survey.questions]
    blocks = sorted(math.fsum(parts[place] for place in block) for block in survey.blocks)
    tables = math.fsum(blocks[-survey.ask :] if survey.ask else blocks)
    return Publication(n, delta, survey.epsilon, min(tables, rows), rows)
