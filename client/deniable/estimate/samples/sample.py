"""How the people of a survey were drawn, and what is known of the population: one value, given to all estimates."""

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


@dataclass(frozen=True)
class Sample:
    """How people were drawn. Whatever is left out: everybody was drawn alone, from a large population, and stands for as many people.

    clusters: the attribute whose values were drawn, and then the people in them: "group", where the groups are clinics or schools.
    strata: the attribute whose values were sampled one by one.
    population: how many there are of what was drawn, in each stratum, or in all: clusters where there are such, else people. That many are
    stood for, and the answers' error shrinks as more of them are in the sample; the coins' error does not.
    margins: known shares, or numbers, of the values of attributes, and of the options of one question: the reports are weighted so that
    they have these (post-stratification, or raking where there are several).
    attributes: what is known of the groups, a value for each: {"region": {"Clinic 1": "north", ..}}. "group" is always one.
    replicates: replicate weights, instead of all the above but attributes: of each replicate (jackknife, bootstrap, balanced repeated
    replication) the number by which each group's reports are multiplied in it. scale: what the squared distances of the replicates'
    figures from their mean are multiplied by, one number or one for each: (m - 1) / m of a jackknife of m clusters, 1 / R of a bootstrap
    of R replicates.

    Raises EstimateError with all that is wrong in it.
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
        """The inverse of `to_dict`, of which any part may be left out. Raises EstimateError, naming an unknown key by its rule only."""
        present = [each.name for each in fields(cls)]
        if not isinstance(source, Mapping) or not set(source) <= set(present):
            raise EstimateError(f"a sample must be a mapping with none but the keys {', '.join(present)}")
        return cls(**source)

    @classmethod
    def from_text(cls, text: str) -> Sample:
        """Reads YAML 1.2 or JSON. Raises EstimateError for what is neither, and as above."""
        try:
            result = YAML(typ="safe", pure=True).load(text)
        except YAMLError:
            raise EstimateError("a sample's file must be YAML or JSON, with no key twice in one mapping") from None
        return cls.from_dict(result)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @property
    def question(self) -> str | None:
        """The question whose shares are among the margins, if there is one."""
        return next((name for name in self.margins if name != GROUP and name not in self.attributes), None)

    def value(self, attribute: str, group: str) -> str:
        """The value of an attribute for a group."""
        return group if attribute == GROUP else self.attributes[attribute][group]

    def check(self, survey: Survey, groups: Collection[str]) -> None:
        """Raises EstimateError with all that does not fit these groups of the survey: attributes, values and questions that they lack."""
        items = {item.id: item for item in survey.items}
        wrong = [f"attributes: {name} must have a value for each of the groups" for name in self._incomplete(groups)]
        definition = [name for name in self.margins if name != GROUP and name not in self.attributes]
        wrong += [
            f"margins: {name!r} is neither an attribute nor a question of survey {survey.id}" for name in definition if name not in items
        ]
        if len(definition) > 1:
            wrong.append("margins: of one question at most, since a tally has pairs of answers only; got " + " and ".join(definition))
        for name, shares in self.margins.items():
            here = items[name].categories if name in items and name in definition else self._known(groups, name)
            if here is not None and set(here) != set(shares):
                wrong.append(f"margins: {name} must have a number for each of {', '.join(sorted(set(here))[:8])}, and for nothing else")
        strata = self._known(groups, self.strata)
        if isinstance(self.population, Mapping) and strata and strata != set(self.population):
            wrong.append(f"population: a number for each of {', '.join(sorted(strata)[:8])}, and for nothing else")
        _raise([*wrong, *self._straddling(groups), *replicate_weights.misfits(self.replicates, groups)])

    def _incomplete(self, groups: Collection[str]) -> list[str]:
        return [name for name, values in self.attributes.items() if not set(groups) <= set(values)]

    def _known(self, groups: Collection[str], name: str | None) -> set[str] | None:
        """An attribute's values, None where they are not known."""
        if name is None or (name != GROUP and (name not in self.attributes or name in self._incomplete(groups))):
            return None
        return {self.value(name, group) for group in groups}

    def _straddling(self, groups: Collection[str]) -> list[str]:
        """A cluster that lies in two strata."""
        if self._known(groups, self.clusters) is None or self._known(groups, self.strata) is None:
            return []
        pairs = {(self.value(str(self.clusters), group), self.value(str(self.strata), group)) for group in groups}
        return [] if len(pairs) == len({cluster for cluster, _ in pairs}) else ["clusters: each must lie in one stratum"]


def _raise(wrong: list[str]) -> None:
    if wrong:
        raise EstimateError("sample: " + "; ".join(wrong))


def _names(sample: Sample) -> list[str]:
    """What is wrong with the attributes that the clusters and the strata are."""
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
    return [f"margins: those of {name} must be finite numbers above 0" for name, shares in margins.items() if not _positive(shares)]


def _positive(shares: Mapping[str, Any]) -> bool:
    return all(isinstance(x, int | float) and not isinstance(x, bool) and math.isfinite(x) and x > 0 for x in shares.values())


def _attributes(attributes: Any) -> list[str]:
    if not isinstance(attributes, Mapping) or not all(isinstance(values, Mapping) for values in attributes.values()):
        return ["attributes must be a mapping of names, each to a mapping of groups to values"]
    if GROUP in attributes:
        return [f"attributes: {GROUP} is each group by itself, and cannot be another"]
    texts = all(isinstance(value, str) for values in attributes.values() for value in values.values())
    return [] if texts else ["attributes: the values must be texts"]
