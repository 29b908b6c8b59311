"""Coverage of a regression on perturbed answers, beside a fit that ignores the noise.

For each coefficient: the truth; mean, spread, mean standard error and coverage of the private fit; mean and coverage of the naive fit,
which takes the reported bits for answers; and the mean of the fit to the true answers, which no server can see.
Run: make bench NAME=regression ARGS="--runs 1000 --n 5000 --epsilon 2 --scenario binary --fair"
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from deniable.device.randomize import randomize
from deniable.errors import EstimateError
from deniable.estimate import PerturbedVariable, regress
from deniable.mechanism import Channel

YES_NO = ("yes", "no")
Simulated = tuple[str, list[float], pd.DataFrame | None, dict[str, tuple[NDArray[np.int64], tuple[str, ...]]], dict[str, Any]]
"""Formula, true coefficients, public columns, categories and labels of each perturbed variable, options of `regress`."""


def logistic(eta: NDArray[np.float64]) -> NDArray[np.float64]:
    return 1 / (1 + np.exp(-eta))


def yes(holds: NDArray[np.bool_]) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    return np.where(holds, 0, 1), YES_NO


def binary(rng: np.random.Generator, n: int) -> Simulated:
    """A binary outcome and two binary predictors that go together, all perturbed."""
    a = rng.random(n) < 0.4
    b = rng.random(n) < np.where(a, 0.6, 0.3)
    y = rng.random(n) < logistic(-1 + 0.8 * a - 0.6 * b)
    return "y ~ a + b", [-1, 0.8, -0.6], None, {"y": yes(y), "a": yes(a), "b": yes(b)}, {}


def public(rng: np.random.Generator, n: int) -> Simulated:
    """A binary outcome, a perturbed predictor, and a public number and group that the perturbed one depends on."""
    age, town = rng.normal(size=n), rng.random(n) < 0.5
    a = rng.random(n) < logistic(-0.3 + 0.8 * age - 0.5 * town)
    y = rng.random(n) < logistic(-0.5 + 0.9 * a - 0.4 * age + 0.3 * town)
    data = pd.DataFrame({"age": age, "town": town.astype(float)})
    return "y ~ a + age + town", [-0.5, 0.9, -0.4, 0.3], data, {"y": yes(y), "a": yes(a)}, {}


def multinomial(rng: np.random.Generator, n: int) -> Simulated:
    """An outcome of three categories and a predictor of four, both perturbed; the formula takes the predictor as a number."""
    a = rng.choice(4, n, p=[0.3, 0.3, 0.25, 0.15])
    eta = np.column_stack([np.zeros(n), -0.5 + 0.5 * a, 0.5 - 0.4 * a])
    y = (rng.gumbel(size=(n, 3)) + eta).argmax(axis=1)
    return "y ~ a", [-0.5, 0.5, 0.5, -0.4], None, {"y": (y, ("none", "one", "two")), "a": (a, ("0", "1", "2", "3"))}, {}


def linear(rng: np.random.Generator, n: int) -> Simulated:
    """The mean of an outcome of five scores, given two perturbed binary predictors."""
    a = rng.random(n) < 0.4
    b = rng.random(n) < np.where(a, 0.6, 0.3)
    y = rng.binomial(4, 0.4 + 0.2 * a - 0.1 * b)
    return "y ~ a + b", [1.6, 0.8, -0.4], None, {"y": (y, tuple("01234")), "a": yes(a), "b": yes(b)}, {"model": "linear"}


SCENARIOS: dict[str, Callable[[np.random.Generator, int], Simulated]] = {
    "binary": binary,
    "public": public,
    "multinomial": multinomial,
    "linear": linear,
}


def variables(simulated: Simulated, epsilon: float, rng: np.random.Generator) -> tuple[dict[str, PerturbedVariable], ...]:
    """The perturbed variables; the same bits taken for answers; the true answers."""
    private, naive, true = {}, {}, {}
    for name, (answers, labels) in simulated[3].items():
        k = len(labels)
        channel, one_bit = Channel.for_epsilon(epsilon, k), np.eye(k, dtype=np.bool_)
        bits = randomize(channel, answers, lambda count: rng.integers(0, 1 << 32, count, dtype=np.uint32))
        scores = tuple(map(float, labels)) if labels[0].isdigit() else None
        private[name] = PerturbedVariable(bits, channel, labels, scores)
        first = one_bit[np.where(bits, rng.random(bits.shape), 0).argmax(axis=1)]  # one of the d reported categories
        naive[name] = PerturbedVariable(first, np.eye(k), labels, scores)
        true[name] = PerturbedVariable(one_bit[answers], np.eye(k), labels, scores)
    return private, naive, true


def table(name: str, runs: int, n: int, epsilon: float, seed: int = 20240601) -> pd.DataFrame:
    """One line per coefficient, over `runs` simulated surveys."""
    rng = np.random.default_rng(seed)
    fits: dict[str, list[NDArray[np.float64]]] = {"private": [], "naive": [], "true": []}
    refused = 0
    for _ in range(runs):
        simulated = SCENARIOS[name](rng, n)
        formula, truth, data, _, options = simulated
        for kind, perturbed in zip(fits, variables(simulated, epsilon, rng), strict=True):
            try:
                fit = regress(formula, data, perturbed, **options)
            except EstimateError:
                refused += 1
                continue
            limits = fit.conf_int().to_numpy()
            covers = (limits[:, 0] <= truth) & (truth <= limits[:, 1])
            fits[kind].append(np.column_stack([fit.params, fit.bse, covers]))
    private, naive, true = (np.array(fits[kind]) for kind in fits)
    return pd.DataFrame(
        {
            "truth": truth,
            "mean": private[:, :, 0].mean(axis=0),
            "spread": private[:, :, 0].std(axis=0, ddof=1),
            "std err": private[:, :, 1].mean(axis=0),
            "coverage": private[:, :, 2].mean(axis=0),
            "naive mean": naive[:, :, 0].mean(axis=0),
            "naive coverage": naive[:, :, 2].mean(axis=0),
            "true mean": true[:, :, 0].mean(axis=0),
            "true spread": true[:, :, 0].std(axis=0, ddof=1),
            "refused": refused,
        },
        index=fit.params.index,
    )


def fair(epsilon: float, seed: int = 20240601) -> pd.DataFrame:
    """Fair's survey of 6,366 women: affair, religious and children perturbed, age public."""
    import statsmodels.api as sm

    source = sm.datasets.fair.load_pandas().data
    rng = np.random.default_rng(seed)
    answers = {
        "affair": yes((source["affairs"] > 0).to_numpy()),
        "religious": yes((source["religious"] >= 3).to_numpy()),
        "children": yes((source["children"] > 0).to_numpy()),
    }
    data = pd.DataFrame({"age": source["age"].to_numpy()})
    simulated: Simulated = ("affair ~ religious + children + age", [], data, answers, {})
    kinds = zip(("private", "naive", "true"), variables(simulated, epsilon, rng), strict=True)
    fits = {kind: regress(simulated[0], data, perturbed) for kind, perturbed in kinds}
    return pd.DataFrame(
        {f"{kind} {what}": getattr(fit, part) for kind, fit in fits.items() for what, part in [("coef", "params"), ("se", "bse")]}
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--n", type=int, default=5000)
    parser.add_argument("--epsilon", type=float, default=2.0, help="of each question")
    parser.add_argument("--scenario", choices=SCENARIOS, action="append")
    parser.add_argument("--fair", action="store_true", help="Fair's survey only")
    arguments = parser.parse_args()
    for name in [] if arguments.fair else arguments.scenario or SCENARIOS:
        start = time.perf_counter()
        found = table(name, arguments.runs, arguments.n, arguments.epsilon)
        print(f"{name}: {arguments.runs:,} surveys of {arguments.n:,} at epsilon {arguments.epsilon:g} a question")
        print(found.to_string(float_format=lambda value: f"{value:.4f}"), f"\n{time.perf_counter() - start:.0f} s\n", flush=True)
    print(
        f"Fair's survey at epsilon {arguments.epsilon:g} a question\n{fair(arguments.epsilon).to_string(float_format=lambda v: f'{v:.3f}')}"
    )


if __name__ == "__main__":
    main()
