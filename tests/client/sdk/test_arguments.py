"""What a SurveyClient is made with is checked at once, and each mistake names the argument."""

from __future__ import annotations

import traceback

import numpy as np
import pandas as pd
import pytest
from tests.kit.surveys import STUDY

from deniable.errors import DeliveryError, RefusedError
from deniable.sdk.arguments import checked_batch, checked_cap
from deniable.sdk.client import SurveyClient
from deniable.sdk.session import SurveySession
from deniable.survey import Survey
from deniable.wire import access_codes

DIGEST = "0f" * 32


def test_a_cap_is_a_number_or_a_logarithm():
    assert [checked_cap("cap", written) for written in (2, "2.5", 30, "inf")] == [2, 2.5, 30, float("inf")]
    assert checked_cap("cap", "ln 9") == pytest.approx(np.log(9))
    assert checked_cap("cap", "ln 1000000") == pytest.approx(np.log(1e6))
    for wrong in (0, -1, "nan", "much", "ln(3", None, [8]):
        with pytest.raises(ValueError, match="cap must be a number above 0 or `ln x`, got"):
            checked_cap("cap", wrong)


WRONG = {
    "max_epsilon": (0, -1, "much", None),
    "person_cap": (0, float("nan")),
    "min_batch": (0, -1, 1001, 2.5, "5", None, True, [5]),
    "min_group": (0, "ten"),
    "pin": ("", "0F" * 32, DIGEST[:-1], b"0f" * 32, 5, [DIGEST], {"study": 5}, {"study": DIGEST, "other": ""}),
    "timeout": (0, -1, float("nan"), float("inf"), 86_401, "30", None, True, (1, 2)),
    "retries": (-1, 1.5, "6", None, False),
    "key": ("dk_", 5, b"dk_" + b"k" * 43),
    "auth": ("me", ("ada",), ("ada", "b377er", ""), ("ada", 5), {"ada": "b377er", "bob": "b377er"}, 5),
}


@pytest.mark.parametrize(("name", "wrong"), [(name, wrong) for name, all_ in WRONG.items() for wrong in all_])
def test_what_is_wrong_is_refused_before_anything_is_opened(tmp_path, name, wrong):
    kept = {"outbox": tmp_path / "outbox", "ledger": tmp_path / "ledger"}
    with pytest.raises(ValueError, match=f"^{name} must ") as caught:
        SurveyClient("https://survey.example.org", **{**kept, name: wrong})
    assert list(tmp_path.iterdir()) == []
    ours = caught.value.__traceback__.tb_next
    shown = "".join(traceback.TracebackException.from_exception(caught.value.with_traceback(ours), capture_locals=True).format())
    assert "b377er" not in shown


@pytest.mark.parametrize(
    "right", [{"timeout": 0.1}, {"timeout": 86_400}, {"retries": 0}, {"pin": {"study": DIGEST}}, {"auth": ["ada", "b377er"]}]
)
def test_what_is_right_is_taken(right):
    SurveyClient("https://survey.example.org", **right).close()


@pytest.mark.parametrize("pin", [{}, {"study": "1f" * 32}, {"other": DIGEST}, "1f" * 32])
def test_a_pin_beside_a_link_with_a_digest_says_the_same(pin):
    with pytest.raises(ValueError, match="pin must be the digest that the link carries"):
        SurveyClient.from_link(f"https://survey.example.org/s/study#digest={DIGEST}", pin=pin)
    SurveyClient.from_link(f"https://survey.example.org/s/study#digest={DIGEST}", pin={"study": DIGEST}).close()


ROWS = pd.Series(["CANARY", "CANARY"])
WRONG_OF_MANY = {
    "batch": (0, -1, 100_001, "5", 2.5, True, ROWS, [5]),
    "group_column": (5, b"town", ROWS, ["CANARY"]),
    "person_column": (5, ROWS),
    "row_key": (0, ROWS),
    "columns": (["smokes"], {"smokes": 5}, {"smokes": ROWS}, "CANARY?", 5),
    "on_invalid": (None, "CANARY?", ROWS),
}


@pytest.mark.parametrize(("name", "wrong"), [(name, wrong) for name, all_ in WRONG_OF_MANY.items() for wrong in all_])
def test_what_is_wrong_with_many_rows_is_refused_before_anything_is_read_and_no_column_of_answers_is_quoted(name, wrong):
    with (
        SurveyClient("https://survey.example.org", outbox=":memory:") as client,
        pytest.raises(ValueError, match=f"^{name} must be ") as caught,
    ):
        client.submit_many("study", iter([{"smokes": "CANARY"}]), **{name: wrong})
    assert "CANARY" not in str(caught.value).replace("CANARY?", "")


def test_a_batch_may_be_a_number_of_numpy():
    assert [checked_batch(rows) for rows in (1, np.int64(5), 100_000)] == [1, 5, 100_000]


ANSWERS = {"often smokes": "CANARY"}
CODE = access_codes.format_code(bytes(15))


def session(client: SurveyClient) -> SurveySession:
    client._surveys["study"] = Survey.from_text(STUDY)
    return client.survey("study")


MISPLACED = {
    "an id and answers the wrong way round": lambda client: client.submit(ANSWERS, "study"),
    "answers twice": lambda client: client.submit(ANSWERS, ANSWERS),
    "an id and rows the wrong way round": lambda client: client.submit_many([ANSWERS], "study"),
    "an id and a frame the wrong way round": lambda client: client.submit_many(pd.DataFrame([ANSWERS]), "study"),
    "answers in the place of what was perturbed": lambda client: session(client).send(ANSWERS),
    "answers in a session's place of a person": lambda client: session(client).submit({"smokes": "yes"}, person=ANSWERS),
    "answers as what is perturbed for a person": lambda client: session(client).perturb({"smokes": "yes"}, person=ANSWERS),
    **{
        f"rows as the id of {name}": lambda client, name=name, more=more: getattr(client, name)([ANSWERS], *more)
        for name, more in {"results": (), "progress": (), "analysis": (), "bundle": ("bundle.zip",), "withdraw": (CODE,)}.items()
    },
    "answers as a code": lambda client: client.withdraw("study", ANSWERS),
    "rows as progress": lambda client: client.submit_many("study", iter([]), progress=[ANSWERS]),
    "answers as a survey": lambda client: client.survey(ANSWERS),
    "answers as a link": lambda _: SurveyClient.from_link(ANSWERS),
    "a column as an option beside a link": lambda _: SurveyClient.from_link("https://survey.example.org/s/study", outbox=ROWS),
    "answers as a pin beside a link": lambda _: SurveyClient.from_link("https://survey.example.org/s/study", pin=ANSWERS),
    **{f"answers as {name}": lambda client, name=name: client.submit("study", {}, **{name: ANSWERS}) for name in ("group", "invitation")},
    "answers as person": lambda client: client.submit("study", {}, person=ANSWERS),
    **{
        f"a column as {name}": lambda client, name=name: client.submit_many("study", iter([]), **{name: ROWS})
        for name in ("group", "invitation", "job", *WRONG_OF_MANY)
    },
    **{
        f"answers as {name} of a client": lambda _, name=name: SurveyClient(**{"url": "https://survey.example.org", name: ANSWERS})
        for name in ("url", "outbox", "ledger", *WRONG)
    },
}


@pytest.mark.parametrize("mistake", MISPLACED)
def test_answers_in_the_wrong_place_are_in_no_message_and_in_no_frame_of_ours(mistake):
    """Rows are also where the survey's id belongs if both are given the wrong way round."""
    client = SurveyClient("http://127.0.0.1:9", outbox=":memory:", retries=0)  # nothing listens there
    with client, pytest.raises((ValueError, RefusedError, DeliveryError)) as caught:
        MISPLACED[mistake](client)
    trace = caught.value.__traceback__
    while trace.tb_frame.f_code.co_filename == __file__:  # the caller's own
        trace = trace.tb_next
    report = traceback.TracebackException.from_exception(caught.value.with_traceback(trace), capture_locals=True)
    shown = "".join([str(caught.value), *(str(frame.locals) for frame in report.stack)])
    assert [word for word in ("CANARY", "often smokes") if word in shown] == []


def test_a_long_text_where_an_id_belongs_is_not_quoted():
    with SurveyClient("http://127.0.0.1:9", outbox=":memory:") as client:
        for text in ("smokes,\n" + "CANARY\n" * 20, "smokes\nCANARY", '{"smokes": "CANARY"}', f"http://a.org/s/i#code={CODE}", "C" * 65):
            with pytest.raises(RefusedError, match=rf"got {len(text)} characters$"):
                client.submit_many(text, "study")
        with pytest.raises(RefusedError, match=r"got 'My study 2'$"):
            client.submit_many("My study 2", [])


def test_a_code_to_withdraw_in_the_place_of_the_id_is_not_quoted():
    with SurveyClient("http://127.0.0.1:9", outbox=":memory:") as client, pytest.raises(ValueError, match=r"something in it was mistyped$"):
        client.withdraw(CODE, "study")


@pytest.mark.parametrize("person", [b"ada", ("ada",), ANSWERS, 2.5, True, ""])
def test_a_person_who_is_neither_text_nor_a_whole_number_is_refused_before_anything_is_sent(tmp_path, person):
    kept = {"outbox": ":memory:", "ledger": tmp_path / "ledger", "retries": 0, "min_batch": 1}
    with SurveyClient("http://127.0.0.1:9", **kept) as client:
        client._surveys["study"] = Survey.from_text(STUDY)
        with pytest.raises(ValueError, match="person must be text or a whole number") as caught:
            client.submit("study", {"smokes": "yes"}, person=person)
    assert f"got {'an empty text' if person == '' else type(person).__name__}" in str(caught.value)
