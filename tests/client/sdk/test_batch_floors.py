"""The floors of a client: it takes no part in a survey that may show fewer records together, or fewer of one group, than it accepts."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from deniable import SurveyClient
from deniable.cli import main
from deniable.errors import DeliveryError, RefusedError
from deniable.survey import Survey

ANSWERS = {"smokes": "yes", "party": "Red"}
GROUPS = ["North", "South"]


@pytest.fixture
def publish(server, study):
    """`publish(batch, groups)` publishes the study with this batch; the definition names it only where it is not the default."""

    def made(batch, groups=None):
        keys = {**study.to_dict(), "batch": batch, **({"groups": groups} if groups else {})}
        if batch < 10:
            keys["accept_small_batches"] = True
        survey = Survey.from_dict(keys)
        server.publish(survey)
        return survey

    return made


def submit(server, group=None, **floors):
    with SurveyClient(server.url, outbox=":memory:", retries=0, **floors) as client:
        client.submit("study", ANSWERS, group=group)


@pytest.mark.parametrize("batch", [1, 2, 9])
@pytest.mark.parametrize("groups", [None, GROUPS])
def test_a_batch_below_ten_is_refused_unless_the_floor_is_lowered(server, publish, batch, groups):
    publish(batch, groups)
    group = groups and groups[0]
    with pytest.raises(RefusedError, match=rf"batch must be at least 10, got {batch}: so few records may be shown together") as caught:
        submit(server, group)
    assert "SurveyClient(min_batch=…), or --min-batch on the command line" in str(caught.value)
    assert server.posts == []
    submit(server, group, min_batch=batch, min_group=batch)
    assert len(server.posts) == 1


def test_a_survey_with_groups_needs_the_floor_of_groups_too(server, publish):
    publish(5, GROUPS)
    with pytest.raises(RefusedError, match=r"SurveyClient\(min_group=…\), or --min-group"):
        submit(server, "North", min_batch=5)
    with pytest.raises(RefusedError, match=r"SurveyClient\(min_batch=…\), or --min-batch"):
        submit(server, "North", min_group=5)
    assert server.posts == []
    submit(server, "North", min_batch=5, min_group=5)


def test_without_groups_the_floor_of_groups_is_no_obstacle(server, publish):
    publish(20)
    submit(server, min_batch=20, min_group=1000)
    assert len(server.posts) == 1


@pytest.mark.parametrize(("floor", "is_taken"), [(19, True), (20, True), (21, False)])
@pytest.mark.parametrize("name", ["min_batch", "min_group"])
def test_a_raised_floor_is_met_exactly(server, publish, name, floor, is_taken):
    publish(20, GROUPS)
    if is_taken:
        submit(server, "South", **{name: floor})
    else:
        with pytest.raises(RefusedError, match=f"batch must be at least {floor}, got 20"):
            submit(server, "South", **{name: floor})
    assert len(server.posts) == is_taken


def test_the_default_batch_is_no_obstacle_and_the_floors_can_be_read(server, publish):
    assert publish(10, GROUPS).batch == 10
    submit(server, "North")
    with SurveyClient(server.url, outbox=":memory:") as client:
        assert (client.min_batch, client.min_group) == (10, 10)


def test_many_rows_and_a_session_are_refused_too_and_leave_nothing_in_the_outbox(server, publish, outbox):
    publish(5)
    with SurveyClient(server.url, outbox=outbox, key=server.key) as client:
        with pytest.raises(RefusedError):
            client.submit_many("study", [ANSWERS] * 30)
        with pytest.raises(RefusedError):
            client.survey("study")
    assert server.posts == []
    assert not outbox.exists()


def test_results_can_be_read_whatever_the_batch_is(server, publish):
    publish(5)
    with SurveyClient(server.url, outbox=":memory:", key=server.key, retries=0) as client, pytest.raises(DeliveryError, match="results"):
        client.results("study")  # refused for what the reply says, not for the batch


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ([], "--min-batch"),
        (["--min-batch", "5"], "--min-group"),
        (["--min-group", "5"], "--min-batch"),
        (["--min-batch", "6", "--min-group", "5"], "batch must be at least 6, got 5"),
        (["--min-batch", "5", "--min-group", "5"], None),
    ],
)
def test_the_command_has_both_floors(server, publish, tmp_path, monkeypatch, options, told):
    publish(5, GROUPS)
    answers = tmp_path / "answers.csv"
    answers.write_text("smokes,party\nyes,Red\nno,1\n")
    monkeypatch.setenv("DENIABLE_KEY", server.key)
    words = ["submit", f"{server.url}/s/study", "--group", "North", "--outbox", str(tmp_path / "outbox"), *options, str(answers)]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == (1 if told else 0), result.output
    assert (told or "") in result.stderr
    assert sum(json.loads(post.body)["count"] for post in server.posts) == (0 if told else 2)


@pytest.mark.parametrize("option", ["--min-batch", "--min-group"])
@pytest.mark.parametrize("value", ["0", "-1", "1001", "ten"])
def test_a_floor_is_a_whole_number_in_range(server, publish, tmp_path, option, value):
    publish(10)
    answers = tmp_path / "answers.csv"
    answers.write_text("smokes,party\nyes,Red\n")
    result = CliRunner().invoke(main, ["submit", f"{server.url}/s/study", option, value, str(answers)])
    assert result.exit_code in (1, 2)
    assert "Traceback" not in result.output
    assert (option in result.stderr) or (option.strip("-").replace("-", "_") in result.stderr)
    assert server.posts == []
