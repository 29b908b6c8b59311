"""Public methods that take answers are found, not listed: each has the decorator `seals`, and none shows an answer."""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import pandas as pd
import pytest
from tests.kit.surveys import STUDY

import deniable
from deniable.device.perturb import perturb_one
from deniable.errors import DeliveryError, RefusedError
from deniable.sdk.arguments import seal_of, seals
from deniable.sdk.client import SurveyClient
from deniable.sdk.session import SurveySession
from deniable.survey import Survey
from deniable.survey.types.base import Answer

TAKERS = (SurveyClient, SurveySession)
WORDS = ("CANARY", "often smokes")
ANSWERS = {"often smokes": "CANARY"}
CANARIES: dict[str, Any] = {
    "answers": ANSWERS,
    "a list of answers": [ANSWERS],
    "a data frame": pd.DataFrame([ANSWERS]),
    "a column": pd.Series(["CANARY"]),
    "an iterator": iter([ANSWERS]),
}
RIGHT: dict[str, Any] = {
    "survey_id": "study",
    "which": "study",
    "answers": {"smokes": "yes"},
    "rows": [{"smokes": "yes"}],
    "code": "none",
    "path": "bundle.zip",
    "link": "https://survey.example.org/s/study",
    "url": "http://127.0.0.1:9",
}
"""What the other arguments are, by name, so that a call gets as far as it can."""


def methods(*classes: type) -> Iterator[tuple[type, str, Callable[..., Any]]]:
    for owner in classes:
        for name, member in inspect.getmembers(owner, callable):
            if not name.startswith("_"):
                yield owner, name, member


def takes_answers(parameter: inspect.Parameter) -> bool:
    return parameter.name in ("answers", "rows") or "Answer" in str(parameter.annotation)


def parameters_of(method: Callable[..., Any]) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(method).parameters.values())
    except ValueError:  # one of Python's own that has no signature
        return []


def unsealed(*classes: type) -> list[str]:
    """The public methods that take answers or rows and have no seal of these."""
    return [
        f"{owner.__name__}.{name}"
        for owner, name, method in methods(*classes)
        for parameter in parameters_of(method)
        if takes_answers(parameter) and getattr(method, "seals", None) != parameter.name
    ]


def written(value: object) -> str:
    try:
        return repr(value)
    except Exception:  # half made, as it is where the error came
        return ""


def shown_by(call: Callable[[], object]) -> list[str]:
    """The words of answers that an error report with all local variables has, below the frames of this file."""
    try:
        call()
    except Exception as error:
        trace = error.__traceback__
        while trace is not None and trace.tb_frame.f_code.co_filename == __file__ and not trace.tb_frame.f_code.co_name.startswith("keeps"):
            trace = trace.tb_next
        texts = [str(error), *(written(value) for frame, _ in traceback.walk_tb(trace) for value in frame.f_locals.values())]
        return [word for word in WORDS if any(word in text for text in texts)]
    return []


def calls(method: Callable[..., Any], owner: Any) -> Iterator[tuple[str, Callable[[], object]]]:
    """A method with answers in the place of each of its arguments in turn."""
    parameters = list(inspect.signature(method).parameters.values())
    bound = () if inspect.ismethod(method) else (owner,)
    del parameters[: len(bound)]
    needed = {one.name: RIGHT.get(one.name) for one in parameters if one.default is one.empty and one.kind is not one.VAR_KEYWORD}
    for parameter in parameters:
        if parameter.kind is parameter.VAR_KEYWORD:
            continue
        for kind, canary in CANARIES.items():
            if (parameter.name, kind) == ("columns", "answers"):
                continue  # a mapping of names to names, which nobody can tell from one of names to answers
            arguments = {**needed, parameter.name: canary}
            yield f"{parameter.name}: {kind}", partial(method, *bound, **arguments)


def shown(*classes: type) -> list[str]:
    found = []
    for owner, name, method in methods(*classes):
        client = SurveyClient("http://127.0.0.1:9", outbox=":memory:", retries=0, min_batch=1)  # nothing listens there
        client._surveys["study"] = Survey.from_text(STUDY)
        with client:
            for what, call in calls(method, client.survey("study") if issubclass(owner, SurveySession) else client):
                found += [f"{owner.__name__}.{name}, {what}" for _ in shown_by(call)[:1]]
    return found


def test_every_public_method_that_takes_answers_or_rows_is_under_a_seal() -> None:
    assert unsealed(*TAKERS) == []
    sealed = {f"{owner.__name__}.{name}" for owner, name, method in methods(*TAKERS) if hasattr(method, "seals")}
    assert sealed == {"SurveyClient.submit", "SurveyClient.submit_many", "SurveySession.perturb", "SurveySession.submit"}


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_no_public_method_shows_answers_in_any_argument() -> None:
    assert shown(*TAKERS) == []


def test_classes_that_take_answers_are_all_looked_at() -> None:
    """Whatever the package exports: no other class has a method that takes answers and no seal."""
    exported = [getattr(deniable, name) for name in deniable.__all__]
    others = [one for one in exported if inspect.isclass(one) and one not in TAKERS]
    assert [name for name in unsealed(*others) if not name.startswith("Question.")] == []


class KeepsAnswers(SurveyClient):
    """The control: a client with methods that nobody has listed."""

    def keeps_for_later(self, survey_id: str, answers: Mapping[str, Answer]) -> None:
        raise DeliveryError("a bug")

    def keeps_a_note(self, survey_id: str, note: object) -> None:
        raise RefusedError("a bug")

    @seals("answers", perturb_one)
    def keeps_nothing(self, survey_id: str, answers: Mapping[str, Answer]) -> None:
        seal_of(answers)
        raise DeliveryError("a bug")


def test_a_new_method_that_keeps_answers_in_a_frame_is_noticed() -> None:
    assert unsealed(KeepsAnswers) == ["KeepsAnswers.keeps_for_later"]
    found = {line.split(",")[0] for line in shown(KeepsAnswers)}
    assert found == {"KeepsAnswers.keeps_for_later", "KeepsAnswers.keeps_a_note"}


def test_a_call_with_other_arguments_quotes_none_of_them() -> None:
    client = SurveyClient("http://127.0.0.1:9", outbox=":memory:")
    with (
        client,
        pytest.raises(TypeError, match=r"submit takes survey_id, answers, group, invitation, person; got other arguments") as caught,
    ):
        client.submit("study", {}, CANARY="CANARY")  # type: ignore[call-arg]
    assert "CANARY" not in str(caught.value)


def test_a_method_without_the_decorator_cannot_reach_the_coins() -> None:
    with pytest.raises(TypeError, match="answers must be under a seal here, got dict"):
        seal_of(ANSWERS)
