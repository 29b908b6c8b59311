"""What a publication gives away about one person, to whoever sees no more than it: the shares of all questions, or the rows without order.

The server's owner, and whoever can tell which report came from whom, are no such observers: for them one record's epsilon stands. Reports
that a reader sent, or was shown, hide nobody from that reader: the bounds are those of the other reports alone.
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

    n: the fewest reports to a question in a published group. known: how many of these a reader knows, at most, since the reader sent them
    or was shown them. open: whether anybody may send reports, and so nobody can say how many one reader sent. delta: the chance with
    which a bound may fail. alone: the epsilon of one record, which is what its bits by themselves give away. tables: that of the shares
    and means of all questions, in all groups. rows: that of whole records in an order that says nothing, and so of cross tables and
    models. Neither is above `alone`.
    """

    n: int
    delta: float
    alone: float
    tables: float
    rows: float
    known: int = 0
    open: bool = True

    @property
    def words(self) -> str:
        """For people who read the publication."""
        chance = f"but for a chance of 1 in {1 / self.delta:,.0f}"
        who = f"no question has fewer than {self.n:,} reports in a published group"
        told = [("only the published shares and means", self.tables), ("the rows, not whose they are", self.rows)]
        open_to_all = "Anybody may answer this survey, so nobody can say how many of its reports one reader sent." if self.open else ""
        parts = [
            f"Who sees {what}, and {self._own}, learns of one person at most what epsilon = "
            f"{math.ceil(1000 * bound) / 1000:.3f} allows, {chance}."
            if bound < self.alone
            else f"Who sees {what} may learn as much of one person as from that person's record: no smaller bound is known."
            for what, bound in told
        ]
        seen = "That is about one publication: whoever also sees an earlier or a later one sees what the few reports between them add."
        return " ".join([*parts, f"Each person hides among the others; {who}.", *filter(None, [open_to_all]), seen])

    @property
    def _own(self) -> str:
        return f"sent or knows at most {self.known:,} of the other reports" if self.known else "sent and knows none of the other reports"


def published(survey: Survey, n: int, known: int = 0) -> Publication:
    """Returns bounds on what the published tables of a survey, and its rows, give away about one person.

    n: the fewest reports that any question has in any published group. known: how many of them a reader knows, because the reader took
    part several times, made reports up, or was shown them: the person hides among the n - known others only. Groups are disjoint, so each
    person is in the tables of one, and tables of all people follow from these. tables: of each question `shuffled_question`, at an equal
    part of delta; the bounds of the questions that one person is asked add. rows: `shuffled`. delta: one in a million, or a hundredth
    over n if that is less. Needs the extra `deniable[estimate]`: raises MissingExtraError without it; ValueError for n below 1, and for
    known below 0 or above n - 1, since one report is the person's own.
    """
    if type(known) is not int or not 0 <= known < max(1, n):
        raise ValueError(f"known must be a whole number from 0 to n - 1, got {known!r}")
    delta, others = min(_SLACK, _PER_PERSON / max(1, n)), n - known
    rows = shuffled(survey.epsilon, others, delta)
    channels, share = {item.channel for item in survey.items}, delta / len(survey.items)
    bounds = {channel: shuffled_question(channel, others, share) for channel in channels}
    parts = [math.fsum(bounds[item.channel] for item in question.items) for question in survey.questions]
    blocks = sorted(math.fsum(parts[place] for place in block) for block in survey.blocks)
    tables = math.fsum(blocks[-survey.ask :] if survey.ask else blocks)
    return Publication(n, delta, survey.epsilon, min(tables, rows), rows, known, survey.access == "open")
