"""Sample description for all estimates: strata, clustering, margins and population sizes, from which design effects follow."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from deniable.errors import EstimateError
from deniable.estimate.samples import replicate_weights
from deniable.survey import Survey

GROUP = "group"
"""The attribute that every survey with groups has: each group by itself."""

_ROUNDING = 0.01  # by which rounded shares may miss their sum, and rounded numbers of people their total, relative to it


@dataclass(frozen=True)
class Sample:
    """How people were drawn. By default everybody was drawn alone, from a large population, with equal weight.

    Attributes:
        clusters: The attribute whose values were drawn, and then the people in them: "group", if the groups are clinics or schools.
        strata: The attribute whose values were sampled one by one.
        population: The size of the population in each stratum, or in all: of clusters, if there are any, else of people. Reports are
            weighted to it, and the answers' error shrinks as more of it is in the sample; the coins' error does not.
        margins: Known shares, which add up to 1, or numbers of people, of the values of attributes, and of the options of one question:
            the reports are weighted to these (post-stratification, or raking if there are several).
        attributes: A value of each attribute for each group: {"region": {"Clinic 1": "north", ..}}. "group" is always one.
        replicates: Replicate weights, instead of all the above but attributes: for each replicate (jackknife, bootstrap, balanced repeated
            replication) the factor of each group's reports.
        scale: The factor of the squared distances of the replicates' figures from their mean, one number or one for each: (m - 1) / m for a
            jackknife of m clusters, 1 / R for a bootstrap of R replicates.

    Raises EstimateError with all of its errors.
    """

    clusters: str | None = None
    strata: str | None = None
    population: int | Mapping[str, int] | None = None
    margins: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    attributes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    replicates: Sequence[Mapping[str, float]] = ()
    scale: float | Sequence[float] | None = None

    def __post_init__(self) -> None:
        _raise([*_names(self), *_population(self.population, self.strata), *_margins(self.margins), *_attributes(self.attributes)])
        if isinstance(self.replicates, list):
            object.__setattr__(self, "replicates", tuple(self.replicates))
        _raise(replicate_weights.wrong(self.replicates, self.scale, bool(self.clusters or self.strata or self.population or self.margins)))

    @classmethod
    def from_dict(cls, source: Any) -> Sample:
        """Returns a sample from the form of `to_dict`; any part may be left out. Raises EstimateError, without quoting an unknown key."""
        present = [each.name for each in fields(cls)]
        if not isinstance(source, Mapping) or not set(source) <= set(present):
            raise EstimateError(f"a sample must be a mapping with none but the keys {', '.join(present)}")
        return cls(**source)

    @classmethod
    def from_text(cls, text: str) -> Sample:
        """Reads a sample from YAML 1.2 or JSON. Raises EstimateError for other text, and as `from_dict`."""
        try:
            result = YAML(typ="safe", pure=True).load(text)
        except YAMLError:
            raise EstimateError("a sample's file must be YAML or JSON, with no key twice in one mapping") from None
        return cls.from_dict(result)

    def to_dict(self) -> dict[str, Any]:
        """Returns the sample as plain JSON types."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @property
    def question(self) -> str | None:
        """The question whose shares are among the margins, or None."""
        return next((name for name in self.margins if name != GROUP and name not in self.attributes), None)

    def value(self, attribute: str, group: str) -> str:
        """Returns the value of an attribute for a group."""
        return group if attribute == GROUP else self.attributes[attribute][group]

    def check(self, survey: Survey, groups: Collection[str]) -> None:
        """Requires that attributes, values and questions of the sample fit these groups of the survey.

        Raises:
            EstimateError: Something does not fit; the message lists all of it.
        """
        items = {item.id: item for item in survey.items}
        wrong = [f"attributes: {name} must have a value for each of the groups" for name in self._incomplete(groups)]
        questions = [name for name in self.margins if name != GROUP and name not in self.attributes]
        wrong += [
            f"margins: {name!r} is neither an attribute nor a question of survey {survey.id}" for name in questions if name not in items
        ]
        if len(questions) > 1:
            wrong.append("margins: of one question at most, since a tally has pairs of answers only; got " + " and ".join(questions))
        for name, shares in self.margins.items():
            categories = items[name].categories if name in items and name in questions else self._known_values(groups, name)
            if categories is not None and set(categories) != set(shares):
                wrong.append(
                    f"margins: {name} must have a number for each of {', '.join(sorted(set(categories))[:8])}, and for nothing else"
                )
        strata = self._known_values(groups, self.strata)
        if isinstance(self.population, Mapping) and strata and strata != set(self.population):
            wrong.append(f"population: a number for each of {', '.join(sorted(strata)[:8])}, and for nothing else")
        _raise([*wrong, *self._straddling(groups), *replicate_weights.misfits(self.replicates, groups)])

    def _incomplete(self, groups: Collection[str]) -> list[str]:
        return [name for name, values in self.attributes.items() if not set(groups) <= set(values)]

    def _known_values(self, groups: Collection[str], name: str | None) -> set[str] | None:
        """Returns an attribute's values, or None if they are not known."""
        if name is None or (name != GROUP and (name not in self.attributes or name in self._incomplete(groups))):
            return None
        return {self.value(name, group) for group in groups}

    def _straddling(self, groups: Collection[str]) -> list[str]:
        """Returns the error of a cluster that lies in two strata."""
        if self._known_values(groups, self.clusters) is None or self._known_values(groups, self.strata) is None:
            return []
        pairs = {(self.value(str(self.clusters), group), self.value(str(self.strata), group)) for group in groups}
        return [] if len(pairs) == len({cluster for cluster, _ in pairs}) else ["clusters: each must lie in one stratum"]


def _raise(wrong: list[str]) -> None:
    if wrong:
        raise EstimateError("sample: " + "; ".join(wrong))


def _names(sample: Sample) -> list[str]:
    """Returns the errors in the attributes that clusters and strata name."""
    present = {GROUP, *(sample.attributes if isinstance(sample.attributes, Mapping) else ())}
    named = {"clusters": sample.clusters, "strata": sample.strata}
    wrong = [
        f"{key} must be {GROUP} or one of the attributes, got {value!r}"
        for key, value in named.items()
        if value is not None and value not in list(present)
    ]
    if sample.clusters is not None and sample.clusters == sample.strata:
        wrong.append("strata must be another attribute than clusters: of each stratum two clusters are needed")
    return wrong


def _population(population: Any, strata: str | None) -> list[str]:
    if population is None:
        return []
    if strata is None and isinstance(population, Mapping):
        return ["population must be one number where there are no strata"]
    if strata is not None and not isinstance(population, Mapping):
        return ["population must be a number for each stratum"]
    numbers = population.values() if isinstance(population, Mapping) else [population]
    fine = all(isinstance(number, int) and not isinstance(number, bool) and number > 0 for number in numbers)
    return [] if fine else ["population must be whole numbers above 0"]


def _margins(margins: Any) -> list[str]:
    if not isinstance(margins, Mapping) or not all(isinstance(shares, Mapping) and shares for shares in margins.values()):
        return ["margins must be a mapping of names, each to a mapping of values to shares"]
    wrong = [f"margins: the values of {name} must be finite numbers above 0" for name, shares in margins.items() if not _positive(shares)]
    return wrong or _totals({name: math.fsum(shares.values()) for name, shares in margins.items()})


def _totals(totals: Mapping[str, float]) -> list[str]:
    """Returns the error of margins that are neither shares nor numbers of the same people; rounding may move a sum by 1%."""
    if partial := [name for name, total in totals.items() if total < 1 - _ROUNDING]:
        return [f"margins: the shares of {name} must add up to 1, got {totals[name]:g}" for name in partial]
    numbers = {name: total for name, total in totals.items() if total > 1 + _ROUNDING}
    if numbers and max(numbers.values()) > (1 + _ROUNDING) * min(numbers.values()):
        got = ", ".join(f"{total:,.10g} by {name}" for name, total in numbers.items())
        return [f"margins: numbers of people must have the same total in each margin, got {got}; or give shares that add up to 1"]
    return []


def _positive(shares: Mapping[str, Any]) -> bool:
    return all(isinstance(x, int | float) and not isinstance(x, bool) and math.isfinite(x) and x > 0 for x in shares.values())


def _attributes(attributes: Any) -> list[str]:
    if not isinstance(attributes, Mapping) or not all(isinstance(values, Mapping) for values in attributes.values()):
        return ["attributes must be a mapping of names, each to a mapping of groups to values"]
    if GROUP in attributes:
        return [f"attributes: {GROUP} is each group by itself, and cannot be another"]
    texts = all(isinstance(value, str) for values in attributes.values() for value in values.values())
    return [] if texts else ["attributes: the values must be texts"]
