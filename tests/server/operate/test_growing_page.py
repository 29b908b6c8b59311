"""The commands and examples of docs/guide/growing.md run as they stand, with a cluster at another address."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from distributed import Client, LocalCluster

from deniable.bundle import Bundle, CountedRecords
from deniable.cli import main as sdk
from deniable.estimate import share
from deniable.simulate import simulate
from deniable.survey import Survey
from deniable.wire.part import Part
from deniable.wire.submission import Submission
from deniable_server.operate.cli import main as server
from deniable_server.store.protocol import Store

PAGE = (Path(__file__).parents[3] / "docs" / "guide" / "growing.md").read_text(encoding="utf-8")
ADDRESS, SHARED = "tcp://10.0.0.5:8786", "/shared/"
CLINICS = Survey.from_text("""
deniable: 1
id: clinics
title: Clinics
about: Who asks, and why.
epsilon: 4
groups: [North, East, South]
questions:
  - {id: smokes, text: Smokes?, type: yes_no}
  - {id: party, text: Party?, type: choice, options: [Red, Green, Blue]}
""")
SHARES = {"smokes": [0.3, 0.7], "party": [0.5, 0.3, 0.2]}


def example(holding: str) -> str:
    (found,) = [block for block in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL) if holding in block]
    return found


def run(code: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    exec(compile(code, "docs/guide/growing.md", "exec"), {})
    return capsys.readouterr().out.splitlines()


@pytest.fixture
def reports(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    """What organisations in each of three places sent: 1,000 records each."""
    store.surveys.publish(CLINICS)
    made = {group: simulate(CLINICS, SHARES, n=1000).reports for group in CLINICS.groups}
    for number, (group, raw) in enumerate(made.items()):
        store.submissions.add("clinics", Submission(bytes([number] * 16), CLINICS.digest, 1000, raw, group, "organisation"))
    monkeypatch.chdir(tmp_path)
    return made


@pytest.mark.slow
def test_what_the_page_says_of_an_export_is_what_happens(reports: dict[str, bytes], capsys: pytest.CaptureFixture[str]) -> None:
    with LocalCluster(n_workers=1, processes=False, dashboard_address="127.0.0.1:0") as local, Client(local):
        tables = []
        for block in re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL):
            for words, told in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE):
                program, *rest = shlex.split(words.replace(ADDRESS, local.scheduler_address).replace(SHARED, ""))
                command, at = {"deniable-server": (server, ["--db", "deniable.db"]), "deniable": (sdk, [])}[program]
                result = CliRunner().invoke(command, [*rest, *at])
                assert result.exit_code == 0, result.output
                assert told in result.output
                tables += [result.output] if program == "deniable" else []
        assert len(tables) == 2
        assert tables[0] == tables[1], "with a cluster it is the same"
        Path("monday.bin").write_bytes(reports["North"])
        Path("tuesday.bin").write_bytes(reports["South"])
        north, two = (line for line in run(example("dask.bag"), capsys) if "reports ·" in line)
    assert north.startswith("1,000 reports")
    assert two.startswith("2,000 reports")


def test_a_filter_of_ones_own_finds_what_the_page_says(reports: dict[str, bytes], capsys: pytest.CaptureFixture[str]) -> None:
    CliRunner().invoke(server, ["export", "clinics", "--parquet", "clinics-export", "--db", "deniable.db"])
    listed, *summary = run(example("GROUP BY ALL"), capsys)
    assert listed == "[('East', 'organisation', 1000), ('North', 'organisation', 1000), ('South', 'organisation', 1000)]"
    assert any(line.startswith("2,000 reports") for line in summary)


def test_rows_are_counted_by_sql_and_their_bias_taken_out(
    reports: dict[str, bytes], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    people = simulate(CLINICS, SHARES, n=3000)
    with open("records.bin", "w+b") as records:
        records.write(people.reports)
        bundle = Bundle(CountedRecords(CLINICS, {Part("North"): people.n}, records))
        for name in ("rows.parquet", "codebook.json"):
            with open(name, "wb") as file:
                bundle.write(name, file)
    told = run(example("codebook"), capsys)
    named = people.bits[:, CLINICS.record.field("party").bits][:, 1]
    smokes, coins = people.bits[named, 0], CLINICS.questions[0].channel
    assert told == str(share(int(smokes.sum()), len(smokes), q0=float(coins.phi), q1=float(coins.theta))).splitlines()


def test_the_page_names_options_that_the_command_has() -> None:
    command = sdk.get_command(click.Context(sdk), "tally")
    assert command is not None
    options = {option for one in command.params for option in one.opts}
    named = set(re.findall(r"`(-[-a-z]+)", PAGE))
    assert named >= {"--scheduler", "--workers", "-o", "--group", "--by-hand"}
    assert named <= options
