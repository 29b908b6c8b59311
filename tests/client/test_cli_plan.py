"""`deniable plan`: what it prints and how it fails."""

from __future__ import annotations

import json
import math
from dataclasses import asdict

import pytest
from click.testing import CliRunner, Result

from deniable.cli import main
from deniable.mechanism import Channel
from deniable.plan import logit_slope

FILE = """\
deniable: 1
id: study
title: A study
about: Who asks, and why.
epsilon: ln 27
questions:
  - {id: smokes, text: Do you smoke?, type: yes_no}
  - {id: drinks, text: Do you drink?, type: yes_no}
  - {id: party, text: Which party?, type: choice, options: [Red, Green, Blue]}
"""


@pytest.fixture
def run(tmp_path):
    (tmp_path / "survey.yaml").write_text(FILE)

    def run(*words: str) -> Result:
        return CliRunner().invoke(main, ["plan", str(tmp_path / "survey.yaml"), *words])

    return run


def test_a_number_of_respondents_gives_a_table(run):
    result = run("--n", "2000")
    assert result.exit_code == 0
    assert result.stdout.startswith("A study (study)\n2,000 respondents")
    assert "± 4.4" in result.stdout


def test_a_half_width_gives_the_respondents(run):
    result = run("--half-width", "0.03", "--json")
    assert result.exit_code == 0
    made = json.loads(result.stdout)
    assert made["rows"][0]["respondents"] == 4_269
    assert made["n"] == max(row["respondents"] for row in made["rows"])


@pytest.mark.slow
def test_a_confidence_and_a_share_are_used(run):
    made = json.loads(run("--n", "500", "--confidence", "0.9", "--share", "0.1", "--json").stdout)
    assert (made["confidence"], made["share"]) == (0.9, 0.1)


def test_groups_of_stated_sizes_are_compared_in_place_of_two_halves(run):
    halves, groups = (json.loads(run("--n", "1050", "--json", *words).stdout) for words in ([], ["--groups", "1000,50"]))
    assert (halves["groups"], groups["groups"]) == (None, [1000, 50])
    for equal, unequal in zip(halves["rows"], groups["rows"], strict=True):
        assert unequal["difference_half_width"] > 2 * equal["difference_half_width"]
        assert unequal["smallest_difference"] > 2 * equal["smallest_difference"]
    assert "of two groups of 1,000 and 50, found in 80% of surveys" in run("--n", "1050", "--groups", "1000,50").stdout


def test_people_who_come_by_clusters_have_a_table_of_their_own(run):
    alone, by_clinics = (json.loads(run("--n", "2000", "--json", *words).stdout) for words in ([], ["--clusters", "20", "--rho", "0.1"]))
    assert {row["cluster_half_width"] for row in alone["rows"]} == {None}
    assert (by_clinics["clusters"], by_clinics["rho"]) == (20, 0.1)
    for row, same in zip(by_clinics["rows"], alone["rows"], strict=True):
        assert row["cluster_half_width"] > 1.3 * row["half_width"] == 1.3 * same["half_width"]
        assert row["effective_people"] < row["respondents"] / 1.6
    assert "in 20 clusters whose answers correlate with 0.1\n" in run("--n", "2000", "--clusters", "20", "--rho", "0.1").stdout


def test_a_slope_of_two_questions_is_the_librarys_and_has_a_table_of_its_own(run):
    words = ["--n", "2000", "--slope", "smokes,drinks", "--outcome-shares", "0.3,.45", "--predictor-share", "0.4"]
    made, coins = json.loads(run(*words, "--json").stdout)["slope"], Channel.for_epsilon(math.log(3), 2)
    found = logit_slope(2_000, (0.3, 0.45), 0.4, outcome=coins, predictor=coins)
    assert {key: made[key] for key in asdict(found)} == pytest.approx(asdict(found))
    assert made["half_width_no_privacy"] == logit_slope(2_000, (0.3, 0.45), 0.4).half_width
    assert "slope of a logit model of smokes on drinks will be" in run(*words).stdout


@pytest.mark.slow
@pytest.mark.parametrize("name", ["plan.svg", "plan.png"])
def test_a_chart_is_written(run, tmp_path, name):
    assert run("--n", "500", "--chart", str(tmp_path / name)).exit_code == 0
    assert (tmp_path / name).stat().st_size > 5_000


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "give one of --n and --half-width"),
        (["--n", "10", "--half-width", "0.1"], "give one of --n and --half-width"),
        (["--n", "0"], "0 is not in the range x>=1"),
        (["--half-width", "3"], "must be above 0 and below 1, got 3 (3 percentage points are 0.03)"),
        (["--n", "10", "--confidence", "95"], "must be above 0 and below 1, got 95"),
        (["--n", "10", "--groups", "1000"], "must be two numbers of people such as 1000,50, got '1000'"),
        (["--n", "10", "--groups", "5,0"], "must be two numbers of people such as 1000,50, got '5,0'"),
        (["--n", "10", "--clusters", "5"], "give --clusters, --rho and --n together"),
        (["--half-width", "0.1", "--clusters", "5", "--rho", "0.1"], "give --clusters, --rho and --n together"),
        (["--n", "10", "--clusters", "5", "--rho", "5"], "5.0 is not in the range 0<=x<=1"),
        (["--n", "10", "--slope", "smokes"], "must be two questions, the outcome and the predictor, such as vote,tvnews, got 'smokes'"),
        (["--n", "10", "--slope", "smokes,drinks"], "give --slope, --outcome-shares and --predictor-share together"),
        (["--n", "10", "--outcome-shares", "0.3,1.2"], "must be two shares above 0 and below 1 such as 0.3,0.45, got '0.3,1.2'"),
        (["--n", "10", "--chart", "plan.pdf"], "must end in .svg or .png, got plan.pdf"),
    ],
)
def test_wrong_usage_is_explained(run, words, message):
    result = run(*words)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--half-width", "1e-160"], "half_width must be from 1e-15 to 1, got 1e-160"),
        (["--half-width", "5e-324"], "half_width must be from 1e-15 to 1, got 5e-324"),
        (["--n", "9" * 400], "n must be at most 1,000,000,000,000, got 999"),
        (["--n", "10", "--confidence", "1e-17"], "confidence must be from 0.01 to 1, got 1e-17"),
        (["--n", "99", "--clusters", "9", "--rho", ".1", "--confidence", "1e-9"], "confidence must be from 0.01 to 1"),
        (["--n", "99", "--clusters", "9", "--rho", "nan"], "rho must be from 0 to 1, got nan"),
    ],
)
def test_numbers_of_no_sane_size_are_refused_by_name_in_one_line(run, words, message):
    result = run(*words)
    assert result.exit_code == 1
    assert message in result.stderr
    assert len(result.stderr) < 200


def test_a_survey_file_with_a_mistake_is_reported(run, tmp_path):
    (tmp_path / "survey.yaml").write_text(FILE.replace("ln 27", "0"))
    result = run("--n", "10")
    assert result.exit_code == 1
    assert "must be above 0" in result.stderr
