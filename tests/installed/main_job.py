"""Smoke test of an installation: does the main job with the installed package alone, a step for each extra that is named.

    python main_job.py server,bundle

Run it with the environment's own Python, in an empty folder outside the checkout. It imports nothing but what the extras install.
The url of a new PostgreSQL database is read from DENIABLE_POSTGRES; without it the step `postgres` only imports the driver.
"""

from __future__ import annotations

import csv
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

import httpx
import numpy as np

from deniable import Submission, Survey, SurveyClient, encode, os_words, pack, randomize, unpack
from deniable.wire.part import Part

PATIENCE = float(os.environ.get("DENIABLE_PATIENCE", "300"))  # seconds
BIN = Path(sys.executable).parent
USER, PASSWORD = "ada", "correct horse battery"
ROWS = [{"affair": "yes", "children": "none"}] * 30 + [{"affair": "no", "children": "three or more"}] * 70
SURVEY = """\
deniable: 1
id: affairs
title: About marriage
about: Who asks, why, and who to contact.
epsilon: ln 9
questions:
  - {id: affair, text: "Have you ever had an affair?", type: yes_no}
  - {id: children, text: "How many children do you have?", type: choice, options: [none, one or two, three or more]}
"""


def run(program: str, *words: object, **environment: str) -> str:
    """Runs a console script of this environment and returns its output; exits with that output if it fails."""
    command = [str(BIN / program), *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment}, timeout=2 * PATIENCE)
    if done.returncode:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def perturbed(survey: Survey, n: int = 200) -> bytes:
    """Returns n packed reports of made-up answers, perturbed with the system's coins."""
    answers = {"affair": ["yes", "no", "no"], "children": ["none", "one or two", "three or more"]}
    bits = []
    for question in survey.questions:
        categories = np.array([encode(question, answers[question.id][row % 3]) for row in range(n)])
        bits.append(randomize(question.channel, categories, os_words))
    return pack(survey, bits)


def base(survey: Survey) -> None:
    """The client alone: a survey is checked, answers are perturbed and packed."""
    assert run("deniable", "--version").strip()
    assert survey.digest in run("deniable", "check", "affairs.yaml")
    reports = perturbed(survey)
    submission = Submission(os_words(4).tobytes(), survey.digest, 200, reports)
    assert Submission.from_json(submission.to_json()) == submission
    assert unpack(survey, reports, 200).shape == (200, survey.record.bits)


def estimate(survey: Survey) -> None:
    """Estimates, a cross table, a regression and a plan."""
    from deniable.estimate import analyse
    from deniable.plan import plan

    analysis = analyse(survey, perturbed(survey))
    assert analysis.results["affair", "yes"].n == 200
    assert "three or more" in analysis.crosstab("affair", "children").to_table()
    assert len(analysis.regress("affair ~ children", model="linear").params) == 3
    assert list(analysis.results.to_frame().columns)
    assert plan(survey, n=200).rows


def tables(survey: Survey) -> None:
    """Answers from a workbook and from Parquet, results as a workbook, an export."""
    import openpyxl
    import pyarrow as pa
    import pyarrow.parquet as pq

    from deniable.device.sources import as_rows
    from deniable.exported import Export, write

    pq.write_table(pa.Table.from_pylist(ROWS), "answers.parquet")
    book = openpyxl.Workbook()
    for row in [list(ROWS[0]), *(list(row.values()) for row in ROWS)]:
        book.active.append(row)
    book.save("answers.xlsx")
    for file in ("answers.parquet", "answers.xlsx"):
        assert as_rows(file) is not None
    write(Path("local-export"), survey, [(Part(None, "device"), [perturbed(survey)])], False)
    assert Export.open("local-export").tally().n == 200


def bundle(survey: Survey) -> None:
    """Every file of a bundle, none left out."""
    import zipfile

    from deniable.bundle import Bundle, CountedRecords

    whole = Bundle(CountedRecords(survey, {Part(None, "device"): 200}, BytesIO(perturbed(survey))))
    assert {"rows.parquet", "report.docx"} <= set(whole.files), dict(whole.omitted_files)
    with Path("bundle.zip").open("wb") as file:
        whole.write_zip(file)
    assert "report.docx" in " ".join(zipfile.ZipFile("bundle.zip").namelist())


def pdf(survey: Survey) -> None:
    """The report as PDF."""
    from deniable.bundle import Bundle, CountedRecords

    with Path("report.pdf").open("wb") as file:
        Bundle(CountedRecords(survey, {Part(None, "device"): 200}, BytesIO(perturbed(survey)))).write("report.pdf", file)
    assert Path("report.pdf").read_bytes().startswith(b"%PDF-1.7")


def plot(survey: Survey) -> None:
    """Charts of results and of a plan."""
    from deniable.estimate import analyse
    from deniable.plan import plan

    analyse(survey, perturbed(survey)).save_chart("chart.png")
    plan(survey, n=200).plot().save("plan.svg")
    assert all(Path(name).stat().st_size > 1000 for name in ("chart.png", "plan.svg"))


def scale(survey: Survey) -> None:
    """An export counted by a cluster of two processes, with the same figures as by one."""
    from deniable.exported import write

    write(Path("scale-export"), survey, [(Part(None, "device"), [perturbed(survey)])], False)
    alone = run("deniable", "tally", "scale-export", "--csv")
    assert run("deniable", "tally", "scale-export", "--csv", "--workers", 2) == alone
    assert alone.count("\n") > 5


def xlsform(survey: Survey) -> None:
    """A survey from an XLSForm."""
    import openpyxl

    book = openpyxl.Workbook()
    form, choices = book.active, book.create_sheet("choices")
    form.title = "survey"
    for row in (("type", "name", "label"), ("select_one yesno", "cheated", "Have you ever cheated?")):
        form.append(row)
    for row in (("list_name", "name", "label"), ("yesno", "yes", "Yes"), ("yesno", "no", "No")):
        choices.append(row)
    book.save("form.xlsx")
    run("deniable", "import", "form.xlsx", "-o", "imported.yaml")
    assert [question.id for question in Survey.from_file("imported.yaml").questions] == ["cheated"]


def browser(survey: Survey) -> None:
    """The driver of a real browser."""
    from websocket import create_connection

    from deniable.verify import chromium

    assert create_connection
    assert chromium


@contextmanager
def serving(database: str, *options: str) -> Iterator[str]:
    """A server of `database` on a free port; yields its url once it answers, and lets it end in order."""
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with Path("server.log").open("ab") as log:
        words = [str(BIN / "deniable-server"), "serve", "--db", database, "--port", str(port), *options]
        process = subprocess.Popen(words, stdout=log, stderr=log)
    url, deadline = f"http://127.0.0.1:{port}", time.monotonic() + PATIENCE
    try:
        while True:
            try:
                httpx.get(f"{url}/healthz", timeout=PATIENCE).raise_for_status()
                break
            except httpx.TransportError:
                log_text = Path("server.log").read_text(encoding="utf-8")
                assert process.poll() is None, log_text
                assert time.monotonic() < deadline, log_text
                time.sleep(0.05)
        yield url
        process.terminate()
        assert process.wait(PATIENCE) == 0
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def study(database: str, extras: set[str]) -> None:
    """A whole study on a server: init, publish, key, serve, submit, results, pages, export, bundle."""
    secret = {"ADA": PASSWORD}
    run("deniable-server", "init", "--db", database, "--user", USER, "--password-env", "ADA", **secret)
    run("deniable-server", "publish", "affairs.yaml", "--db", database, "--yes")
    printed = run("deniable-server", "key", "make", "--db", database, "--scope", "submit", "--name", "lab")
    key = re.search(r"dk_\S+", printed)
    assert key, printed
    with serving(database) as url:
        name = re.sub(r"\W", "", database)[-20:]
        with SurveyClient(url, max_epsilon="ln 9", outbox=f"outbox-{name}.db", auth=(USER, PASSWORD), key=key[0]) as client:
            client.submit("affairs", ROWS[0])
            assert client.submit_many("affairs", ROWS).accepted == len(ROWS)
            with Path(f"answers-{name}.csv").open("w", newline="", encoding="utf-8") as file:
                writer = csv.DictWriter(file, list(ROWS[0]))
                writer.writeheader()
                writer.writerows(ROWS)
            sent = 2 * len(ROWS)
            client.submit_many("affairs", f"answers-{name}.csv")
            for table in ("answers.parquet", "answers.xlsx") if "tables" in extras else ():
                client.submit_many("affairs", table, job=f"{table} {name}")
                sent += len(ROWS)
            run("deniable-server", "close", "affairs", "--db", database)  # counts all that waits
            results = client.results("affairs")
            assert results.n == sent  # the record of one person is no batch, and stays sealed
            if "plot" in extras:
                results.save_chart(f"results-{name}.svg")
            if "tables" in extras:
                results.to_excel(f"results-{name}.xlsx")
            client.bundle("affairs", f"bundle-{name}.zip")
            if "bundle" in extras:
                client.bundle("affairs", f"report-{name}.docx", only="report.docx")
        pages(url)
        assert "About marriage" in run("deniable", "results", url, "--survey", "affairs", "--user", USER, "--password-env", "ADA", **secret)
    printed = run("deniable-server", "results", "affairs", "--db", database, "--csv")
    assert {row["n"] for row in csv.DictReader(printed.splitlines())} == {str(sent)}, printed
    if extras & {"tables", "scale", "bundle"}:
        run("deniable-server", "export", "affairs", "--db", database, "--parquet", f"export-{name}")
        assert "affair" in run("deniable", "tally", f"export-{name}")


def pages(url: str) -> None:
    """The pages of respondents and researchers: each answers 200."""
    with httpx.Client(base_url=url, timeout=PATIENCE, follow_redirects=True) as http:
        token = http.get("/login").text.split('name="csrf_token"')[1].split('value="')[1].split('"')[0]
        http.post("/login", data={"user": USER, "password": PASSWORD, "csrf_token": token}).raise_for_status()
        survey = "/manage/surveys/affairs"
        listed = {path for path in re.findall(r'href="(/manage[^"#?]*)"', http.get(survey).raise_for_status().text) if "logout" not in path}
        assert len(listed) > 5
        for path in ["/s/affairs", "/s/affairs?lang=ar", "/manage", survey, *sorted(listed)]:
            http.get(path).raise_for_status()


def main(extras: set[str]) -> None:
    """Runs the steps of these extras, in the current folder."""
    Path("affairs.yaml").write_text(SURVEY, encoding="utf-8")
    survey = Survey.from_text(SURVEY)
    implied = {"estimate"} if extras & {"server", "postgres", "bundle", "pdf", "plot", "scale"} else set()
    steps = (estimate, tables, bundle, pdf, plot, scale, xlsform, browser)
    base(survey)
    for step in steps:
        if step.__name__ in extras | implied:
            step(survey)
    if "server" in extras:
        study("survey.db", extras)
    if "postgres" in extras:
        import psycopg
        import psycopg_pool

        assert psycopg.pq.__impl__ == "binary"
        assert psycopg_pool
        if url := os.environ.get("DENIABLE_POSTGRES"):
            study(url, extras)
    print(f"ok {','.join(sorted(extras)) or 'none'}")


if __name__ == "__main__":
    main({extra for extra in sys.argv[1].split(",") if extra} if len(sys.argv) > 1 else set())
