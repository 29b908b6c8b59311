"""Coverage of the intervals of all regression models, and false alarms of their tests.

Links, ordered outcomes, weights, clusters, people who did not answer, and questions asked of some. For each coefficient and average
marginal effect: truth, mean of the estimates and its simulation error, coverage of 95% intervals. For each model: the tests of a predictor
without effect, and of the model as a whole.
Run: make bench NAME=models ARGS="--runs 1000 --n 4000 --epsilon 2 --scenario probit"
With --bent: coverage by sandwich (and observed) errors where a model is right and where the truth is nonlinear, of each model's least
covered coefficient. The target is the model nearest to the truth, for these coins.
"""

from __future__ import annotations

import argparse
import itertools
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit, ndtr, ndtri

from deniable.device.randomize import randomize
from deniable.errors import EstimateError
from deniable.estimate import PerturbedVariable, Regression, regress
from deniable.estimate.regression.fitted import Likelihood
from deniable.estimate.regression.likelihood import maximize, scores
from deniable.mechanism import Channel

LEVELS = ("never", "seldom", "often", "always")
_Floats = NDArray[np.float64]


@dataclass
class Survey:
    """A survey as it was answered. answers: categories, by number, and their labels. truth: of each coefficient. effects: of average
    marginal effects, by variable and change. none: a predictor that has no effect."""

    formula: str
    answers: dict[str, tuple[NDArray[np.int64], tuple[str, ...]]]
    truth: dict[str, float]
    options: dict[str, Any] = field(default_factory=dict)
    data: pd.DataFrame | None = None
    effects: dict[tuple[str, str], float] = field(default_factory=dict)
    none: str = "b"
    asked: dict[str, NDArray[np.bool_]] = field(default_factory=dict)

    def perturbed(self, epsilon: float, rng: np.random.Generator) -> dict[str, PerturbedVariable]:
        """What their devices would have sent."""
        return {name: self._told(name, epsilon, rng) for name in self.answers}

    def _told(self, name: str, epsilon: float, rng: np.random.Generator) -> PerturbedVariable:
        answers, labels = self.answers[name]
        channel = Channel.for_epsilon(epsilon, len(labels))
        bits = randomize(channel, answers, lambda count: rng.integers(0, 1 << 32, count, dtype=np.uint32))
        missing = "no answer" if "no answer" in labels else None
        if (asked := self.asked.get(name)) is not None:
            bits = bits & asked[:, None]
        return PerturbedVariable(bits, channel, labels, missing=missing, was_asked=asked)


def yes(holds: NDArray[np.bool_], silent: NDArray[np.bool_] | None = None) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    answers = np.where(holds, 0, 1)
    return (answers, ("yes", "no")) if silent is None else (np.where(silent, 2, answers), ("yes", "no", "no answer"))


def two(rng: np.random.Generator, n: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Two answers that go together."""
    a = rng.random(n) < 0.4
    return a, rng.random(n) < np.where(a, 0.6, 0.3)


def averaged(at: float, spread: float) -> float:
    """The mean chance where log odds are normal about `at`."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    return float(weights @ expit(at + spread * nodes) / weights.sum())


def probit(rng: np.random.Generator, n: int) -> Survey:
    (a, b), y = two(rng, n), rng.random(n)
    answers = {"y": yes(y < ndtr(-0.5 + 0.6 * a)), "a": yes(a), "b": yes(b)}
    effect = {("a", "yes against no"): float(ndtr(0.1) - ndtr(-0.5))}
    return Survey("y ~ a + b", answers, {"Intercept": -0.5, "a[T.yes]": 0.6, "b[T.yes]": 0.0}, {"model": "probit"}, effects=effect)


def cloglog(rng: np.random.Generator, n: int) -> Survey:
    (a, b), y = two(rng, n), rng.random(n)
    answers = {"y": yes(y < 1 - np.exp(-np.exp(-0.6 + 0.7 * a))), "a": yes(a), "b": yes(b)}
    effect = {("a", "yes against no"): float(np.exp(-np.exp(-0.6)) - np.exp(-np.exp(0.1)))}
    return Survey("y ~ a + b", answers, {"Intercept": -0.6, "a[T.yes]": 0.7, "b[T.yes]": 0.0}, {"model": "cloglog"}, effects=effect)


def ordinal(rng: np.random.Generator, n: int) -> Survey:
    (a, b), age = two(rng, n), rng.normal(size=n)
    y = np.searchsorted([-1.0, 0.2, 1.3], 0.8 * a - 0.4 * age + rng.logistic(size=n))
    truth = {"a[T.yes]": 0.8, "b[T.yes]": 0.0, "age": -0.4, "never | seldom": -1.0, "seldom | often": 0.2, "often | always": 1.3}
    top = [averaged(-1.3 + each, 0.4) for each in (0.0, 0.8)]
    return Survey(
        "y ~ a + b + age",
        {"y": (y, LEVELS), "a": yes(a), "b": yes(b)},
        truth,
        {"model": "ordinal", "covariates": "1"},
        pd.DataFrame({"age": age.round(1)}),
        {("a", "yes against no, always"): top[1] - top[0]},
    )


def weights(rng: np.random.Generator, n: int) -> Survey:
    """Those who say yes are half as likely to be in the sample, and their weights say so: without them the intercept is another."""
    a, b = two(rng, 2 * n)
    y = rng.random(2 * n) < expit(-0.5 + 0.8 * a)
    town = rng.random(2 * n) < np.where(y, 0.7, 0.2)  # public, and who lives there is drawn half as often
    drawn = rng.permutation(np.flatnonzero(rng.random(2 * n) < np.where(town, 0.35, 0.7)))
    answers = {"y": yes(y[drawn]), "a": yes(a[drawn]), "b": yes(b[drawn])}
    data = pd.DataFrame({"weight": np.where(town[drawn], 2.0, 1.0)})
    truth = {"Intercept": -0.5, "a[T.yes]": 0.8, "b[T.yes]": 0.0}
    return Survey("y ~ a + b", answers, truth, {"weights": "weight"}, data, {("a", "yes against no"): float(expit(0.3) - expit(-0.5))})


def clusters(rng: np.random.Generator, n: int) -> Survey:
    """20 clinics whose logits differ by 0.5 (sd); the truth is the model of the mean over all of them."""
    clinic = np.arange(n) % 20
    a, b = two(rng, n)
    own = rng.normal(size=20)[clinic] * 0.5
    y = rng.random(n) < expit(-0.5 + own + 0.8 * a)
    low, high = (averaged(at, 0.5) for at in (-0.5, 0.3))
    truth = {"Intercept": np.log(low / (1 - low)), "b[T.yes]": 0.0}
    truth["a[T.yes]"] = float(np.log(high / (1 - high)) - truth["Intercept"])
    options = {"clusters": "clinic", "covariates": "1"}
    answers = {"y": yes(y), "a": yes(a), "b": yes(b)}
    return Survey("y ~ a + b", answers, truth, options, pd.DataFrame({"clinic": clinic}), {("a", "yes against no"): high - low})


def missing(rng: np.random.Generator, n: int) -> Survey:
    """A tenth to a third do not answer, those with a yes to `a` more often, and the silent are quite other people."""
    a, b = two(rng, n)
    silent_a, silent_y = rng.random(n) < np.where(b, 0.25, 0.1), rng.random(n) < np.where(a, 0.3, 0.1)
    chance = np.where(silent_a, expit(1.5 - 3.0 * b), expit(-0.5 + 0.8 * a))
    answers = {"y": yes(rng.random(n) < chance, silent_y), "a": yes(a, silent_a), "b": yes(b)}
    return Survey("y ~ a + b", answers, {"Intercept": -0.5, "a[T.yes]": 0.8, "b[T.yes]": 0.0})


def missing_linear(rng: np.random.Generator, n: int) -> Survey:
    made = missing(rng, n)
    low, high = float(expit(-0.5)), float(expit(0.3))
    return replace(made, truth={"Intercept": low, "a[T.yes]": high - low, "b[T.yes]": 0.0}, options={"model": "linear"})


def asked(rng: np.random.Generator, n: int) -> Survey:
    """Every device asks two of the three questions."""
    a, b = two(rng, n)
    y = rng.random(n) < expit(-0.5 + 0.8 * a)
    left_out = rng.integers(0, 3, n)
    drawn = {name: left_out != place for place, name in enumerate(("y", "a", "b"))}
    answers = {"y": yes(y), "a": yes(a), "b": yes(b)}
    return Survey("y ~ a", answers, {"Intercept": -0.5, "a[T.yes]": 0.8}, asked=drawn, none="")


SCENARIOS: dict[str, Callable[[np.random.Generator, int], Survey]] = {
    "probit": probit,
    "cloglog": cloglog,
    "ordinal": ordinal,
    "weights": weights,
    "clusters": clusters,
    "missing": missing,
    "missing, linear": missing_linear,
    "asked two of three": asked,
}


@dataclass
class Found:
    """Of a scenario: (truth, estimates, whether their intervals hold it) by name; p-values by test; how many fits were refused."""

    figures: dict[str, tuple[float, list[float], list[bool]]] = field(default_factory=dict)
    tests: dict[str, list[float]] = field(default_factory=dict)
    refused: int = 0

    def add(self, name: str, truth: float, estimate: float, limits: tuple[float, float]) -> None:
        _, estimates, held = self.figures.setdefault(name, (truth, [], []))
        estimates.append(estimate)
        held.append(limits[0] <= truth <= limits[1])

    def table(self) -> pd.DataFrame:
        """A line for each figure: truth, mean, its simulation error, coverage."""
        rows = {
            name: (truth, np.mean(every), np.std(every) / np.sqrt(len(every)), np.mean(held))
            for name, (truth, every, held) in self.figures.items()
        }
        return pd.DataFrame.from_dict(rows, orient="index", columns=["truth", "mean", "error", "coverage"])

    def sizes(self) -> dict[str, float]:
        """How often each test rejects at 5%."""
        return {name: float(np.mean(np.array(p_values) < 0.05)) for name, p_values in self.tests.items()}


def simulated(scenario: str, runs: int, n: int, epsilon: float, seed: int = 20260601) -> Found:
    """So many surveys of n people."""
    rng, found = np.random.default_rng(seed), Found()
    for _ in range(runs):
        survey = SCENARIOS[scenario](rng, n)
        told = survey.perturbed(epsilon, rng)
        try:
            fit = regress(survey.formula, survey.data, told, **survey.options)
        except EstimateError:
            found.refused += 1
            continue
        _look(fit, survey, found)
    return found


def _look(fit: Regression, survey: Survey, found: Found) -> None:
    limits = fit.conf_int()
    for name, truth in survey.truth.items():
        found.add(name, truth, fit.params[name], (limits["low"][name], limits["high"][name]))
    if survey.effects:
        for (name, change, answer), one in fit.average_marginal_effects().rows:
            for which in ((name, change), (name, f"{change}, {answer}")):
                if which in survey.effects:
                    found.add(f"effect of {name}", survey.effects[which], one.estimate, (one.low, one.high))
    tests = {"Wald": fit.wald_test, "likelihood ratio": fit.likelihood_ratio_test} if survey.none else {}
    for name, test in tests.items():
        try:
            found.tests.setdefault(name, []).append(test(survey.none).p_value)
        except EstimateError:
            del found.tests[name]
    try:
        found.tests.setdefault("whole model", []).append(fit.goodness_of_fit().p_value)
    except EstimateError:
        found.tests.pop("whole model")


# --- the truth bends, and the model is straight --------------------------------------------------------------------------

AGES = np.round(ndtri((np.arange(20) + 0.5) / 20), 2)
HAS_A = expit(-0.3 + 0.5 * AGES)


def _cumulative(below: _Floats) -> _Floats:
    return np.diff(below, prepend=0.0, append=1.0, axis=-1)


def _multinomial(eta: _Floats) -> _Floats:
    log = np.stack([np.zeros_like(eta), -0.3 + eta, 0.2 - 0.7 * eta], axis=-1)
    return np.asarray(np.exp(log) / np.exp(log).sum(axis=-1, keepdims=True))


FAMILIES: dict[str, tuple[tuple[str, ...], Callable[[_Floats], _Floats]]] = {
    "logit": (("yes", "no"), lambda eta: _cumulative(expit(eta - 0.5)[..., None])),
    "probit": (("yes", "no"), lambda eta: _cumulative(ndtr(0.6 * eta - 0.3)[..., None])),
    "cloglog": (("yes", "no"), lambda eta: _cumulative(-np.expm1(-np.exp(0.7 * eta - 0.6))[..., None])),
    "ordinal": (LEVELS, lambda eta: _cumulative(expit(np.array([-1.0, 0.2, 1.3]) - eta[..., None]))),
    "multinomial": (("none", "one", "two"), _multinomial),
}
"""Labels of the outcome, and the chances of each for a linear predictor."""


@dataclass(frozen=True)
class Bend:
    """A model of an outcome on a public age and, `with_a`, a perturbed answer; `bend` of the square of age is in the truth alone."""

    model: str
    with_a: bool
    bend: float
    epsilon: float

    @property
    def joint(self) -> _Floats:
        """The true chances of (age, a, outcome)."""
        a = np.array([1.0, 0.0]) if self.with_a else np.zeros(1)
        eta = 0.8 * a - 0.5 * AGES[:, None] + self.bend * AGES[:, None] ** 2 / 2
        have = np.stack([HAS_A, 1 - HAS_A], axis=1) if self.with_a else np.ones((len(AGES), 1))
        return np.asarray(have[..., None] * FAMILIES[self.model][1](eta) / len(AGES))

    def channel(self, name: str) -> Channel:
        return Channel.for_epsilon(self.epsilon, 2 if name == "a" else len(FAMILIES[self.model][0]))

    def kinds(self) -> tuple[Likelihood, _Floats]:
        """What `regress` makes of people of whom each has other reports, one for all that can come; and how likely each of these is."""
        joint, names = self.joint, ("y", "a") if self.with_a else ("y",)
        no_a = [(np.zeros(0, dtype=np.bool_), np.ones(1))]
        told = list(itertools.product(_reports(self.channel("y")), _reports(self.channel("a")) if self.with_a else no_a))
        chances = np.concatenate([np.einsum("xay,a,y->x", joint, of_a, of_y) for (_, of_y), (_, of_a) in told])
        labels = {"y": FAMILIES[self.model][0], "a": ("yes", "no")}
        bits = {name: np.repeat([one[place][0] for one in told], len(AGES), axis=0) for place, name in enumerate(names)}
        answers = {name: PerturbedVariable(bits[name], self.channel(name), labels[name]) for name in names}
        data = pd.DataFrame({"age": np.tile(AGES, len(told)), "weight": chances})
        model = "logit" if self.model == "multinomial" else self.model
        fit = regress(f"y ~ {'a + ' if self.with_a else ''}age", data, answers, model=model, weights="weight").fitted.likelihood
        assert fit is not None
        return fit, fit.terms.count(chances)


def _reports(channel: Channel) -> Iterator[tuple[NDArray[np.bool_], _Floats]]:
    """Every report that can come, and its chance for each true answer."""
    theta, k, d = float(channel.theta), channel.k, channel.d
    for held in itertools.combinations(range(k), d):
        bits = np.isin(np.arange(k), held)
        yield bits, np.where(bits, theta / math.comb(k - 1, d - 1), (1 - theta) / math.comb(k - 1, d))


def bent(one: Bend, runs: int, n: int, seed: int = 20261123) -> tuple[dict[str, float], float]:
    """How often the intervals of so many surveys hold the nearest model, of the coefficient where they do so least; the part refused.

    As `regress` fits, but that formulas are read once for all surveys. The nearest model: of a billion people with each report as often as
    is expected.
    """
    (fit, chances), rng = one.kinds(), np.random.default_rng(seed)
    coefficients, held = fit.reports.coefficients, []
    names, z = [str(place) for place in range(coefficients)], -float(ndtri(0.025))
    nearest = maximize(replace(fit.reports, count=1e9 * chances), names, fit.start).parameters
    for _ in range(runs):
        reports = replace(fit.reports, count=rng.multinomial(n, chances / chances.sum()).astype(float))
        try:
            maximum = maximize(reports, names, fit.start)
        except EstimateError:
            continue
        off, observed, each = np.abs(maximum.parameters - nearest), np.linalg.inv(maximum.at.observed), scores(reports, maximum.parameters)
        sandwich = observed @ ((each * reports.count[:, None]).T @ each) @ observed
        held.append([(off <= z * np.sqrt(np.diagonal(errors)))[:coefficients] for errors in (sandwich, observed)])
    least = np.mean(held, axis=0).min(axis=1) if held else np.full(2, math.nan)
    return {"sandwich": float(least[0]), "observed": float(least[1])}, 1 - len(held) / runs


def bends(runs: int) -> None:
    """A line for each model, its predictors and the truth: coverage by sandwich (observed) errors, and what was refused."""
    for with_a, model, bend in itertools.product((False, True), FAMILIES, (0.0, 0.4)):
        cells = []
        for epsilon, n in itertools.product((1.0, 4.0), (1_000, 5_000)):
            covered, refused = bent(Bend(model, with_a, bend, epsilon), runs, n)
            told = f"{100 * covered['sandwich']:.1f} ({100 * covered['observed']:.1f})"
            cells.append(told + (f", {100 * refused:.1f}% refused" if refused else ""))
        about = ("age and a perturbed answer" if with_a else "age", "bent" if bend else "right")
        print("|", " | ".join((model, *about, *cells)), "|", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--n", type=int, default=4000)
    parser.add_argument("--epsilon", type=float, default=2.0, help="of each question")
    parser.add_argument("--scenario", choices=SCENARIOS, action="append")
    parser.add_argument("--bent", action="store_true", help="how often errors hold of models that are right and that are not; nothing else")
    arguments = parser.parse_args()
    if arguments.bent:
        bends(arguments.runs)
        return
    for name in arguments.scenario or SCENARIOS:
        start = time.process_time()
        found = simulated(name, arguments.runs, arguments.n, arguments.epsilon)
        print(f"{name}: {arguments.runs:,} surveys of {arguments.n:,} at epsilon {arguments.epsilon:g}, {found.refused} refused")
        print(found.table().to_string(float_format=lambda value: f"{value:.4f}"))
        print("rejects at 5%: ", found.sizes(), f"{time.process_time() - start:.0f} s\n", flush=True)


if __name__ == "__main__":
    main()
