"""P-values of several tests at once: as statsmodels has them, and how often something that is not so is found."""

from __future__ import annotations

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from deniable.estimate.limits.multiple_testing import adjusted, benjamini_hochberg, bonferroni, holm


@pytest.mark.parametrize("size", [1, 2, 7, 40])
def test_they_are_those_of_statsmodels(size: int) -> None:
    rng = np.random.default_rng(size)
    p_values = (rng.random(size) ** 3).round(3).tolist()  # some of them equal
    for ours, method in ((bonferroni, "bonferroni"), (holm, "holm"), (benjamini_hochberg, "fdr_bh")):
        assert ours(p_values) == pytest.approx(multipletests(p_values, method=method)[1].tolist(), rel=1e-12)


def test_what_is_no_test_does_not_count_and_a_mirror_image_counts_once() -> None:
    assert holm([0.01, None, 0.04]) == [0.02, None, 0.04]
    assert benjamini_hochberg([None, None]) == [None, None] == bonferroni([None, None])
    once = adjusted([0.01, 0.01, 0.04], twins=[0, 0, 2])
    assert once[0] == once[1] == (0.01, 0.02, 0.02, 0.02)
    assert adjusted([0.01, 0.01, 0.04])[0] == (0.01, 0.03, 0.03, 0.015), "the control: as if there were three"


def test_of_true_hypotheses_any_is_rejected_as_seldom_as_they_say() -> None:
    """4,000 families of ten tests, three of them of what is so: 5% is known to 0.35%. The control, unadjusted, finds far more."""
    rng = np.random.default_rng(9)
    wrong = {"alone": 0.0, "holm": 0.0, "bh": 0.0}
    p_values = rng.random((4000, 10))
    p_values[:, :3] **= 8
    for family in p_values.tolist():
        for name, ours in (("alone", list), ("holm", holm), ("bh", benjamini_hochberg)):
            rejected = [p < 0.05 for p in ours(family)]
            false = sum(rejected[3:])
            wrong[name] += false / sum(rejected) if name == "bh" and false else bool(false)
    assert wrong["holm"] / 4000 < 0.062
    assert 0.025 < wrong["bh"] / 4000 < 0.046  # 5% times the part of the hypotheses that hold, 7 of 10
    assert wrong["alone"] / 4000 > 0.25
