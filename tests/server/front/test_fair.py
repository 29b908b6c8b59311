"""Real answers through the real client, HTTP and the real server: the intervals cover the truth as often as they say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import statsmodels.api as sm

from deniable import SurveyClient
from deniable.survey import Survey

RUNS = 100
# An interval of 95% covers in 90 of 100 runs or more with a chance of 98.9% only, so one of eight such counts would
# fail too often. The counts are printed; the suite fails where a right program would fail once in a million times.
AT_LEAST = 81
ROOT = Path(__file__).parents[3]


def fair(run: int) -> Survey:
    question = {"id": "affair", "text": "Have you ever had an affair?", "type": "yes_no", "epsilon": "ln 3"}
    return Survey.from_dict({"deniable": 1, "id": f"fair{run}", "title": "Redbook 1974", "about": "Fair 1978", "questions": [question]})


def anes(run: int) -> Survey:
    return Survey.from_dict({**Survey.from_file(ROOT / "examples" / "anes1996.yaml").to_dict(), "id": f"anes{run}"})


def covered(server: Any, surveys: list[Survey], answers: pd.DataFrame, outbox: Path) -> Counter[tuple[str, str]]:
    """For each question and option: in how many surveys the interval holds the share of the true answers."""
    server.publish(*surveys)
    server.start()
    count: Counter[tuple[str, str]] = Counter()
    with SurveyClient(server.url, outbox=outbox, auth=("ada", "correct horse battery"), key=server.key) as client:
        for survey in surveys:
            report = client.submit_many(survey.id, answers)
            assert report.accepted == len(answers)
            for row in client.results(survey.id).rows:
                truth = (answers[row.question].map(str) == row.option).mean()
                assert row.low is not None
                assert row.high is not None
                count[row.question, row.option] += row.low <= truth <= row.high
    return count


@pytest.mark.slow
def test_fairs_survey_is_covered_as_often_as_its_interval_says(make_server: Callable[[], Any], tmp_path: Path) -> None:
    had_affair = sm.datasets.fair.load_pandas().data["affairs"] > 0
    assert len(had_affair) == 6366
    assert had_affair.mean() == pytest.approx(0.3225, abs=1e-4)
    answers = pd.DataFrame({"affair": had_affair.map({True: "yes", False: "no"})})
    count = covered(make_server(), [fair(run) for run in range(RUNS)], answers, tmp_path / "outbox.db")
    print(f"Fair: the interval covers 0.3225 in {count['affair', 'yes']} of {RUNS} runs")
    assert count["affair", "yes"] >= AT_LEAST


def test_every_party_of_the_election_study_is_covered_as_often_as_its_interval_says(make_server: Callable[[], Any], tmp_path: Path) -> None:
    answers = pd.read_csv(ROOT / "examples" / "anes1996.csv")
    assert len(answers) == 944
    count = covered(make_server(), [anes(run) for run in range(RUNS)], answers, tmp_path / "outbox.db")
    parties = {option: runs for (question, option), runs in count.items() if question == "party"}
    print(f"ANES: runs of {RUNS} that cover the truth: {parties}")
    assert len(parties) == 7
    assert min(parties.values()) >= AT_LEAST
