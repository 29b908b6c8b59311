"""A database is named by a path or a url; a url that is none of ours is refused in one line, which never has its password."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from deniable_server import Config
from deniable_server.config import Database
from deniable_server.operate.cli import main
from deniable_server.store import open_store

SECRET = "hunter2"
BAD = [
    f"mysql://ada:{SECRET}@db/study",
    f"ada:{SECRET}://db",
    f"://{SECRET}",
    f"sqlite://{SECRET}",
    "sqlite:///",
]


@pytest.mark.parametrize(
    ("place", "path"),
    [
        ("data.db", "data.db"),
        (Path("a/data.db"), "a/data.db"),
        ("sqlite:///data.db", "data.db"),
        ("sqlite:////srv/data.db", "/srv/data.db"),
    ],
)
def test_a_path_and_a_url_name_the_same_file_and_its_key_beside_it(place: str | Path, path: str) -> None:
    database = Database.at(place)
    assert (str(database), database.path, database.key) == (path, Path(path), Path(f"{path}.key"))
    assert Database.at(database) is database


@pytest.mark.parametrize("password", ["hun@ter2", "hun/ter2", "hun?ter2", "hun/t@er2", "hun?te@r2"])
def test_a_password_that_cannot_be_told_from_the_rest_is_refused_unread(password: str) -> None:
    with pytest.raises(ValueError, match="must be percent-encoded") as error:
        Database.at(f"postgresql://ada:{password}@db/study")
    assert "hun" not in str(error.value)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        (f"postgresql://ada:{SECRET}@db:5432/study?sslmode=require", "postgresql://ada@db:5432/study"),
        (f"postgres://ada:{SECRET}%40@[::1]/study", "postgresql://ada@[::1]/study"),
        (f"postgresql:///study?host=/run/db&password={SECRET}", "postgresql:///study"),
        ("postgresql://deniable@/study?host=/run/db", "postgresql://deniable@/study"),
    ],
)
def test_a_url_is_shown_without_its_password(url: str, shown: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DENIABLE_KEY_FILE", "/srv/deniable.key")
    database = Database.at(url)
    assert (str(database), database.url, database.path, database.key) == (shown, url, None, Path("/srv/deniable.key"))
    assert SECRET not in repr(database)


@pytest.mark.parametrize("url", BAD)
def test_any_other_url_is_refused_without_its_password(url: str) -> None:
    for use in (lambda: Database.at(url), lambda: open_store(url)):
        with pytest.raises(ValueError, match="a database must be a path or a url that begins with") as error:
            use()
        assert SECRET not in str(error.value)
    done = CliRunner().invoke(main, ["list", "--db", url])
    assert done.exit_code == 2
    assert len(done.output.splitlines()[-1]) < 200
    assert "a database must be a path or a url" in done.output
    assert SECRET not in done.output + repr(done.exception)


API_KEY = "dk_" + "A" * 43


@pytest.mark.parametrize(
    "words",
    [
        ("init", "--db", "postgresql:///study", "--user", "ada"),
        ("list", "--db", "postgresql:///study"),
        ("serve", "--db", "study.db", "--certificate", "pem", "--key", API_KEY),
        ("serve", "--db", "study.db", "--certificate", "pem", "--key", f"/srv/{API_KEY}"),
        ("restore", "pem", "--key", API_KEY),
    ],
)
def test_an_api_key_in_the_place_of_a_key_file_is_refused_and_shown_nowhere(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pem").touch()
    done = CliRunner().invoke(main, words, env={"DENIABLE_KEY_FILE": API_KEY, "PASSWORD": "correct horse battery"})
    assert (done.exit_code, "got an API key (dk_…)" in done.output) == (2, True), done.output
    assert "AAAA" not in done.output + repr(done.exception)
    assert [path.name for path in tmp_path.iterdir()] == ["pem"]


def test_a_key_in_the_place_of_its_name_is_shown_nowhere(tmp_path: Path) -> None:
    open_store(tmp_path / "study.db").close()
    for words in (["key", "revoke", API_KEY], ["key", "make", "--name", API_KEY, "--scope", "submit"]):
        done = CliRunner().invoke(main, [*words, "--db", str(tmp_path / "study.db")])
        assert (done.exit_code, "AAAA" in done.output) == (1, False), done.output


def test_a_programs_key_in_deniable_key_means_nothing_to_a_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DENIABLE_KEY", API_KEY)
    monkeypatch.delenv("DENIABLE_KEY_FILE", raising=False)
    assert Database.at("postgresql:///study").key == Path("deniable.key")


@pytest.mark.parametrize("command", ["list", "serve"])
@pytest.mark.parametrize(
    ("db", "message"),
    [
        ("new.db", "new.db is not set up; run `deniable-server init"),
        ("study.db", "the key file study.db.key of study.db is missing: put it back\n"),
        (
            "postgresql:///study",
            "the key file deniable.key of postgresql:///study is missing: put it back, or name its file with DENIABLE_KEY_FILE",
        ),
    ],
)
def test_the_file_that_is_missing_is_named(db: str, message: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DENIABLE_KEY_FILE", raising=False)
    open_store("study.db").close()
    Path("study.db.key").unlink()
    done = CliRunner().invoke(main, [command, "--db", db])
    assert (done.exit_code, message in done.output) == (1, True), done.output


@pytest.mark.parametrize(("given", "shown"), [("ADA_PASSWORD", " ADA_PASSWORD"), ("correct horse battery", ""), ("hunter2hunter2", "")])
def test_a_password_in_the_place_of_a_variables_name_is_shown_nowhere(given: str, shown: str, tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["init", "--db", str(tmp_path / "study.db"), "--user", "ada", "--password-env", given])
    assert (done.exit_code, f"the environment variable{shown} is not set" in done.output) == (2, True)
    assert shown or given not in done.output


def test_the_commands_take_a_url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["init", "--db", "sqlite:///study.db", "--user", "ada", "--password-env", "PASSWORD"]
    done = CliRunner().invoke(main, words, env={"PASSWORD": "correct horse battery"})
    assert (done.exit_code, done.output.split(" ")[0]) == (0, "study.db")
    assert {path.name for path in tmp_path.iterdir()} >= {"study.db", "study.db.key"}
    assert CliRunner().invoke(main, ["user", "list"], env={"DENIABLE_DB": "sqlite:///study.db"}).output == "ada\toperator\n"


def test_a_config_shows_neither_its_key_nor_where_its_data_is() -> None:
    shown = repr(Config(f"sqlite:///{SECRET}.db", "k" * 40))
    assert SECRET not in shown
    assert "kkkk" not in shown
