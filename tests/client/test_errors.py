"""The errors of the tree: a process that meets one can hand it to another, whole."""

from __future__ import annotations

import copy
import inspect
import multiprocessing
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from deniable import errors
from deniable.errors import (
    DeniableError,
    MissingExtraError,
    ModelError,
    Problem,
    RejectedError,
    SubmissionError,
    SurveyError,
    UnknownNameError,
)
from deniable.estimate.analysis import Analysis
from deniable.simulate import simulate
from deniable.survey import Survey

PROBLEMS = [Problem("questions[0].id", "must be 1 to 64 of a-z", 7), Problem("title", "is missing")]
MADE = {
    "RejectedError": lambda: RejectedError(403, "the key has not the scope submit"),
    "SubmissionError": lambda: SubmissionError("epsilon", "epsilon must be the survey's"),
    "ModelError": lambda: ModelError("nobody has a = x", "by chance", ["leave out a"], "separation", [("a", ("x",))], ["a[T.x]"]),
    "SurveyError": lambda: SurveyError(PROBLEMS),
    "MissingExtraError": lambda: MissingExtraError("this needs pyarrow", name="pyarrow"),
}
"""Those that take more than a message."""
CLASSES = [one for _, one in inspect.getmembers(errors, inspect.isclass) if issubclass(one, BaseException)]
WAYS: dict[str, Callable[[DeniableError], DeniableError]] = {
    **{
        f"pickle {protocol}": lambda error, p=protocol: pickle.loads(pickle.dumps(error, p))
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1)
    },
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}


def said(error: DeniableError) -> tuple[object, ...]:
    """All that whoever catches an error can ask of it."""
    of_an_import = (error.name, error.path, error.msg) if isinstance(error, ImportError) else ()
    return type(error), str(error), repr(error), error.args, vars(error), of_an_import


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_an_error_that_is_copied_or_sent_to_another_process_says_all_that_it_said(kind, way):
    assert issubclass(kind, DeniableError)
    error = MADE.get(kind.__name__, lambda: kind("what was wrong"))()
    assert type(error) is kind
    error.add_note("while the survey was read")
    other = WAYS[way](error)
    assert other is not error
    assert said(other) == said(error)


def test_the_attributes_and_the_message_are_those_the_error_was_made_with():
    rejected, submission, survey = (
        pickle.loads(pickle.dumps(MADE[name]())) for name in ("RejectedError", "SubmissionError", "SurveyError")
    )
    assert (rejected.status, str(rejected)) == (403, "the key has not the scope submit")
    assert (submission.rule, str(submission)) == ("epsilon", "epsilon must be the survey's")
    assert survey.problems == tuple(PROBLEMS)
    assert str(survey) == "questions[0].id (line 7): must be 1 to 64 of a-z\ntitle: is missing"


def test_the_control_an_error_with_pythons_own_way_of_pickling_is_noticed():
    class New(RejectedError):
        __reduce__ = Exception.__reduce__

    with pytest.raises(TypeError):
        copy.copy(New(403, "no"))


def turned_down() -> None:
    raise RejectedError(404, "there is no such survey")


@pytest.mark.slow
def test_a_pool_tells_what_a_worker_was_told_and_does_not_wait_for_ever():
    with multiprocessing.get_context("spawn").Pool(1) as pool, pytest.raises(RejectedError, match="there is no such survey") as caught:
        pool.apply_async(turned_down).get(timeout=60)
    assert caught.value.status == 404


def test_an_unknown_name_is_a_key_error_that_reads_as_a_sentence() -> None:
    error = UnknownNameError.of("the question must be one of survey s", "smoke", ["smokes", "party"])
    assert isinstance(error, KeyError)
    assert str(error) == "the question must be one of survey s (smokes, party), got 'smoke'; did you mean 'smokes'?"
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    assert str(UnknownNameError.of("the figure must be one of these", 5, [])) == "the figure must be one of these (none), got 5"


LOOKUPS: dict[str, Callable[[Analysis], Any]] = {
    "results": lambda analysis: analysis.results["smoke"],
    "a result": lambda analysis: analysis.results["smoke", "yes"],
    "an option": lambda analysis: analysis.results["smokes", "ye"],
    "mean": lambda analysis: analysis.mean("smoke", [0, 1]),
    "quantile": lambda analysis: analysis.quantile("smoke"),
    "crosstab": lambda analysis: analysis.crosstab("smokes", "part"),
    "joint table": lambda analysis: analysis.crosstab("smokes", "party", "part"),
    "among_shown": lambda analysis: analysis.among_shown("smoke"),
    "between": lambda analysis: analysis.between("smoke", "yes", "party", "Red"),
    "between options": lambda analysis: analysis.between("smokes", "ye", "party", "Red"),
    "plot": lambda analysis: analysis.plot("smoke"),
}


@pytest.mark.parametrize("look_up", LOOKUPS.values(), ids=LOOKUPS)
def test_every_look_up_by_an_unknown_name_is_a_key_error_with_one_that_is_like_it(look_up: Callable[[Analysis], Any]) -> None:
    questions = [
        {"id": "smokes", "text": "Q", "type": "yes_no"},
        {"id": "party", "text": "Q", "type": "choice", "options": ["Red", "Blue"]},
    ]
    survey = Survey.from_dict({"deniable": 1, "id": "s", "title": "T", "about": "A", "epsilon": 6, "questions": questions})
    simulated = simulate(survey, {"smokes": {"yes": 0.4, "no": 0.6}, "party": {"Red": 0.3, "Blue": 0.7}}, 200)
    with pytest.raises(KeyError, match=r"got 'smoke'; did you mean 'smokes'|got 'ye'; did you mean 'yes'|got 'part'; did you mean 'party'"):
        look_up(Analysis(survey, simulated.tally, simulated.bits))
