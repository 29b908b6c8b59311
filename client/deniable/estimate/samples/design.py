"""Sampling design of the groups that have reports: strata, clusters and weights."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from deniable.errors import EstimateError
from deniable.estimate.arrays import FloatArray
from deniable.estimate.moments import applicability
from deniable.estimate.samples import replicate_weights
from deniable.estimate.samples.raking import Margin
from deniable.estimate.samples.sample import Sample
from deniable.survey import Survey
from deniable.survey.question import Question


class SampleDesign:
    """The design of a sample, for the groups of the survey that have reports.

    Attributes:
        groups: The groups with reports.
        sizes: How many reports each has, shape (G,).
        strata, clusters: The stratum and the cluster of each group, numbers from 0.
        parts: The sampled part of each stratum's population, 0 if unknown.
        weights: How many people one report represents, by group.
        replicates: The factors of each group's reports, shape (replicates, G).
        df: Degrees of freedom of the errors: clusters less strata, where clusters of different sizes count as fewer and a stratum with
            all of its clusters as none; infinite if people were drawn one by one, or all clusters were.
        wider: The factor by which the errors tend to be too small, for this reason.
    """

    def __init__(self, survey: Survey, sizes: Mapping[str, int], sample: Sample) -> None:
        """Applies a sample to the groups that were drawn.

        Raises:
            EstimateError: There are too few clusters or people, or more than the population has.
        """
        self.survey, self.sample = survey, sample
        self.groups = [group for group in survey.groups if sizes.get(group)]
        self._every = len({sample.value(sample.clusters, group) for group in sizes}) if sample.clusters else 0
        self.sizes = np.array([sizes[group] for group in self.groups], dtype=np.float64)
        self.strata, self.clusters = self._classes(sample.strata), self._classes(sample.clusters)
        self._require_two()
        self.parts, self.weights = self._of_population()
        self.replicates = replicate_weights.factors(sample.replicates, self.groups)
        self.df, self.wider = self._certainty()

    @property
    def known_question(self) -> Question | None:
        """The question whose shares the sample takes as known, or None."""
        if not self.sample.question:
            return None
        item = self.survey.record.field(self.sample.question).item
        applicability.require_shares("known shares", item)
        return item

    def margins(self) -> list[Margin]:
        """Returns the known margins, over cells: groups, and within each the answers to the question with known shares, if there is one."""
        side = self.known_question.k if self.known_question else 1
        return [self._margin(name, side) for name in self.sample.margins]

    @property
    def whole(self) -> NDArray[np.bool_]:
        """Whether each stratum has reports of its whole population, shape (strata,)."""
        return self.parts >= 1

    @property
    def endless(self) -> tuple[float, float]:
        """`df` and `wider` of errors that do not use the population's size."""
        return self._as_if_alike(np.zeros(len(self.parts), dtype=np.bool_)) if self.sample.clusters else (self.df, self.wider)

    @property
    def words(self) -> str:
        """The assumptions of the figures, in one line."""
        sample, parts = self.sample, ["people drawn one by one"]
        if sample.clusters:
            sampled = int(self.clusters.max()) + 1
            missing = f" and {self._every - sampled} without reports" if self._every > sampled else ""
            by_t = f"t with {self.df:.3g} degrees of freedom"
            errors = "the whole population, so that only the coins differ" if self.whole.all() else by_t
            parts = [f"{sampled} clusters ({sample.clusters}){missing}, {errors}"]
        if sample.replicates:
            parts = [f"{len(sample.replicates)} replicate weights, t with {self.df:.3g} degrees of freedom"]
        parts += [f"strata by {sample.strata}"] if sample.strata else []
        parts += ["a population of known size"] if sample.population is not None else []
        parts += [f"weighted to the known {' and '.join(sample.margins)}"] if sample.margins else []
        return ", ".join(parts)

    def _margin(self, name: str, side: int) -> Margin:
        numbers = self.sample.margins[name]
        if self.known_question and name == self.known_question.id:
            names, classes = list(self.known_question.categories), np.tile(np.arange(side), len(self.groups))
        else:
            names = sorted(numbers)
            classes = np.repeat([names.index(label) for label in self._labels(name)], side)
        shares = np.array([float(numbers[each]) for each in names])
        return Margin(name, classes, shares / shares.sum(), names)

    def _classes(self, attribute: str | None) -> NDArray[np.intp]:
        if attribute is None:
            return np.zeros(len(self.groups), dtype=np.intp)
        return np.unique(self._labels(attribute), return_inverse=True)[1]

    def _labels(self, attribute: str) -> list[str]:
        return [self.sample.value(attribute, group) for group in self.groups]

    def _strata_names(self) -> list[str]:
        return [""] if self.sample.strata is None else sorted(set(self._labels(self.sample.strata)))

    def _sampled_units(self) -> FloatArray:
        """Returns how many clusters, or people, have reports in each stratum."""
        if self.sample.clusters is None:
            return np.bincount(self.strata, self.sizes).astype(np.float64)
        return np.array([len(np.unique(self.clusters[self.strata == each])) for each in np.unique(self.strata)], dtype=np.float64)

    def _require_two(self) -> None:
        units = "reports" if self.sample.clusters is None else "clusters with reports"
        for name, sampled in zip(self._strata_names(), self._sampled_units(), strict=True):
            if sampled < 2:
                where = f"stratum {name}" if name else "a sample"
                raise EstimateError(f"sample: {where} must have at least 2 {units}, got {sampled:g}: one says nothing of how they differ")

    def _certainty(self) -> tuple[float, float]:
        if not len(self.replicates):
            return (math.inf, 1.0) if self.sample.clusters is None else self._as_if_alike(self.whole)
        df = replicate_weights.degrees_of_freedom(self.replicates)
        if df < 1:
            raise EstimateError(
                "sample: replicates must differ between the groups that have reports: these say nothing of how figures vary"
            )
        return df, 1.0

    def _as_if_alike(self, whole: NDArray[np.bool_]) -> tuple[float, float]:
        """Returns degrees of freedom, and the factor by which errors are too small on average, for cluster means that differ alike.

        With w a cluster's part of its stratum, a stratum counts as 1 / sum w^2 clusters: the number of clusters, if all are alike
        (A. Carter, K. Schnepel and D. Steigerwald, Rev. Econ. Stat. 99 (2017)). A cluster pulls the estimate its own way, so the square of
        its distance is too small by 1 - 2 w + sum w^2 (the leverage of R. Bell and D. McCaffrey, Survey Methodology 28 (2002)). A stratum
        with all of its clusters has no error but its coins', whose variance is known: it adds nothing, and without any other stratum the
        degrees of freedom are infinite.

        Raises:
            EstimateError: The clusters count as fewer than 2 for each stratum.
        """
        mass, df, true, observed = self.weights * self.sizes, 0.0, 0.0, 0.0
        if whole.all():
            return math.inf, 1.0
        for stratum in np.flatnonzero(~whole).tolist():
            inside = self.strata == stratum
            sums = np.bincount(self.clusters[inside], mass[inside])
            parts = sums[sums > 0] / sums.sum()
            squares, m = float((parts**2).sum()), len(parts)
            df += 1 / squares - 1 if m > 2 else 1  # two have one difference, whatever their sizes
            true += sums.sum() ** 2 * squares
            observed += sums.sum() ** 2 * m / (m - 1) * float((parts**2 * (1 - 2 * parts + squares)).sum())
        if df < 1:
            raise EstimateError("sample: one cluster is most of it: sizes so different count as fewer than 2 clusters for each stratum")
        return df, max(1.0, math.sqrt(true / observed))

    def _of_population(self) -> tuple[FloatArray, FloatArray]:
        population, names, sampled = self.sample.population, self._strata_names(), self._sampled_units()
        if population is None:
            return np.zeros(len(names)), np.ones(len(self.groups))
        if isinstance(population, Mapping) and (missing := sorted(set(population) - set(names))):
            raise EstimateError(f"sample: stratum {missing[0]} has no reports to represent its {population[missing[0]]:,}")
        there = np.array([population[name] if isinstance(population, Mapping) else population for name in names], dtype=np.float64)
        for name, most, here in zip(names, there, sampled, strict=True):
            if here > most:
                what = f"of {name} " if name else ""
                raise EstimateError(f"sample: the population {what}must be at least the {here:,.0f} that were drawn, got {most:,.0f}")
        return sampled / there, (there / sampled)[self.strata]
