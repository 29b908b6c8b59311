"""Regression where the outcome, the predictors or both were perturbed."""

from __future__ import annotations

from deniable.estimate.regression.variable import perturbed

__all__ = ["perturbed"]
