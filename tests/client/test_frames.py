"""No error report shows an answer: not with all local variables of our frames, not with sentry-sdk's defaults, not at DEBUG."""

from __future__ import annotations

import copy
import gc
import json
import os
import re
import subprocess
import sys
import threading
import traceback
import types
import weakref
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.client import frames
from tests.client.frames import ANSWERS, CELLS, CONTROLS, GROUPED, SURVEY, chain_of, in_traceback

from deniable import encode, encode_column
from deniable.device import sealed
from deniable.device.sealed import Sealed
from deniable.device.sources import as_rows
from deniable.device.sources.rows import RawRows
from deniable.device.tables import Batch
from deniable.errors import AnswerError, DeliveryError
from deniable.sdk.client import SurveyClient
from deniable.sdk.session import Receipt
from deniable.simulate import simulate

PATHS = os.environ.get("DENIABLE_FRAMES", "160")
THEIRS = (__file__, frames.__file__)


def searched(*words: str) -> dict[str, Any]:
    """What a search in a process of its own found: Sentry changes the process that it is in."""
    done = subprocess.run([sys.executable, "-m", "tests.client.frames", *words], capture_output=True, text=True, timeout=3000)
    assert done.stdout, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.slow
def test_no_error_report_shows_an_answer_wherever_the_error_comes_from() -> None:
    result = searched(PATHS)
    print(json.dumps(result, indent=2))
    assert result["hits"] == []
    assert result["paths"] >= int(PATHS)
    assert result["places"] >= min(60, int(PATHS) // 4)


@pytest.mark.slow
def test_the_controls_clients_that_are_broken_are_caught() -> None:
    found = searched("controls")
    assert set(found) == set(CONTROLS)
    assert [broken for broken, answers in found.items() if answers == 0] == []


@pytest.mark.parametrize("held", [ANSWERS, CELLS, {"age": 613.2519}, ["kiwi", "plum"], "b377", 377])
def test_the_control_answers_below_the_reader_of_a_definition_are_seen_but_for_its_own_labels_and_counts(held, monkeypatch):
    def reading(_: object) -> None:
        index = held  # noqa: F841
        raise RuntimeError("a bug")

    def asking() -> None:
        index = held  # noqa: F841
        reading(None)

    monkeypatch.setattr("deniable.survey.document.strict_json", reading)
    seen = []
    for call in (lambda: SURVEY.from_definition(b"{}"), asking):
        with pytest.raises(RuntimeError) as caught:
            call()
        caught.value.__traceback__ = caught.value.__traceback__.tb_next  # without this frame, which has it anyway
        seen.append(bool(in_traceback(caught.value, (frames.__file__,))))
    an_answer = held not in ("b377", 377)
    assert seen == [an_answer, True]


@pytest.fixture
def here(server, outbox, no_waiting) -> Iterator[SurveyClient]:
    server.publish(SURVEY)
    server.publish(GROUPED)
    with SurveyClient(server.url, outbox=outbox, retries=0, key=server.key) as client:
        yield client


@pytest.mark.parametrize("name", frames.ACTS)
def test_what_is_searched_for_answers_sends_them_unless_something_is_provoked(server, name):
    """An act that is refused before it begins would be searched in vain."""
    for survey in (SURVEY, GROUPED):
        server.publish(survey)
    assert frames.Scenario(name, frames.ACTS[name]).run(server, frames.Tracer()) is None
    assert server.counted == (1 if name in ("one", "one, by column", "a session", "perturbed, then sent") else 7)


class Row(dict[str, Any]):
    """A row to which there can be a weak reference."""


class AtOnce(threading.Thread):
    """What is done in the background is done before anything else: the next rows are not read meanwhile."""

    def start(self) -> None:
        self.run()

    def join(self, timeout: float | None = None) -> None:
        pass


@pytest.mark.slow
def test_nothing_refers_to_an_answer_any_more_when_its_submission_is_sent(here, server, monkeypatch):
    """Whoever has the memory of the process while it waits for the network finds none of what was sent."""
    monkeypatch.setattr("deniable.delivery.background.Thread", AtOnce)
    alive: list[int] = []
    made: list[weakref.ref[Row]] = []

    def noted(row: Row) -> Row:
        made.append(weakref.ref(row))
        return row

    def look(*_: object) -> None:
        alive.append(sum(ref() is not None for ref in made))
        alive.append(sum(isinstance(one, Batch) or (isinstance(one, RawRows) and bool(one.columns)) for one in gc.get_objects()))

    monkeypatch.setattr(here._transport, "post", look)
    here.submit_many("canaries", (noted(Row(ANSWERS)) for _ in range(7)), batch=3)
    here.submit_many("canaries", pd.DataFrame([CELLS] * 7), batch=3)
    here.submit("canaries", Row(ANSWERS))
    assert alive == [0] * 14


def test_the_control_a_list_of_the_callers_is_seen(here, monkeypatch):
    monkeypatch.setattr("deniable.delivery.background.Thread", AtOnce)
    kept = [Row(ANSWERS) for _ in range(3)]
    refs = [weakref.ref(row) for row in kept]
    alive: list[int] = []
    monkeypatch.setattr(here._transport, "post", lambda *_: alive.append(sum(ref() is not None for ref in refs)))
    here.submit_many("canaries", kept)
    assert alive == [3]


@pytest.mark.slow
def test_an_interrupt_by_a_real_signal_at_any_moment_shows_no_answer() -> None:
    """No tracer decides here where it comes."""
    result = searched("signals", "60")
    assert result["hits"] == []
    assert result["errors"]["KeyboardInterrupt"] >= 40


def _frames(error: BaseException) -> Iterator[Any]:
    trace = error.__traceback__
    while trace:
        yield trace
        trace = trace.tb_next


TOKEN = "CANARY4711"
ODD = st.one_of(
    st.sampled_from(
        [TOKEN, TOKEN.encode(), [TOKEN], (TOKEN,), {TOKEN: TOKEN}, {TOKEN}, pd.Series([TOKEN]), np.array([TOKEN]), pd.NA, None]
    ),
    st.sampled_from([object(), float("nan"), float("inf"), 10**400, -1, complex(1), b"\xff", np.float32("nan"), range(3), Row({TOKEN: 1})]),
    st.text().map(lambda text: TOKEN + text),
    st.integers().map(lambda number: f"{TOKEN}{number}"),
)
KEYS = st.sampled_from([*ANSWERS, *CELLS, TOKEN, 4711, (TOKEN,), None])


@pytest.mark.slow
def test_whatever_is_wrong_with_answers_is_told_without_them(here, server, fault):
    here._surveys["canaries"] = SURVEY

    def act(answers: dict[Any, Any], shape: str) -> None:
        if shape == "one":
            here.submit("canaries", answers)
        elif shape == "text":
            here.submit_many("canaries", f"{TOKEN}{answers}")
        elif shape == "pairs":
            here.submit("canaries", list(answers.items()))
        else:
            rows = {"list": [answers] * 3, "generator": (answers for _ in range(3)), "frame": pd.DataFrame([pd.Series(answers)] * 3)}
            here.submit_many("canaries", rows[shape])

    @settings(max_examples=150, deadline=None)
    @given(st.dictionaries(KEYS, ODD, max_size=4), st.sampled_from(["one", "list", "generator", "frame", "text", "pairs"]), st.booleans())
    def told(odd: dict[Any, Any], shape: str, delivers: bool) -> None:
        server.always = None if delivers else fault(status=503)
        error = None
        try:
            act({**ANSWERS, **odd}, shape)
        except (AnswerError, DeliveryError, FileNotFoundError) as found:
            error = found
        assert error is None or in_traceback(error, THEIRS) == []

    told()


def test_what_the_callers_own_rows_raise_comes_with_their_frames_and_none_of_ours_below(here):
    cause = LookupError("why")

    def rows() -> Iterator[dict[str, Any]]:
        yield ANSWERS
        raise ValueError("the caller's") from cause

    with pytest.raises(ValueError, match="the caller's") as caught:
        here.submit_many("canaries", rows())
    assert caught.value.__cause__ is cause
    names = [trace.tb_frame.f_code.co_name for trace in _frames(caught.value)]
    assert names[-2:] == ["__call__", "rows"]
    assert in_traceback(caught.value, THEIRS) == []


def test_an_error_that_nobody_foresaw_is_told_by_its_kind_and_place_and_what_it_says_is_not():
    class Odd(str):
        def lower(self, *_: Any) -> str:
            raise KeyError(TOKEN)

    for call in (lambda: encode(SURVEY.items[0], Odd(TOKEN)), lambda: encode_column(SURVEY.items[0], [Odd(TOKEN)])):
        with pytest.raises(
            AnswerError, match=r"cannot be read: KeyError in deniable\.survey\.types\.yes_no, line \d+; its message is not shown"
        ) as caught:
            call()
        assert [*chain_of(caught.value)] == [caught.value]
        assert in_traceback(caught.value, THEIRS) == []


def test_what_a_caller_was_handling_is_still_told():
    def handle() -> None:
        try:
            raise LookupError("before")
        except LookupError:
            encode(SURVEY.items[0], TOKEN)

    with pytest.raises(AnswerError) as caught:
        handle()
    assert isinstance(caught.value.__context__, LookupError)
    assert not caught.value.__suppress_context__


@pytest.mark.parametrize(
    "answers", [pd.Series([TOKEN], index=["bird"]), [("bird", TOKEN)], TOKEN, {TOKEN}, None, b"x"], ids=lambda a: type(a).__name__
)
def test_only_a_mapping_is_one_respondents_answers(here, server, answers):
    with pytest.raises(AnswerError) as caught:
        here.submit("canaries", answers)
    assert str(caught.value) == f"answers must be a mapping from question id to answer, got {type(answers).__name__}"
    assert server.posts == []


def test_a_text_that_is_no_path_is_not_quoted(here):
    for text in (f"bird\n{TOKEN}\n", f"yes,{TOKEN}", f"{TOKEN}\0", TOKEN * 5000):
        with pytest.raises(FileNotFoundError, match="it is not quoted, since it may be an answer") as caught:
            here.submit_many("canaries", text)
        assert in_traceback(caught.value, THEIRS) == []


def test_a_receipt_and_a_report_do_not_show_the_code_that_is_kept_nowhere(here):
    receipt = here.submit("canaries", ANSWERS)
    assert receipt.code
    assert receipt.code not in repr(receipt)
    assert receipt.submission in repr(receipt)
    assert isinstance(receipt, Receipt)


@pytest.mark.parametrize("shares", [[TOKEN, TOKEN], [4711.0, 0.5, 1], {TOKEN: 1.0}, {4711: 1.0}], ids=str)
def test_a_simulation_does_not_quote_what_may_be_a_column_of_answers(shares):
    survey = frames.Survey.from_dict(
        {"deniable": 1, "id": "s", "title": "T", "about": "A", "epsilon": 1, "questions": [{"id": "smokes", "text": "Q", "type": "yes_no"}]}
    )
    with pytest.raises(Exception, match="smokes") as caught:
        simulate(survey, {"smokes": shares}, 10)
    assert "4711" not in str(caught.value)
    assert in_traceback(caught.value, THEIRS) == []


def test_a_seal_shows_nothing_and_gives_what_the_call_gives():
    call = Sealed(dict, bird=TOKEN)
    assert f"{call!r} {call} {[call]}" == "<sealed> <sealed> [<sealed>]"
    assert call() == {"bird": TOKEN}
    assert re.fullmatch("<sealed>", sealed.Sealed(print).__repr__())


def attributes(value: object) -> list[object]:
    """What an object has by a name, those of types that are written in C among them: `partial.args` is no entry of a dict."""
    members = [name for kind in type(value).__mro__ for name, what in vars(kind).items() if isinstance(what, types.MemberDescriptorType)]
    return [*getattr(value, "__dict__", {}).values(), *(getattr(value, name, None) for name in members)]


def leads_to(error: BaseException, wanted: object) -> bool:
    """Whether a report finds something that shows the locals of our frames, their attributes and what they contain, six steps deep."""
    seen: dict[int, int] = {}  # how many steps were left

    def found(value: object, steps: int) -> bool:
        if value is wanted:
            return True
        if steps <= seen.get(id(value), 0):
            return False
        seen[id(value)] = steps
        inside = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple | set) else ()
        return any(found(each, steps - 1) for each in [*inside, *attributes(value)])

    frames_of_ours = [
        each.f_locals for each, _ in traceback.walk_tb(error.__traceback__) if each.f_globals["__name__"].startswith("deniable.")
    ]
    assert frames_of_ours
    return any(found(each, 6) for each in frames_of_ours)


@pytest.mark.parametrize("sealing", [Sealed, partial], ids=["a seal", "the control"])
def test_no_attribute_of_a_local_leads_to_the_answers_before_they_are_read(here, server, fault, sealing, monkeypatch):
    monkeypatch.setattr("deniable.sdk.arguments.Sealed", sealing)
    server.always = fault(status=500)
    with pytest.raises(DeliveryError) as caught:
        here.submit("canaries", ANSWERS)
    assert leads_to(caught.value, ANSWERS) is (sealing is partial)


def test_a_seal_is_not_copied():
    with pytest.raises(TypeError, match="must not be copied"):
        copy.copy(Sealed(dict, bird=TOKEN))


GIVEN = {"rows": [ANSWERS] * 3, "a frame": pd.DataFrame([CELLS] * 3)}


@pytest.mark.parametrize("rows", GIVEN.values(), ids=GIVEN)
def test_no_attribute_of_a_local_leads_to_the_rows_that_were_given(here, server, fault, rows, monkeypatch):
    """Reports of some trackers, Datadog's Exception Replay for one, show the attributes of objects, and of these again."""
    here.survey("canaries")
    server.always = fault(status=500)
    with pytest.raises(DeliveryError) as caught:
        here.submit_many("canaries", rows)
    assert not leads_to(caught.value, rows)
    broken = as_rows(rows)
    broken.kept = rows
    monkeypatch.setattr("deniable.sdk.client.as_rows", lambda _: broken)
    with pytest.raises(DeliveryError) as caught:
        here.submit_many("canaries", rows)
    assert leads_to(caught.value, rows), "the control"
