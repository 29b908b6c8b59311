"""Privacy loss of a publication about one person, to a reader of the shares of all questions or of the shuffled rows only.

The server's owner, and anyone who can tell which report came from whom, is no such reader: for them one record's epsilon holds. Reports
that a reader sent or knows do not hide anyone from that reader: the bounds count the other reports only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from deniable.privacy.shuffling import shuffled, shuffled_question
from deniable.survey import Survey

_SLACK = 1e-6  # the largest delta, and
_PER_PERSON = 1e-2  # .. the largest sum of it over all people: a promise must hold for everyone


@dataclass(frozen=True)
class Publication:
    """Upper bounds for one person, whatever all others answered.

    Attributes:
        n: The fewest reports to a question in a published group.
        delta: The chance with which a bound may fail.
        alone: The epsilon of one record.
        tables: The bound for the shares and means of all questions, in all groups; at most `alone`.
        rows: The bound for whole shuffled records, and so for cross tables and models; at most `alone`.
        known: How many of the n reports a reader knows at most, having sent or seen them.
        open: Whether anyone may send reports, so that the number sent by one reader is unknown.
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
        """A text for readers of the publication."""
        chance = f"but for a chance of 1 in {1 / self.delta:,.0f}"
        who = f"no question has fewer than {self.n:,} reports in a published group"
        published = [("only the published shares and means", self.tables), ("the rows, not whose they are", self.rows)]
        open_to_all = "Anybody may answer this survey, so nobody can say how many of its reports one reader sent." if self.open else ""
        parts = [
            f"Who sees {what}, and {self._own}, learns of one person at most what epsilon = "
            f"{math.ceil(1000 * bound) / 1000:.3f} allows, {chance}."
            if bound < self.alone
            else f"Who sees {what} may learn as much of one person as from that person's record: no smaller bound is known."
            for what, bound in published
        ]
        note = "That is about one publication: whoever also sees an earlier or a later one sees what the few reports between them add."
        return " ".join([*parts, f"Each person hides among the others; {who}.", *filter(None, [open_to_all]), note])

    @property
    def _own(self) -> str:
        return f"sent or knows at most {self.known:,} of the other reports" if self.known else "sent and knows none of the other reports"


def published(survey: Survey, n: int, known: int = 0) -> Publication:
    """Returns bounds on the privacy loss of one person by a survey's published tables, and by its rows.

    Groups are disjoint, so each person is in the tables of one, and tables of all people follow from these. `tables` adds
    `shuffled_question` of the questions that one person is asked, each at an equal part of delta; `rows` is `shuffled`. delta is one in a
    million, or a hundredth over n if that is less.

    Args:
        survey: The survey.
        n: The fewest reports that any question has in any published group.
        known: How many of them a reader knows, having taken part several times, made reports up, or seen them: the person hides among
            the n - known others only.

    Raises:
        MissingExtraError: The extra `deniable[estimate]` is not installed.
        ValueError: n is below 1, or known is below 0 or above n - 1, since one report is the person's own.
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
