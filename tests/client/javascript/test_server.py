"""The JavaScript client and a real server: many records, the estimates of them, and a page in a browser."""

from __future__ import annotations

import mimetypes
from collections import Counter
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
from selenium.webdriver import Chrome
from tests.kit.patience import PATIENCE
from tests.kit.servers.cheap import cheap_applications
from tests.kit.servers.listening import listening
from tests.kit.servers.site import Site

from deniable.estimate import estimate
from deniable.survey import Survey

Public = Callable[..., Any]

N = 1_200
CONFIDENCE = 1 - 1e-7  # the coins are the system's: a right client fails one run in a million
QUESTIONS: list[dict[str, Any]] = [
    {"id": "smokes", "text": "Do you smoke?", "type": "yes_no"},
    {"id": "party", "text": "Which party?", "type": "choice", "options": ["Red", "Green", "Blue"], "required": False},
    {"id": "used", "text": "Which?", "type": "multi_choice", "options": ["tea", "coffee"]},
]
PEOPLE = [
    {
        "smokes": "yes" if number % 10 < 3 else "no",
        "party": ["Red", "Red", "Green", None][number % 4],
        "used": ["tea"] if number % 5 else ["tea", "coffee"],
    }
    for number in range(N)
]
TRUTH = {
    ("smokes", "yes"): 0.3,
    ("party", "Red"): 0.5,
    ("party", "no answer"): 0.25,
    ("used[coffee]", "yes"): 0.2,
    ("used[tea]", "yes"): 1.0,
}

SUBMIT_ALL = """const survey = await deniable.fetchSurvey(given.link, { minBatch: 1 });
const waiting = [...given.people];
const receipts = [];
const work = async () => { while (waiting.length) receipts.push(await survey.submit(waiting.pop())); };
await Promise.all(Array.from({ length: 16 }, work));
return [...new Set(receipts.map(({ submission }) => submission))].length;"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with cheap_applications():
        site = Site(tmp_path_factory.mktemp("site"))
    yield site
    site.close()


def missed(site: Site, survey: Survey) -> list[tuple[str, str]]:
    """The shares whose interval does not hold the truth."""
    tally = site.tally(survey)
    assert tally.n == N
    rows = {(row.question, row.option): row for row in estimate(survey, tally, confidence=CONFIDENCE).rows}
    return [name for name, share in TRUTH.items() if not rows[name].low - 1e-9 <= share <= rows[name].high + 1e-9]


@pytest.mark.slow
def test_the_estimator_recovers_the_truth_from_the_records_of_many_people(site: Site, public: Public) -> None:
    survey = site.publish(id="javascript", epsilon=8, questions=QUESTIONS)
    assert public(SUBMIT_ALL, {"link": site.link(survey), "people": PEOPLE}) == N
    assert missed(site, survey) == []


@pytest.mark.slow
def test_the_control_with_a_wrong_coin_the_truth_is_missed(site: Site, broken_public: Public) -> None:
    survey = site.publish(id="wrong-coin", epsilon=8, questions=QUESTIONS)
    wrong = ("deniable/browser/randomize.mjs", "nextWord() < keepThreshold;", "nextWord() < keepThreshold * 0.7;")
    assert broken_public(*wrong, SUBMIT_ALL, {"link": site.link(survey), "people": PEOPLE}) == N
    assert len(missed(site, survey)) >= 3


class App(ThreadingHTTPServer):
    """A web app's own server: it has the package, and forwards the survey server's path."""

    daemon_threads = True

    def __init__(self, site: Site, package: Path) -> None:
        self.site, self.package = site, package
        self.requests: list[str] = []
        super().__init__(("127.0.0.1", 0), _AppHandler)
        self.url = f"http://127.0.0.1:{self.server_port}"


PAGE = b"""<!doctype html><title>An app</title><div id="messages">not JSON</div>
<script type="importmap">{ "imports": { "deniable": "/deniable/javascript/index.mjs" } }</script>"""


class _AppHandler(BaseHTTPRequestHandler):
    server: App

    def do_GET(self) -> None:
        file = self.server.package / self.path.removeprefix("/deniable/")
        if self.path == "/":
            self._reply(200, "text/html", PAGE)
        elif self.path.startswith("/deniable/") and file.is_file():
            self._reply(200, mimetypes.guess_type(file.name.replace(".mjs", ".js"))[0] or "text/plain", file.read_bytes())
        else:
            self._forward("GET")

    def do_POST(self) -> None:
        self._forward("POST")

    def _forward(self, method: str) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.requests.append(f"{method} {self.path} {self.headers} {body.decode()}")
        names = ("Content-Type", "Sec-Fetch-Site", "Origin")
        headers = {name: self.headers[name] for name in names if name in self.headers} | {"Accept-Encoding": "identity"}
        reply = httpx.request(method, self.server.site.url + self.path, content=body, headers=headers, timeout=PATIENCE)
        self._reply(reply.status_code, reply.headers.get("Content-Type", "text/plain"), reply.content)

    def _reply(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        for name, value in (("Content-Type", kind), ("Content-Length", str(len(body))), ("Cache-Control", "no-store")):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: Any) -> None:
        pass


IN_A_PAGE = """const [link, answers, done] = arguments;
document.cookie = "session=ada";
import("deniable").then(async ({ fetchSurvey }) => {
  const survey = await fetchSurvey(link, { minBatch: 1 });
  const problems = survey.check({ ...answers, smokes: "perhaps" });
  return [(await survey.submit(answers)).submission, problems, survey.pinned, Object.keys(localStorage)];
}).then(done, (error) => done(`${error.name}: ${error.message}`));"""


@pytest.mark.browser
def test_a_page_of_an_app_takes_part_through_its_own_server(site: Site, installed: Path, browser: Chrome) -> None:
    """Through an import map; with a cookie that the survey server does not get, and an element that has an id of the respondents' page."""
    survey = site.publish(id="in-an-app", questions=QUESTIONS, epsilon=8)
    with listening(App(site, installed / "node_modules" / "deniable")) as app:
        browser.get(app.url)
        browser.set_script_timeout(PATIENCE)
        link = site.link(survey).replace(site.url, app.url)
        submission, problems, pinned, stored = browser.execute_async_script(IN_A_PAGE, link, PEOPLE[0])
        assert Counter(one.split()[0] for one in app.requests) == {"GET": 1, "POST": 1}
        assert all("session=ada" not in one for one in app.requests)
    assert (len(submission), problems, pinned, stored) == (32, ["smokes: the answer must be one of yes, no"], True, [])
    assert site.count(survey) == 1


@pytest.mark.browser
def test_a_page_of_another_address_cannot_reach_the_survey_server(site: Site, installed: Path, browser: Chrome) -> None:
    survey = site.publish(id="elsewhere", questions=QUESTIONS, epsilon=8)
    with listening(App(site, installed / "node_modules" / "deniable")) as app:
        browser.get(app.url)
        browser.set_script_timeout(PATIENCE)
        outcome = browser.execute_async_script(IN_A_PAGE, site.link(survey), PEOPLE[0])
    assert outcome == "DeliveryError: the server could not be reached"
    assert site.count(survey) == 0
