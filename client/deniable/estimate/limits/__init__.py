"""Confidence intervals from a count or a normal estimate. Numbers only: no survey and no question is known here."""
