"""Regression with a perturbed outcome, perturbed predictors or both."""

from __future__ import annotations

from deniable.estimate.regression.variable import perturbed

__all__ = ["perturbed"]
