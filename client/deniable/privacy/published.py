"""Privacy loss of a publication: bounds for one person against a reader of published shares or of shuffled rows.

For the server's owner, and for anyone who can link reports to people, the epsilon of one record holds instead. Reports that a reader sent
or knows hide no one from that reader: the bounds count the other reports only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from deniable.privacy.shuffling import question_shuffling_bound, shuffling_bound
from deniable.survey import Survey

_SLACK = 1e-6  # the largest delta
_PER_PERSON = 1e-2  # the largest sum of it over all people: the bound must hold for everyone


@dataclass(frozen=True)
class Publication:
    """Upper bounds for one person, whatever all others answered.

    Attributes:
        n: The fewest reports to a question in a published group.
        delta: The probability that a bound fails, at most.
        record: The epsilon of one record.
        tables: The bound for the shares and means of all questions, in all groups; at most `record`.
        rows: The bound for whole shuffled records, and so for cross tables and models; at most `record`.
        known_reports: The number of the n reports that a reader knows, having sent or seen them.
        open: Whether anyone may send reports, so that the number sent by one reader is unknown.
    """

    n: int
    delta: float
    record: float
    tables: float
    rows: float
    known_reports: int = 0
    open: bool = True

    @property
    def words(self) -> str:
        """A text for readers of the publication."""
        chance = f"except with a chance of 1 in {1 / self.delta:,.0f}"
        crowd = f"no question has fewer than {self.n:,} reports in a published group"
        published = [("only the published shares and means", self.tables), ("the rows, not whose they are", self.rows)]
        open_to_all = "Anyone may answer this survey, so nobody can say how many of its reports one reader sent." if self.open else ""
        parts = [
            f"A reader who sees {rows}, and {self._knowledge}, learns about one person at most what epsilon = "
            f"{math.ceil(1000 * bound) / 1000:.3f} allows, {chance}."
            if bound < self.record
            else f"A reader who sees {rows} may learn as much about one person as from that person's record: no smaller bound is known."
            for rows, bound in published
        ]
        note = (
            "This holds for one publication: a reader who also sees an earlier or later publication sees what the few reports between them "
            "add."
        )
        return " ".join([*parts, f"Each person hides among the others; {crowd}.", *filter(None, [open_to_all]), note])

    @property
    def _knowledge(self) -> str:
        return (
            f"sent or knows at most {self.known_reports:,} of the other reports"
            if self.known_reports
            else "sent and knows none of the other reports"
        )


def published(survey: Survey, n: int, known_reports: int = 0) -> Publication:
    """Returns bounds on the privacy loss of one person by a survey's published tables, and by its rows.

    Groups are disjoint, so each person is in the tables of one, and tables of all people follow from these. `tables` adds
    `question_shuffling_bound` of the questions that one person is asked, each at an equal part of delta. `rows` is `shuffling_bound`.
    delta is one in a million, or a hundredth over n if that is less.

    Args:
        survey: The survey.
        n: The fewest reports that any question has in any published group.
        known_reports: How many of them a reader knows, having taken part several times, invented reports, or seen them. The person hides
            among the n - known_reports others only.

    Raises:
        MissingExtraError: The extra `deniable[estimate]` is not installed.
        ValueError: n is below 1, or known_reports is below 0 or above n - 1, since one report is the person's own.
    """
    if type(known_reports) is not int or not 0 <= known_reports < max(1, n):
        raise ValueError(f"known_reports must be a whole number from 0 to n - 1, got {known_reports!r}")
    delta, others = min(_SLACK, _PER_PERSON / max(1, n)), n - known_reports
    rows = shuffling_bound(survey.epsilon, others, delta)
    channels, share = {item.channel for item in survey.items}, delta / len(survey.items)
    bounds = {channel: question_shuffling_bound(channel, others, share) for channel in channels}
    losses = [math.fsum(bounds[item.channel] for item in question.items) for question in survey.questions]
    blocks = sorted(math.fsum(losses[index] for index in block) for block in survey.blocks)
    tables = math.fsum(blocks[-survey.ask :] if survey.ask else blocks)
    return Publication(n, delta, survey.epsilon, min(tables, rows), rows, known_reports, survey.access == "open")
