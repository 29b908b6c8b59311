"""What `--help` says: a whole sentence for each command where commands are listed, and words for every option."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import deniable
from deniable.cli import main as client
from deniable_server.operate.cli import main as server
from deniable_server.operate.command_list import main as listed_server

ROOT = Path(__file__).parents[1]
CLI = Path(next(iter(deniable.__path__))) / "cli"
NAMES_OF_TYPES = {"TEXT", "FLOAT", "INTEGER", "INTEGER RANGE", "FLOAT RANGE", "FILENAME"}


def commands(command: click.Command, name: str) -> Iterator[tuple[str, click.Command]]:
    """A command and all below it, by the words that call them."""
    yield name, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for word in command.list_commands(context):
            below = command.get_command(context, word)
            assert below is not None
            assert below.name == word
            yield from commands(below, f"{name} {word}")


COMMANDS = dict([*commands(client, "deniable"), *commands(server, "deniable-server")])


def listed(command: click.Command) -> list[str]:
    """How the help of a command lists the commands below it, in a terminal of 80 columns."""
    told = CliRunner().invoke(command, ["--help"], env={"COLUMNS": "80"}).output
    return told.split("\nCommands:\n")[1].splitlines() if "\nCommands:\n" in told else []


def badly_told(command: click.Command) -> list[str]:
    """The options without words, and those whose argument is told by its type alone."""
    context = click.Context(command)
    options = [one for one in command.get_params(context) if isinstance(one, click.Option)]
    arguments = {one.opts[0]: one.make_metavar(context) for one in options if not one.is_flag}
    return [one.opts[0] for one in options if not (one.help or "").strip() or arguments.get(one.opts[0]) in NAMES_OF_TYPES]


GROUPS = {"deniable": (client, {}), "deniable-server": (listed_server, server.commands)}
"""Each group that lists its commands from a table, and the commands that are not in modules of their own."""


@pytest.mark.parametrize("name", GROUPS)
def test_a_table_of_commands_says_what_each_command_says_of_itself(name: str) -> None:
    group, eager = GROUPS[name]
    context = click.Context(group)
    expected = {word: COMMANDS[f"{name} {word}"].get_short_help_str(limit=500) for word in {*group.list_commands(context), *eager}}
    assert {word: entry.help for word, entry in group.listed.items()} == expected
    assert all(group.get_command(context, word) is COMMANDS[f"{name} {word}"] for word in expected)
    assert group.get_command(context, "CANARY") is None


def test_the_servers_list_is_that_of_its_commands() -> None:
    texts = [CliRunner().invoke(group, ["--help"], env={"COLUMNS": "80"}, prog_name="x").output for group in (listed_server, server)]
    assert texts[0] == texts[1]


def modules_of_help(program: str) -> set[str]:
    """The modules that printing a group's help loads, in a fresh process."""
    script = f"import sys\nfrom {program} import main\ntry: main(['--help'])\nexcept SystemExit: print('MODULES', *sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    return set(done.stdout.rpartition("MODULES")[2].split())


@pytest.mark.slow
@pytest.mark.parametrize("program", ["deniable.cli", "deniable_server.operate.command_list"])
def test_help_loads_no_command_and_no_library_of_one(program: str) -> None:
    loaded = modules_of_help(program)
    assert {"click", program} <= loaded
    assert loaded & {"httpx", "rich", "numpy", "ssl", "yaml", "flask", "deniable.survey", "deniable_server.operate.cli"} == set()


@pytest.mark.slow
def test_the_control_the_group_of_the_commands_themselves_loads_them() -> None:
    assert {"numpy", "deniable.survey"} <= modules_of_help("deniable_server.operate.cli")


def test_every_command_there_is_can_be_called() -> None:
    sources = [path.read_text(encoding="utf-8") for path in CLI.glob("*.py")]
    names = {name for source in sources for name in re.findall(r'^@(?:live_)?command\(\s*"([^"]+)"', source, re.M)}
    assert names == {command.name for name, command in COMMANDS.items() if name.startswith("deniable ")}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_says_what_it_does_and_what_it_takes(name: str) -> None:
    assert badly_told(COMMANDS[name]) == []


@pytest.mark.parametrize("name", COMMANDS)
def test_a_list_of_commands_says_each_in_a_line_and_cuts_none_off(name: str) -> None:
    lines = listed(COMMANDS[name])
    assert [line for line in lines if not re.fullmatch(r"  [a-z-]+ +\S.*[^.]\.", line)] == []
    assert len(lines) == sum(other.startswith(f"{name} ") and " " not in other[len(name) + 1 :] for other in COMMANDS)


@pytest.mark.parametrize("name", [name for name in COMMANDS if name.startswith("deniable ")])
def test_examples_keep_their_lines_and_fit_80_columns(name: str) -> None:
    text = CliRunner().invoke(client, [name.removeprefix("deniable "), "--help"], env={"COLUMNS": "80"}).output
    lines = text.partition("\n  Example")[2].partition("\n\n")[0].splitlines()[1:]
    assert any(name in line for line in lines)
    assert [line for line in lines if not line.startswith("    ") or len(line) > 80] == []


def test_an_option_without_words_and_a_line_that_is_cut_off_are_noticed() -> None:
    @click.group()
    def group() -> None: ...

    @group.command("one", help="A sentence that goes on and on, so that no line of eighty characters has room for all that it says.")
    @click.option("--silent", metavar="X")
    @click.option("--number", type=float, help="A number.")
    @click.option("--good", metavar="X", help="An X.")
    def one(**_: object) -> None: ...

    assert badly_told(one) == ["--silent", "--number"]
    assert [line.endswith("...") for line in listed(group)] == [True]


@pytest.mark.slow
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
@pytest.mark.parametrize("name", ["deniable", "deniable-server"])
def test_the_documented_variables_print_a_completion_script(name: str, shell: str) -> None:
    variable = f"_{name.replace('-', '_').upper()}_COMPLETE"
    assert variable in (ROOT / "docs" / "start" / "install.md").read_text(encoding="utf-8")
    program = Path(sys.executable).with_name(name)
    done = subprocess.run([program], env={**os.environ, variable: f"{shell}_source"}, capture_output=True, text=True, check=True)
    assert f"{shell}_complete" in done.stdout
