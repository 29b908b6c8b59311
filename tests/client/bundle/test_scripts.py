"""Both scripts of a bundle run where there is nothing of deniable, and print every figure of the results page again."""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable, Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from tests.client.bundle.conftest import Made, counted_of, written

from deniable.bundle import Bundle
from deniable.estimate import Results, analyse
from deniable.wire.part import Part

pytestmark = pytest.mark.slow

CLEAN = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
FIGURES = ("n", "ones", "estimate", "std_error", "low", "high", "adjusted")
SIZES = {
    "deniable": 1,
    "batch": 1,
    "accept_small_batches": True,
    "id": "sizes",
    "title": "Many coins",
    "about": "Who asks, and why.",
    "accept_high_epsilon": True,
    "questions": [
        *({"id": f"e{i}", "text": "?", "type": "yes_no", "epsilon": epsilon} for i, epsilon in enumerate((0.1, 1, 4, 7, 10))),
        *({"id": f"k{k}", "text": "?", "type": "choice", "options": [f"o{i}" for i in range(k)], "epsilon": 2} for k in (4, 9, 70)),
        {"id": "m", "text": "?", "type": "scale", "options": ["a", "b", "c", "d"], "epsilon": 8},
        {"id": "s", "text": "?", "type": "scale", "options": ["a", "b", "c"], "required": False, "epsilon": 0.5},
        *({"id": f"n{e}", "text": "?", "type": "number", "low": -3, "high": 9, "epsilon": e} for e in (1, 5)),
        {"id": "o", "text": "?", "type": "number", "low": -3, "high": 9, "required": False, "epsilon": 2},
    ],
}

Run = Callable[[Path], subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python that has numpy and pandas with what they need, and nothing else."""
    folder = tmp_path_factory.mktemp("clean") / "env"
    venv.create(folder)
    place = folder / "bin" / "python"
    site = next((folder / "lib").glob("python*")) / "site-packages"
    for name in ("numpy", "pandas", "python-dateutil", "tzdata"):
        for top in {file.parts[0] for file in metadata.files(name) or ()} - {".."}:
            (site / top).symlink_to(metadata.distribution(name).locate_file(top).resolve())
    missing = "import importlib.util as u; print([n for n in ('numpy', 'pandas', 'scipy', 'deniable') if u.find_spec(n) is None])"
    found = subprocess.run([place, "-c", missing], check=True, capture_output=True, text=True, env=CLEAN, cwd=folder).stdout
    assert found == "['scipy', 'deniable']\n"
    return place


@pytest.fixture(params=["python", "R"])
def run(request: pytest.FixtureRequest, python: Path) -> Run:
    """Runs one of the two scripts in a folder, from another one."""
    words = {"python": [str(python), "reproduce.py"], "R": ["Rscript", "--vanilla", "reproduce.R"]}[request.param]

    def ran(folder: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*words[:-1], str(folder / words[-1])], capture_output=True, text=True, env=CLEAN, cwd="/")

    return ran


def copied(made: Made, folder: Path) -> Path:
    """Only what the scripts say that they read."""
    for name in ("rows.csv", "codebook.csv", "estimates.csv", "reproduce.py", "reproduce.R"):
        shutil.copy(made.folder / name, folder)
    return folder


def page(made: Made) -> Iterator[tuple[str, int, Results]]:
    """What the results page shows, from the records alone: for all, each group, and those made by hand."""
    raw, size = made.counted.file, made.survey.record.bytes
    raw.seek(0)
    of = {part: raw.read(n * size) for part, n in made.counted.sizes.items()}
    for by_hand in (False, True):
        if by_hand and not any(part.mode == "by_hand" for part in of):
            return
        for group in (None, *made.survey.groups):
            chosen = [part for part in of if (part.mode == "by_hand") is by_hand and group in (None, part.group)]
            yield group or "", int(by_hand), analyse(made.survey, b"".join(of[part] for part in chosen)).results


def lines(made: Made) -> list[dict[str, Any]]:
    found = []
    for group, by_hand, results in page(made):
        whose = {"group": group, "by_hand": by_hand}
        found += [{**whose, **{name: getattr(row, name) for name in ("question", "option", *FIGURES)}} for row in results.rows]
        for row in results.means:
            told = {"estimate": row.mean, "n": row.n, "std_error": row.std_error, "low": row.low, "high": row.high}
            found.append({**whose, "question": row.question, "option": "", "ones": None, "adjusted": None, **told})
    return found


def differing(folder: Path, expected: list[dict[str, Any]]) -> list[str]:
    """The figures that the script computed and that are not those expected, to 6 digits."""
    with open(folder / "reproduced.csv", newline="", encoding="utf-8") as file:
        found = list(csv.DictReader(file))
    wrong = [] if len(found) == len(expected) else [f"{len(found)} lines, {len(expected)} expected"]
    for own, told in zip(found, expected, strict=False):
        for name, value in told.items():
            if value is None or isinstance(value, str):
                same = own[name].removeprefix("'") == (value or "").removeprefix("'")
            else:
                same = own[name] != "" and abs(float(own[name]) - value) <= 5e-7 * abs(value) + 1e-9
            if not same:
                wrong.append(f"{told['question']}, {told['option']}, {name}: {own[name]} for {value}")
    return wrong


@pytest.mark.parametrize("survey", ["every", "asked", "coins", "units"])
def test_the_script_prints_every_figure_of_the_page(make: Callable[[str], Made], run: Run, survey: str, tmp_path: Path) -> None:
    made = make(survey)
    done = run(copied(made, tmp_path))
    expected = lines(made)
    assert differing(tmp_path, expected) == []
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, f"All {len(expected)} lines agree with estimates.csv."), done.stderr
    assert "rror" not in done.stderr


@pytest.mark.parametrize("n", [1, 9, 400, 12_000])
def test_it_does_so_of_few_records_and_of_many_with_weak_coins_and_strong(run: Run, n: int, tmp_path: Path) -> None:
    made = sized(n, tmp_path)
    done = run(tmp_path)
    assert differing(tmp_path, lines(made)) == []
    assert done.returncode == 0, done.stdout + done.stderr


def sized(n: int, folder: Path) -> Made:
    counted = counted_of(SIZES, {Part(): n})
    written(bundle := Bundle(counted), folder)
    return Made(counted.survey, counted, bundle, folder)


def test_a_survey_that_nobody_answered_has_the_same_lines_without_figures(run: Run, tmp_path: Path) -> None:
    counted = counted_of(SIZES, {})
    written(Bundle(counted), tmp_path)
    assert run(tmp_path).returncode == 0
    with open(tmp_path / "reproduced.csv", newline="", encoding="utf-8") as file:
        found = list(csv.DictReader(file))
    assert len(found) == sum(len(item.shared) for item in counted.survey.items) + sum(
        item.scores is not None for item in counted.survey.items
    )
    assert {line["estimate"] for line in found} == {""}


# Controls: what the scripts and this test must find.


def changed(folder: Path, name: str, change: Callable[[list[dict[str, str]]], None]) -> None:
    with open(folder / name, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    change(rows)
    with open(folder / name, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


def wrong_channel(rows: list[dict[str, str]]) -> None:
    for row in rows:
        if row["question"] == "smokes":
            row["threshold"] = str(int(row["threshold"]) - (1 << 20))


def shuffled_label(rows: list[dict[str, str]]) -> None:
    first, second = [row for row in rows if row["question"] == "mood"][:2]
    first["option"], second["option"] = second["option"], first["option"]


def other_code(rows: list[dict[str, str]]) -> None:
    first, second = [row for row in rows if row["question"] == "mood"][:2]
    first["code"], second["code"] = second["code"], first["code"]


def other_score(rows: list[dict[str, str]]) -> None:
    next(row for row in rows if row["question"] == "mood")["score"] = "-3"


@pytest.mark.parametrize(
    ("change", "what"), [(wrong_channel, "smokes"), (shuffled_label, "mood"), (other_code, "mood"), (other_score, "mood")]
)
def test_a_wrong_codebook_is_found(make: Callable[[str], Made], run: Run, tmp_path: Path, change: Any, what: str) -> None:
    made = make("asked")
    changed(copied(made, tmp_path), "codebook.csv", change)
    done = run(tmp_path)
    assert done.returncode == 1
    assert f"of {what} " in done.stdout
    assert differing(tmp_path, lines(made)) != []


BROKEN: Mapping[str, tuple[str, str]] = {
    "reproduce.py": ("phi = (d - theta) / (k - 1)", "phi = (d - theta) / k"),
    "reproduce.R": (
        "channel$phi <- (channel$d - channel$theta) / (channel$k - 1)",
        "channel$phi <- (channel$d - channel$theta) / channel$k",
    ),
}


def test_a_wrong_channel_matrix_in_the_script_is_found(make: Callable[[str], Made], run: Run, tmp_path: Path) -> None:
    made = make("asked")
    copied(made, tmp_path)
    for name, (right, wrong) in BROKEN.items():
        text = (tmp_path / name).read_text(encoding="utf-8")
        assert text.count(right) == 1
        (tmp_path / name).write_text(text.replace(right, wrong), encoding="utf-8")
    assert run(tmp_path).returncode == 1
    assert differing(tmp_path, lines(made)) != []


def test_a_single_row_that_changed_is_found(make: Callable[[str], Made], run: Run, tmp_path: Path) -> None:
    made = make("coins")

    def turned(rows: list[dict[str, str]]) -> None:
        rows[0]["stole"] = str(1 - int(rows[0]["stole"]))

    changed(copied(made, tmp_path), "rows.csv", turned)
    assert run(tmp_path).returncode == 1


def test_neither_script_knows_deniable_or_any_package_but_those_it_names(make: Callable[[str], Made]) -> None:
    made = make("coins")
    lines_ = (made.folder / "reproduce.py").read_text(encoding="utf-8").splitlines()
    imports = {line.split()[1].split(".")[0] for line in lines_ if line.startswith(("import ", "from "))}
    assert imports - set(sys.stdlib_module_names) == {"numpy", "pandas"}
    script = (made.folder / "reproduce.R").read_text(encoding="utf-8")
    assert not any(word in script for word in ("library(", "require(", "::"))
    assert os.path.getsize(made.folder / "reproduce.py") == len((made.folder / "reproduce.py").read_bytes())
    assert json.loads((made.folder / "codebook.json").read_text(encoding="utf-8"))["n"] == made.counted.n
