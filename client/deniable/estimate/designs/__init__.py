"""Classic randomized response designs: estimates from reports collected by hand, or by other software."""

from __future__ import annotations

from deniable.estimate.designs.classic import (
    CategoryDesign,
    Design,
    crosswise,
    forced_categories,
    forced_response,
    kuk,
    mangat,
    matrix_design,
    triangular,
    unrelated_question,
    warner,
)
from deniable.estimate.designs.reports import RowDesigns, category_shares
from deniable.estimate.designs.results import CollectedRow
from deniable.estimate.designs.together import collected_mean, collected_pair, independent_answers, pair

__all__ = [
    "CategoryDesign",
    "CollectedRow",
    "Design",
    "RowDesigns",
    "category_shares",
    "collected_mean",
    "collected_pair",
    "crosswise",
    "forced_categories",
    "forced_response",
    "independent_answers",
    "kuk",
    "mangat",
    "matrix_design",
    "pair",
    "triangular",
    "unrelated_question",
    "warner",
]
