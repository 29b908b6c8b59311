"""The examples of docs/guide/sdk.md run as they stand, against a server at another address."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from deniable.cli import main
from deniable.estimate import estimate
from deniable.survey import Survey
from deniable.wire.access_codes import read
from deniable.wire.tally import Tally

PAGE = (Path(__file__).parents[2] / "docs" / "guide" / "sdk.md").read_text()
ADDRESS = "https://survey.example.org"


def examples(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture
def folder(server, study, tmp_path, monkeypatch):
    survey = Survey.from_dict({**study.to_dict(), "id": "health"})
    server.publish(survey)
    server.publish(Survey.from_dict({**study.to_dict(), "id": "clinics", "groups": ["North", "South"]}))
    server.publish(Survey.from_dict({**study.to_dict(), "id": "panel", "access": "invited"}))
    server.results = estimate(survey, Tally.empty(5)).to_json().encode()
    server.publish(Survey.from_dict({**study.to_dict(), "id": "panel-2"}))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("PASSWORD", "secret")
    monkeypatch.setenv("DENIABLE_KEY", server.key)
    Path("answers.csv").write_text("smokes,party\nyes,Red\nno,1\n")
    Path("old.csv").write_text("smokes;party;Straße\nyes;Red;ä\n", encoding="cp1252")
    Path("staff.csv").write_text("smokes,party,staff_id\nyes,Red,4711\nno,1,4712\n")
    Path("copy of staff.csv").write_text(Path("staff.csv").read_text())
    Path("clinics.csv").write_text("smokes,party,clinic\nyes,Red,North\nno,1,South\nno,1,South\n")
    Path("survey.yaml").write_text((Path(__file__).parents[2] / "examples" / "anes1996.yaml").read_text())
    return tmp_path


@pytest.mark.slow
def test_the_python_examples_do_what_the_page_says(server, folder, capsys):
    printed = []
    for example in examples("python"):
        exec(compile(example.replace(ADDRESS, server.url), "docs/guide/sdk.md", "exec"), {})
        printed.append(capsys.readouterr().out)
    receipt, sent, refusal, groups, withdrawal, bulk, old, rejected, copies, ledger, resent, results = printed
    assert sent == "True\n"
    assert old == "1 rows accepted\n"
    assert copies == "2 accepted, 0 of them sent before\n2 accepted, 2 of them sent before\n"
    assert receipt.split()[1].startswith("2.197")
    assert "must have the pinned digest" in refusal
    assert groups == "3 rows in 2 submissions\n"
    assert len(read(withdrawal.removeprefix("To withdraw: "))) == 15
    assert bulk == "2 rows accepted, 0 problems\n"
    assert rejected == "2 smokes must be one of yes, no\n"
    assert ledger == "2 rows accepted\n"
    assert resent == "0 submissions delivered\n"
    assert "smokes" in results
    assert server.counted == 15


@pytest.mark.slow
def test_the_commands_of_the_page_work(server, folder):
    [block] = examples("sh")
    digest = Survey.from_definition(server.definitions["health"]).digest
    for line in block.replace(ADDRESS, server.url).replace("9f…", digest).splitlines():
        words = shlex.split(line.split("#  ")[0].split(" # ")[0].split(" > ")[0].split(" | ")[-1], comments=False)
        stdin = "smokes,party\nyes,Red\n" if words[-1] == "-" else None
        result = CliRunner().invoke(main, words[1:], input=stdin)
        assert result.exit_code == 0, (line, result.output)
    assert server.counted == 11


def test_the_control_a_wrong_example_fails(server, folder):
    with pytest.raises(Exception, match="no_such_option"):
        exec(examples("python")[0].replace("max_epsilon", "no_such_option").replace(ADDRESS, server.url), {})
