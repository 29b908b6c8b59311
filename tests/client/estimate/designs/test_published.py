"""Surveys whose counts and estimates were published with R's packages: figure by figure, and where ours differ, why.

The packages are under the GPL, so their data sets are not here: only counts of answers, and the figures that the sources print.
"""

from __future__ import annotations

import math
from typing import Any

import pytest

from deniable.estimate import collected, designs, indirect, share
from deniable.estimate.indirect import Group

# RRTCS 0.0.4, the data set HorvitzDataRealSurvey and the output in the vignette: yes of 710 students drawn from 10,777, who were asked the
# sensitive question or, by a coin, one of this prevalence; estimate, variance, limits
STUDENTS = {
    "copied": (328, 1 / 12, 0.8406103, 0.001389716, 0.767545, 0.9136756),
    "fought": (180, 1 / 10, 0.4070423, 0.001045196, 0.3436776, 0.4704069),
    "bullied": (280, 20 / 30, 0.1220657, 0.001337415, 0.05038851, 0.1937429),
    "bullying": (81, 1 / 10, 0.128169, 0.0005597858, 0.08179667, 0.1745414),
    "drug": (164, 10 / 30, 0.1286385, 0.000991658, 0.06691805, 0.1903589),
    "sex": (53, 1 / 12, 0.06596244, 0.000383954, 0.02755745, 0.1043674),
}


@pytest.mark.parametrize("question", STUDENTS)
def test_the_students_of_rrtcs(question: str) -> None:
    """The variance is theirs but for n where they have n - 1; their limits are Wald's, ours bend away from 0 and 1."""
    yes, prevalence, estimate, variance, low, high = STUDENTS[question]
    reports = [1] * yes + [0] * (710 - yes)
    found = collected(reports, designs.unrelated_question(0.5, prevalence), population=10_777).rows[0]
    assert found.estimate == pytest.approx(estimate, abs=5e-8)
    assert found.std_error == pytest.approx(math.sqrt(variance * 709 / 710), rel=1e-4)
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.006)
    plain = collected(reports, designs.unrelated_question(0.5, prevalence)).rows[0]
    assert plain.std_error > found.std_error  # who draws 7% of all knows a little more than who draws from everybody


def test_the_minarets_of_rrreg() -> None:
    """D. Heck and M. Moshagen, J. Stat. Software 85 (2018), section 4.1; errors with n - 1 there, n here."""
    found = indirect.stochastic_lie_detector(Group(373, 564, 2 / 12), Group(398, 692, 10 / 12))
    assert found["yes"].estimate == pytest.approx(0.870695, abs=5e-7)
    assert found["honest among them"].estimate == pytest.approx(0.635806, abs=5e-7)
    assert found["yes"].std_error == pytest.approx(0.041118, rel=1.1e-3)
    assert found["honest among them"].std_error == pytest.approx(0.017344, rel=1.1e-3)
    direct = share(158, 365, q0=0, q1=1)  # asked outright: .43 (.03)
    assert (round(direct.estimate, 2), round(direct.std_error, 2)) == (0.43, 0.03)


def test_the_made_up_survey_of_rrregs_vignette() -> None:
    """Warner's design with p = 1/6, 1,000 respondents: .300500 (.022874), which is 633 yes; n - 1 there, n here."""
    found = collected([1] * 633 + [0] * 367, designs.warner(1 / 6)).rows[0]
    assert found.estimate == pytest.approx(0.300500, abs=5e-7)
    assert found.std_error == pytest.approx(0.022874 * math.sqrt(999 / 1000), abs=5e-7)


def test_the_anchored_survey_of_cwise() -> None:
    """cWise's page, bc.est on its cmdata (made up): all digits of the estimates; the error there is a bootstrap of 200 draws."""
    found = indirect.anchored_crosswise([[1116, 311], [425, 148]], 0.15, 0.15)
    naive, corrected, attentive = found["uncorrected"], found["yes"], found["attentive"]
    assert [round(one.estimate, 4) for one in (naive, corrected, attentive)] == [0.1950, 0.1054, 0.7729]
    assert round(naive.std_error, 4) == 0.0144
    assert (naive.low, naive.high) == pytest.approx((0.1667, 0.2233), abs=6e-4)
    assert corrected.std_error == pytest.approx(0.0208, rel=0.1)
    assert (corrected.low, corrected.high) == pytest.approx((0.0649, 0.1394), abs=0.01)


CONTROL, BLACK_FAMILY = (8, 132, 222, 227), (19, 123, 229, 219, 34)
"""The National Race and Politics Survey of 1991, in R's package list: how many people are angry at 0, 1, .. of 3 items, and of 4."""


def test_the_list_experiment_of_1991() -> None:
    """The package's own tests (test-ictreg.R) have .068 (.050), and 2.134 for the mean of the other items."""
    found = indirect.list_experiment(CONTROL, BLACK_FAMILY)
    assert round(found["yes"].estimate, 3) == 0.068
    assert round(found["yes"].std_error, 3) == 0.050
    assert sum(i * people for i, people in enumerate(CONTROL)) / sum(CONTROL) == pytest.approx(2.134, abs=5e-4)


def test_plagiarism_by_the_crosswise_model() -> None:
    """310 students, counts as in R's GLMMRR. The summary of E. Coutts et al., J. Econ. Stat. 231 (2011): "up to 22 percent" copied,
    and "about 1 to 2 percent" handed in the paper of somebody else."""

    def crosswise(same: int) -> Any:
        return collected([1] * same + [0] * (310 - same), designs.crosswise(0.25)).rows[0]

    assert crosswise(198).estimate == pytest.approx(0.2226, abs=5e-5)
    assert 0.01 < crosswise(230).estimate < 0.02
