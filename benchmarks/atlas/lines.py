"""The lines of the atlas, and the public names without one, each with the reason."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.atlas import by_hand, clusters, groups_of_people, one_question, two_questions, whole_reports
from benchmarks.atlas.cell import Line

MODULES = (one_question, two_questions, groups_of_people, clusters, whole_reports, by_hand)

NO_LIMITS = {
    "analyse": "gives all figures of one survey, which have lines of their own",
    "effective_size": "a number of the weights alone",
    "check_range": "an alarm on purpose rarer than 1 of 100, whatever people answer",
    "made_up": "an alarm on purpose rarer than 1 of 100; benchmarks/made_up.py measures it",
    "worst_case_shift": "a bound, from the design alone",
    "worst_case_shift_of_mean": "a bound, from the design alone",
    "crosswise": "a design",
    "forced_categories": "a design",
    "forced_response": "a design",
    "kuk": "a design",
    "mangat": "a design",
    "pair": "a design",
    "matrix_design": "a design",
    "triangular": "a design",
    "unrelated_question": "a design",
    "warner": "a design",
    "Analysis.perturbed": "the reports of each question, for a model",
    "Analysis.conf_int": "the limits of `Analysis.results`",
    "Analysis.to_frame": "a form of `Analysis.results`",
    "Analysis.plot": "a chart of `Analysis.results`",
    "Analysis.save_chart": "a chart of `Analysis.results`",
    "Analysis.records": "a form of `Analysis.results`",
    "Analysis.tables": "a form of `Analysis.results`",
    "Analysis.to_dict": "a form of `Analysis.results`",
    "Crosstab.axis": "a place in a table",
    "Crosstab.cells": "places in a table",
    "Crosstab.covariance_of": "an error, of which figures of a table are made",
    "Crosstab.few_name": "a rule of the limits of a table",
    "Crosstab.margin": "a table of one question, whose cells are limited as those of any",
    "Crosstab.records": "a form of a table",
    "Crosstab.reports": "a number of reports",
    "Crosstab.tables": "a form of a table",
    "Crosstab.too_few": "a warning",
    "Crosstab.variance_of": "an error, of which figures of a table are made",
}
"""Public names without limits, or without limits of their own."""

ELSEWHERE = {
    "among.py": ("Analysis.among",),
    "classic_designs.py": (
        *("anchored_crosswise", "cheater_detection", "extended_crosswise", "list_experiment", "network_scale_up", "repeated_kuk"),
        *("scrambled_mean", "stochastic_lie_detector", "unrelated_question_in_two_groups"),
    ),
}
"""Other programs that measure coverage, with the public names that they measure."""


def lines() -> Iterator[Line]:
    """Yields every line, in the order of the page."""
    for module in MODULES:
        yield from module.lines()
