"""Pairs of answers that cannot be are known from the survey; without their noise all else stays right, and is surer."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from tests.client.device.test_branching import every_answer, surveys

from deniable.device.branching import apply_skip_logic
from deniable.estimate.moments import pseudo_answers
from deniable.estimate.moments.structural_zeros import impossible, removal
from deniable.mechanism import Channel
from deniable.survey import Survey


def survey(**show_if: Any) -> Survey:
    """Questions of which those named are shown only after some answers."""
    kinds: dict[str, dict[str, Any]] = {
        "used": {"type": "yes_no"},
        "town": {"type": "choice", "options": ["north", "south", "west"]},
        "drugs": {"type": "multi_choice", "options": ["tea", "coffee"]},
        "often": {"type": "choice", "options": ["daily", "rarely"]},
        "pain": {"type": "scale", "options": ["no", "some", "much"], "scores": [0, 1, 2]},
        "fear": {"type": "scale", "options": ["no", "some", "much"], "scores": [0, 1, 2], "required": False},
        "last": {"type": "yes_no"},
    }
    shown = {name: {"show_if": show_if[name]} if name in show_if else {} for name in kinds}
    for name in show_if:
        kinds[name].pop("required", None)
    questions = [{"id": name, "text": "?", **kind, **shown[name]} for name, kind in kinds.items()]
    return Survey.from_dict({"deniable": 1, "id": "s", "title": "T", "about": "A", "epsilon": 6, "questions": questions})


def cells(found: np.ndarray[Any, Any]) -> list[str]:
    """A row as a text: 0 where a pair cannot be."""
    return ["".join("0" if cell else "." for cell in row) for row in found]


YES, NOT_WEST = {"question": "used", "is": ["yes"]}, {"question": "town", "is": ["north", "south"]}


@pytest.mark.parametrize(
    ("show_if", "pair", "zeros"),
    [
        ({}, ("used", "often"), ["..", ".."]),
        ({"often": YES}, ("used", "often"), ["...", "00."]),
        ({"often": YES}, ("often", "used"), [".0", ".0", ".."]),
        ({"often": YES}, ("town", "often"), ["...", "...", "..."]),
        ({"often": NOT_WEST}, ("town", "often"), ["...", "...", "00."]),
        ({"often": {"all": [YES, NOT_WEST]}}, ("town", "often"), ["...", "...", "00."]),
        ({"often": {"any": [YES, NOT_WEST]}}, ("town", "often"), ["...", "...", "..."]),
        ({"often": YES, "last": {"question": "often", "is": ["daily"]}}, ("used", "last"), ["...", "00."]),
        ({"often": YES, "last": {"question": "often", "is": ["daily"]}}, ("often", "last"), ["...", "00.", "00."]),
        ({"often": {"question": "drugs", "is": ["tea"]}}, ("drugs[tea]", "often"), ["...", "00."]),
        ({"often": {"question": "drugs", "is": ["tea", "coffee"]}}, ("drugs[tea]", "often"), ["...", "..."]),
        ({"drugs": YES}, ("used", "drugs[tea]"), ["...", "00."]),
        ({"last": {"score": ["pain"], "at_least": 2}}, ("pain", "last"), ["00.", "00.", "..."]),
        ({"last": {"score": ["pain", "fear"], "at_least": 4}}, ("pain", "last"), ["00.", "00.", "..."]),
        ({"last": {"score": ["pain", "fear"], "at_least": 2}}, ("pain", "last"), ["...", "...", "..."]),
        ({"last": {"score": ["pain", "fear"], "below": 1}}, ("fear", "last"), ["...", "00.", "00.", "..."]),
        ({"last": {"count": ["pain", "fear"], "is": ["much"], "at_least": 2}}, ("fear", "last"), ["00.", "00.", "...", "00."]),
        ({"fear": YES, "last": {"score": ["fear"], "at_least": 1}}, ("used", "last"), ["...", "00."]),
        ({"last": {"all": [YES, {"score": ["pain"], "below": 1}]}}, ("pain", "last"), ["...", "00.", "00."]),
    ],
)
def test_an_answer_that_the_other_one_hid_cannot_be(show_if: dict[str, Any], pair: tuple[str, str], zeros: list[str]) -> None:
    assert cells(impossible(survey(**show_if), *pair)) == zeros


@pytest.mark.parametrize(
    ("show_if", "pair", "zeros"),
    [
        ({"often": YES}, ("used", "often"), ["..0", "00."]),
        ({"often": {"all": [YES, NOT_WEST]}}, ("town", "often"), ["...", "...", "00."]),
        ({"often": {"any": [YES, NOT_WEST]}}, ("used", "often"), ["..0", "..."]),
        ({"often": {"question": "drugs", "is": ["tea", "coffee"]}}, ("drugs[tea]", "often"), ["..0", "..."]),
    ],
)
def test_where_all_answered_no_answer_cannot_be_either(show_if: dict[str, Any], pair: tuple[str, str], zeros: list[str]) -> None:
    assert cells(impossible(survey(**show_if), *pair, complete=True)) == zeros


ZEROS = np.array([[False, False, False], [True, True, False]])
TRUTH = np.array([[0.1, 0.15, 0.02], [0.0, 0.0, 0.73]])


@pytest.mark.parametrize("epsilon", [0.5, 1.0986, 4.0])
def test_without_their_noise_all_other_pairs_are_right_and_no_less_sure(epsilon: float) -> None:
    channels = [Channel.for_epsilon(epsilon, k) for k in (2, 3)]
    change, plain = removal(TRUTH, channels, ZEROS), pseudo_answers.covariance(TRUTH, channels, 1.0)
    assert change @ TRUTH.ravel() == pytest.approx(TRUTH.ravel())
    found = change @ plain @ change.T
    assert np.diagonal(found)[ZEROS.ravel()] == pytest.approx(0, abs=1e-12)
    zeros = np.flatnonzero(ZEROS.ravel())
    best = plain - plain[:, zeros] @ np.linalg.solve(plain[np.ix_(zeros, zeros)], plain[zeros])
    kept = ~ZEROS.ravel()
    assert (np.diagonal(best)[kept] <= np.diagonal(found)[kept] + 1e-12).all()
    assert (np.diagonal(found)[kept] <= 1.03 * np.diagonal(best)[kept]).all()
    assert np.diagonal(found)[0] < 0.95 * np.diagonal(plain)[0] or epsilon == 4.0


def test_a_subset_of_categories_is_handled_as_one_is() -> None:
    """Of ten options more than one is reported."""
    channels = [Channel.for_epsilon(1.0, 2), Channel.for_epsilon(1.0, 10)]
    assert channels[1].d > 1
    zeros = np.zeros((2, 10), dtype=bool)
    zeros[1, :-1] = True
    truth = np.where(zeros, 0.0, 1.0) / (~zeros).sum()
    change, plain = removal(truth, channels, zeros), pseudo_answers.covariance(truth, channels, 1.0)
    assert change @ truth.ravel() == pytest.approx(truth.ravel())
    assert np.diagonal(change @ plain @ change.T)[0] < 0.8 * np.diagonal(plain)[0]


@pytest.mark.slow
@settings(max_examples=60, deadline=None, derandomize=True)
@given(surveys())
def test_no_pair_that_somebody_can_send_is_taken_to_be_impossible(survey: Survey) -> None:
    """Of conditions of every kind, by trying all answers."""
    sent = apply_skip_logic(survey, every_answer(survey))
    for (i, first), (j, second) in itertools.combinations(enumerate(survey.items), 2):
        seen = np.zeros((first.k, second.k), dtype=bool)
        seen[sent[i], sent[j]] = True
        assert not (impossible(survey, first.id, second.id) & seen).any()
