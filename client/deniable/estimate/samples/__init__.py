"""Sampling designs: clusters, strata, population sizes and known margins of the groups, and their effect on the errors."""
