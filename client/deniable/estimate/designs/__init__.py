"""Reports collected by hand, or by other software, with the classic designs of randomized response."""

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

__all__ = [
    "CategoryDesign",
    "CollectedRow",
    "Design",
    "RowDesigns",
    "category_shares",
    "crosswise",
    "forced_categories",
    "forced_response",
    "kuk",
    "mangat",
    "matrix_design",
    "triangular",
    "unrelated_question",
    "warner",
]
