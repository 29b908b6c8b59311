"""Demo: a survey from publishing to estimates, with real answers; `make demo` and `deniable-server demo` run it.

Starts a server with a new database, publishes a survey, sends 944 real respondents' answers through the client, each randomized before
it leaves, then prints truth and estimate side by side and shows the results page.
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
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx

from deniable.errors import DeniableError
from deniable.estimate import Results
from deniable.sdk.client import SurveyClient
from deniable.survey import Survey
from deniable.wire.link import Link

_HERE = Path(__file__).parent
EXAMPLES = _HERE / "examples" if (_HERE / "examples").is_dir() else _HERE.parents[1] / "examples"  # in the wheel, else in the checkout
SURVEY, ANSWERS = EXAMPLES / "anes1996.yaml", EXAMPLES / "anes1996.csv"
USER = "researcher"
MARK = "made-by-deniable-demo"
PATIENCE = 300.0  # seconds for one reply, and for the start of a server, on a busy machine

Rows = Sequence[Mapping[str, str]]


class DemoError(Exception):
    """The demo cannot go on; the message says why in one line."""


def main(folder: Path) -> None:
    """Runs the demo in `folder`. Exits with 1 and one line if it fails, with 130 if it is interrupted."""
    try:
        run(folder)
    except (DemoError, DeniableError, httpx.HTTPError, OSError) as error:
        sys.exit(f"Error: the demo stopped: {one_line(error)}")
    except KeyboardInterrupt:
        sys.exit(130)


def one_line(error: Exception) -> str:
    """Returns the message of an error without line breaks, or its kind if the message is empty."""
    return " ".join(str(error).split()) or type(error).__name__


def run(folder: Path) -> None:
    """Runs a survey from publishing to estimates. Raises DemoError, and errors of the client, the network and the system."""
    empty(folder)
    database = folder / "deniable.db"
    password, port = secrets.token_urlsafe(9), free_port()
    url = f"http://127.0.0.1:{port}"
    manage(database, "init", "--user", USER, "--password-env", "DEMO_PASSWORD", DEMO_PASSWORD=password)
    manage(database, "publish", "--yes", str(SURVEY))
    with ANSWERS.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    with serving(database, port):
        compare(collect(url, rows, database, password), rows)
        show_page(url, folder, password)


def empty(folder: Path) -> None:
    """Clears the folder, or creates it. Raises DemoError if it has other files than a demo's."""
    if folder.exists():
        if not (folder / MARK).is_file() and (not folder.is_dir() or any(folder.iterdir())):
            raise DemoError(f"the folder {folder} must be new or an earlier demo's; choose another folder")
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    (folder / MARK).touch()


def manage(database: Path, name: str, *words: str, **environment: str) -> None:
    """Runs one `deniable-server` command on the demo's database. Raises DemoError if it fails; its message is on standard error."""
    words = (command("deniable-server"), name, "--db", str(database), *words)
    done = subprocess.run(words, env={**os.environ, **environment}, check=False)  # noqa: S603 - our own program
    if done.returncode:
        raise DemoError(f"`deniable-server {name}` failed, as it says above")


def command(name: str) -> str:
    """Returns the path of a console script that belongs to this Python."""
    return str(Path(sys.executable).with_name(name))


def free_port() -> int:
    """Returns a port that nothing listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def serving(database: Path, port: int) -> Iterator[None]:
    """Runs a server until the block ends. Raises DemoError if it does not start."""
    server = subprocess.Popen([command("deniable-server"), "serve", "--db", str(database), "--port", str(port)])  # noqa: S603 - our own program
    try:
        wait_for(f"http://127.0.0.1:{port}/healthz", server)
        yield
    finally:
        server.terminate()
        server.wait()


def wait_for(url: str, server: subprocess.Popen[bytes], seconds: float = PATIENCE) -> None:
    """Waits until the server answers at `url`. Raises DemoError if it ends before, or takes longer than `seconds`."""
    deadline = time.monotonic() + seconds
    while server.poll() is None:
        with suppress(httpx.TransportError):
            httpx.get(url, timeout=seconds).raise_for_status()
            return
        if time.monotonic() > deadline:
            raise DemoError(f"the server did not answer within {seconds:g} seconds")
        time.sleep(0.1)
    raise DemoError("the server did not start, as it says above")


def collect(url: str, rows: Rows, database: Path, password: str) -> Results:
    """Sends each respondent's answers as a submission of its own, as from the respondent's device; returns the estimates."""
    outbox = database.with_name("outbox.db")
    with SurveyClient(url, max_epsilon=3.3, outbox=outbox, auth=(USER, password), timeout=PATIENCE) as client:
        print(f"\nSending {len(rows)} respondents, one by one ...", flush=True)
        for row in rows:
            client.submit("anes1996", row)
        print("The last ones stay behind, ten or more; closing the survey counts them. It is opened again for you to try:", flush=True)
        print("what you send then waits for nineteen others.", flush=True)
        manage(database, "close", "anes1996")
        manage(database, "close", "--reopen", "anes1996")
        return client.results("anes1996")


def compare(results: Results, rows: Rows) -> None:
    """Prints the true share of each option beside its estimate."""
    print(f"\n{results.title}: {results.n} respondents, epsilon {results.epsilon:.3f} in all. The server saw perturbed bits only.\n")
    print(f"{'question':10}{'option':26}{'truth':>8}{'estimate':>10}   95% interval")
    for row in results.rows:
        if row.low is None or row.high is None:  # too few reports for an interval
            continue
        answers = Counter(answer[row.question] for answer in rows)
        truth = answers[row.option] / len(rows)
        inside = "" if row.low <= truth <= row.high else "   (truth outside: expected for about 1 in 20)"
        print(f"{row.question:10}{row.option:26}{truth:8.1%}{row.estimate:10.1%}   {row.low:6.1%} to {row.high:6.1%}{inside}")


def show_page(url: str, folder: Path, password: str) -> None:
    """Opens the results page at a terminal; elsewhere keeps a copy of it."""
    page, link = f"{url}/manage/surveys/anes1996", Link(url, "anes1996", Survey.from_file(SURVEY).digest)
    print(f"\nResults page   {page}\nname           {USER}\npassword       {password}\nanswer it      {link}\n", flush=True)
    if sys.stdin is not None and sys.stdin.isatty():
        webbrowser.open(page)
        with suppress(EOFError):
            input("Press Enter to stop the server. ")
        return
    with httpx.Client(base_url=url, follow_redirects=True, timeout=PATIENCE) as browser:
        _, separator, rest = browser.get("/login").raise_for_status().text.partition('name="csrf_token"')
        if not separator:
            raise DemoError("the login page has no form")
        token = rest.split('value="')[1].split('"')[0]
        browser.post("/login", data={"user": USER, "password": password, "csrf_token": token}).raise_for_status()
        copy = folder / "results.html"
        copy.write_text(browser.get(page).raise_for_status().text, encoding="utf-8")
    print(f"A copy of the results page is in {copy}, since no one can press Enter here.")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
