"""What a SurveyClient is made with is checked at once, and each mistake names the argument."""

from __future__ import annotations

import traceback

import numpy as np
import pandas as pd
import pytest

from deniable.arguments import checked_batch, checked_cap
from deniable.client import SurveyClient

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
    "columns": (["smokes"], {"smokes": 5}, {"smokes": ROWS}, "CANARY", 5),
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
