"""What several commands take: a secret that is given in the place of its variable's name is not shown."""

from __future__ import annotations

import pytest
from click.testing import CliRunner, Result

from deniable.cli import main

KEY = "dk_" + "sEcReT-_9" * 5


def submit(*words: str) -> Result:
    return CliRunner().invoke(main, ["submit", "http://127.0.0.1:9/s/study", *words, __file__])


@pytest.mark.parametrize("given", [KEY, KEY.replace("-", ""), f" {KEY}", f"DENIABLE_KEY={KEY}", "dk_", "p4ss word", "", "9lives"])
def test_a_key_in_the_place_of_its_variables_name_is_not_shown(given):
    result = submit("--key-env", given)
    assert result.exit_code == 2
    assert "'--key-env': must be the name of an environment variable, not its value" in result.stderr
    assert not given.strip() or given not in result.output
    assert "sEcReT" not in result.output


@pytest.mark.parametrize("name", ["NO_SUCH_VARIABLE", "_x9", "password"])
def test_a_variable_that_is_not_set_is_named(name):
    result = submit("--key-env", name)
    assert result.exit_code == 2
    assert f"'--key-env': the environment variable {name} is not set" in result.stderr


def test_a_variable_of_an_unusual_name_is_read_where_it_is_set(monkeypatch):
    monkeypatch.setenv("dk_of.mine", "no key")
    assert "must be the name of an environment variable" not in submit("--key-env", "dk_of.mine").stderr


def test_a_password_in_the_place_of_its_variables_name_is_not_shown():
    result = CliRunner().invoke(main, ["results", "http://127.0.0.1:9/s/study", "--user", "ada", "--password-env", "hunter 2"])
    assert result.exit_code == 2
    assert "--password-env: must be the name of an environment variable, not its value" in result.stderr
    assert "hunter" not in result.output
