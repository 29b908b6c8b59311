"""Moments of the true answers, unbiased, from a tally or from reports; and which estimates each question type allows."""
