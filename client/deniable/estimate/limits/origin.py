"""Origin of an estimate: the reports it uses, so that dependent estimates are never treated as independent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from deniable.errors import EstimateError


@dataclass(frozen=True)
class Origin:
    """Origin of a figure.

    Attributes:
        people: Marks of the sets of reports that it uses; two figures with a common mark are of the same people.
        survey: The digest of the survey, or empty.
        group, by_hand: The part of the survey's reports, as in `Results`.
        question, option: The subject of the figure; option is empty for a mean, question for a figure of several questions.
        clusters: The clusters that the people were drawn in, if a sample names them.
        level: The confidence of the figure's own limits, if they hold together with others at a lower one.
    """

    people: frozenset[str]
    survey: str = ""
    group: str | None = None
    by_hand: bool = False
    question: str = ""
    option: str = ""
    clusters: frozenset[str] = frozenset()
    level: float | None = None

    @property
    def words(self) -> str:
        """The figure's subject, as a call would name it."""
        return f"{self.question} = {self.option}" if self.option else f"the mean of {self.question}" if self.question else "another figure"


def require_independent(origins: Sequence[Origin | None]) -> None:
    """Requires figures of different people, and of different clusters.

    Raises:
        EstimateError: Two figures share people or clusters; the message names the call to use instead.
    """
    for one, other in combinations([origin for origin in origins if origin is not None], 2):
        if one.people & other.people:
            raise EstimateError(
                f"figures must be of different people, got {one.words} and {other.words} of the same reports; {_instead(one, other)}"
            )
        if is_part(one, other):
            group = one.group if one.group is not None else other.group
            raise EstimateError(
                f"figures must be of different people, got group {group} and all groups, which include it; compare the group "
                "with the others: Analysis.compare(whole.tally - group.tally, question)"
            )
        if common := sorted(one.clusters & other.clusters):
            raise EstimateError(
                f"figures must be of different clusters, got {common[0]} in both; Analysis.compare_waves takes the difference within each"
            )


def is_part(one: Origin, other: Origin) -> bool:
    """Returns whether one is of a group of the survey, and the other of all its groups."""
    same = bool(one.survey) and (one.survey, one.by_hand) == (other.survey, other.by_hand)
    return same and (one.group is None) != (other.group is None)


def together(origins: Sequence[Origin | None]) -> Origin | None:
    """Returns the origin of a figure computed from others, or None if none of them has one."""
    present = [origin for origin in origins if origin is not None]
    if not present:
        return None
    people, clusters = (frozenset[str]().union(*parts) for parts in ([one.people for one in present], [one.clusters for one in present]))
    return Origin(people, clusters=clusters)


def _instead(one: Origin, other: Origin) -> str:
    if one.question and (one.question, one.option) == (other.question, other.option):
        return "it is one figure twice"
    if one.option and other.option:
        a, b, c, d = (repr(word) for word in (one.question, one.option, other.question, other.option))
        return f"Analysis.between({a}, {b}, {c}, {d}) has their difference"
    if one.question and other.question and not one.option and not other.option:
        return f"Analysis.between_means({one.question!r}, {other.question!r}) has their difference"
    return "Analysis.between and Analysis.between_means have the differences of two shares and of two means"
