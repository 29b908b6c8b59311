"""The main job from end to end, on real answers: what `make demo` runs.

Starts a server with a new database, publishes a survey, sends 944 real respondents' answers through the client, each
randomized before it leaves, then prints truth and estimate side by side and shows the results page.
"""

from __future__ import annotations

import csv
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
import webbrowser
from collections import Counter
from pathlib import Path

import httpx

from deniable import Survey, SurveyClient
from deniable.estimate import Results
from deniable.wire.link import Link

HERE = Path(__file__).parent
SURVEY, ANSWERS = HERE / "anes1996.yaml", HERE / "anes1996.csv"
FOLDER = HERE.parent / "demo"
DATABASE = FOLDER / "deniable.db"
USER = "researcher"


def main() -> None:
    shutil.rmtree(FOLDER, ignore_errors=True)
    password, port = secrets.token_urlsafe(9), free_port()
    url = f"http://127.0.0.1:{port}"
    manage("init", "--user", USER, "--password-env", "DEMO_PASSWORD", DEMO_PASSWORD=password)
    manage("publish", "--yes", str(SURVEY))
    server = subprocess.Popen([command("deniable-server"), "serve", "--db", str(DATABASE), "--port", str(port)])
    try:
        wait_for(f"{url}/healthz")
        with ANSWERS.open(newline="") as file:
            rows = list(csv.DictReader(file))
        results = collect(url, rows, password)
        compare(results, rows)
        show_page(url, password)
    finally:
        server.terminate()
        server.wait()


def manage(*words: str, **environment: str) -> None:
    """Runs one `deniable-server` command on the demo's database."""
    name, *rest = words
    subprocess.run([command("deniable-server"), name, "--db", str(DATABASE), *rest], check=True, env={**os.environ, **environment})


def command(name: str) -> str:
    """The console script that belongs to this Python."""
    return str(Path(sys.executable).with_name(name))


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(url: str, seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            httpx.get(url).raise_for_status()
            return
        except httpx.TransportError:
            time.sleep(0.1)
    raise SystemExit(f"the server did not answer within {seconds:g} seconds")


def collect(url: str, rows: list[dict[str, str]], password: str) -> Results:
    """Every respondent is one submission, as if sent from a device of their own."""
    with SurveyClient(url, max_epsilon=3.3, outbox=FOLDER / "outbox.db", auth=(USER, password)) as client:
        print(f"\nSending {len(rows)} respondents, one by one ...", flush=True)
        for row in rows:
            client.submit("anes1996", row)
        print("The last ones stay behind, ten or more; closing the survey counts them. It is opened again for you to try:", flush=True)
        print("what you send then waits for nineteen others.", flush=True)
        manage("close", "anes1996")
        manage("close", "--reopen", "anes1996")
        return client.results("anes1996")


def compare(results: Results, rows: list[dict[str, str]]) -> None:
    print(f"\n{results.title}: {results.n} respondents, epsilon {results.epsilon:.3f} in all. The server saw perturbed bits only.\n")
    print(f"{'question':10}{'option':26}{'truth':>8}{'estimate':>10}   95% interval")
    for row in results.rows:
        answers = Counter(answer[row.question] for answer in rows)
        truth = answers[row.option] / len(rows)
        inside = "" if row.low <= truth <= row.high else "   (truth outside: expected for about 1 in 20)"
        print(f"{row.question:10}{row.option:26}{truth:8.1%}{row.estimate:10.1%}   {row.low:6.1%} to {row.high:6.1%}{inside}")


def show_page(url: str, password: str) -> None:
    """Opens the results page where somebody watches; else keeps a copy of it."""
    page, link = f"{url}/manage/surveys/anes1996", Link(url, "anes1996", Survey.from_file(SURVEY).digest)
    print(f"\nResults page   {page}\nname           {USER}\npassword       {password}\nanswer it      {link}\n")
    if sys.stdin is not None and sys.stdin.isatty():
        webbrowser.open(page)
        input("Press Enter to stop the server. ")
        return
    with httpx.Client(base_url=url, follow_redirects=True) as browser:
        token = browser.get("/login").text.split('name="csrf_token"')[1].split('value="')[1].split('"')[0]
        reply = browser.post("/login", data={"user": USER, "password": password, "csrf_token": token})
        copy = FOLDER / "results.html"
        copy.write_text(browser.get(page).raise_for_status().text, encoding="utf-8")
        reply.raise_for_status()
    print(f"Nobody watches this terminal, so a copy of the results page is in {copy.relative_to(FOLDER.parent)}.")


if __name__ == "__main__":
    main()
