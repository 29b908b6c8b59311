"""Pictures of every page and state, on a phone and on a desk: `python examples/screenshots.py [FOLDER]`.

Starts a server with a new database, publishes two example surveys, fills one with perturbed answers, and goes through all
pages in Chromium. Without a folder it takes the pictures of the documentation, in English and light, into docs/screenshots;
with one it takes all of them, light and dark, in every language, into subfolders of it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import numpy as np
from pictures import click, picture, resize, wait_until_shown
from selenium.webdriver import Chrome, ChromeOptions, ChromeService
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from deniable.demo import command, free_port, wait_for
from deniable.device.entropy import os_words
from deniable.device.randomize import randomize
from deniable.survey import Survey
from deniable.wire.record import pack
from deniable.wire.submission import Submission

HERE = Path(__file__).parent
ELECTION, HABITS = HERE / "anes1996.yaml", HERE / "habits.yaml"
BY_HAND = """
deniable: 1
id: affairs
title: About marriage
about: Who asks, why, and who to contact.
epsilon: ln 3
questions: [{id: affair, text: Have you ever had an affair?, type: yes_no}]
"""
SHARES = {"vote": (0.58, 0.42), "party": (0.21, 0.19, 0.11, 0.04, 0.1, 0.16, 0.19), "tvnews": (0.8, 0.2)}
PEOPLE = 4000
WIDTHS = (360, 1280)
LANGUAGES = ("en", "de", "ar", "fr", "es")
USER, PASSWORD = "ada", "a password for pictures"


@dataclass(frozen=True)
class Camera:
    """A browser at one width, in one language, and the folder that its pictures go to."""

    driver: Chrome
    url: str
    folder: Path
    width: int
    language: str = "en"
    everything: bool = False

    def open(self, path: str, step: str = "") -> None:
        resize(self.driver, self.width, 800)
        self.driver.get("about:blank")
        self.driver.get(f"{self.url}{path.replace('#', f'?lang={self.language}#') if '#' in path else f'{path}?lang={self.language}'}")
        if step:
            wait_until_shown(self.driver, step)

    def take(self, name: str, best: bool = True) -> None:
        """The best pictures are those of the documentation."""
        if best or self.everything:
            picture(self.driver, self.folder / f"{name}-{self.width}.png", self.width)

    def press(self, action: str, step: str = "") -> None:
        click(self.driver, f"main > section:not([hidden]) [data-action={action}]")
        if step:
            wait_until_shown(self.driver, step)

    def pick(self, option: int) -> None:
        """An option of the question that is shown alone."""
        (question,) = (q for q in self.driver.find_elements(By.CSS_SELECTOR, "#questions .question") if q.is_displayed())
        question.find_elements(By.CSS_SELECTOR, ".option")[option].click()

    def type(self, text: str) -> None:
        fields = self.driver.find_elements(By.CSS_SELECTOR, "#questions input[type=text]")
        next(field for field in fields if field.is_displayed()).send_keys(text)

    def forget(self) -> None:
        self.driver.execute_cdp_cmd("Storage.clearDataForOrigin", {"origin": self.url, "storageTypes": "all"})


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE.parent / "docs" / "screenshots"
    everything = len(sys.argv) > 1
    election, habits, by_hand = Survey.from_file(ELECTION), Survey.from_file(HABITS), Survey.from_text(BY_HAND)
    with server() as (url, key, close):
        submit(url, key, election)
        for dark in (False, True) if everything else (False,):
            with browser(dark) as driver:
                for language in LANGUAGES if everything else LANGUAGES[:1]:
                    place = folder / language / ("dark" if dark else "light") if everything else folder
                    place.mkdir(parents=True, exist_ok=True)
                    for width in WIDTHS:
                        camera = Camera(driver, url, place, width, language, everything)
                        on_one_page(camera, election)
                        one_by_one(camera, habits)
                        if everything:
                            states(camera, habits, by_hand)
                for width in WIDTHS:
                    place = folder / "researcher" / ("dark" if dark else "light") if everything else folder
                    place.mkdir(parents=True, exist_ok=True)
                    researcher(Camera(driver, url, place, width), election.id)
        if everything:
            closed(folder, url, close)
        else:
            from_right_to_left_in_the_dark(folder, url, habits)


@contextmanager
def server() -> Iterator[tuple[str, str, list[str]]]:
    """A server of its own in a new folder, with the examples published; a key for it; and the command that closes a survey."""
    with tempfile.TemporaryDirectory() as folder:
        db, port = str(Path(folder) / "pictures.db"), free_port()
        run = [command("deniable-server")]
        environment = {**os.environ, "S": PASSWORD}
        subprocess.run([*run, "init", "--db", db, "--user", USER, "--password-env", "S"], check=True, env=environment)
        (Path(folder) / "by-hand.yaml").write_text(BY_HAND, encoding="utf-8")
        for file in (ELECTION, HABITS, Path(folder) / "by-hand.yaml"):
            subprocess.run([*run, "publish", "--yes", "--db", db, str(file)], check=True)
        make = [*run, "key", "make", "--db", db, "--scope", "submit", "--name", "pictures"]
        key = subprocess.run(make, check=True, capture_output=True, text=True).stdout.strip()
        process = subprocess.Popen([*run, "serve", "--db", db, "--port", str(port)])
        try:
            wait_for(f"http://localhost:{port}/healthz", process)
            yield f"http://localhost:{port}", key, [*run, "close", "--db", db]
        finally:
            process.terminate()
            process.wait()


@contextmanager
def browser(dark: bool) -> Iterator[Chrome]:
    options = ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--hide-scrollbars", "--force-device-scale-factor=1"):
        options.add_argument(argument)
    driver_program = shutil.which("chromedriver")  # None: Selenium finds one
    driver = Chrome(options, ChromeService(driver_program))
    if dark:
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark"}]})
    try:
        yield driver
    finally:
        driver.quit()


def submit(url: str, key: str, survey: Survey) -> None:
    """Made-up people, perturbed as real ones are."""
    dice = np.random.default_rng(1996)
    answers = [dice.choice(q.k, PEOPLE, p=SHARES[q.id]) for q in survey.questions]
    bits = [randomize(q.channel, answer, os_words) for q, answer in zip(survey.questions, answers, strict=True)]
    submission = Submission(os.urandom(16), survey.digest, PEOPLE, pack(survey, bits))
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {key}"}
    address = f"{url}/api/v1/surveys/{survey.id}/submissions"
    httpx.post(address, content=submission.to_json(), headers=headers, timeout=60).raise_for_status()


def on_one_page(camera: Camera, survey: Survey) -> None:
    """All questions on one page, one of them left out at first."""
    camera.forget()
    camera.open(f"/s/{survey.id}#digest={survey.digest}", "consent")
    camera.press("agree", "questions")
    for question in camera.driver.find_elements(By.CSS_SELECTOR, ".question")[:2]:
        question.find_elements(By.CSS_SELECTOR, ".option")[1].click()
    camera.take("questions")
    camera.press("next")
    camera.take("missing")


def one_by_one(camera: Camera, survey: Survey) -> None:
    """From consent to thanks, a question a page."""
    camera.forget()
    camera.open(f"/s/{survey.id}#digest={survey.digest}", "consent")
    camera.take("consent")
    camera.press("agree", "questions")
    for name, option in (("yes-no", 0), ("choice", 0), ("multi-choice", 2), ("scale", 3)):
        camera.pick(option)
        camera.take(f"question-{name}", best=name == "multi-choice")
        camera.press("next")
    camera.type("44")
    camera.take("question-number", best=False)
    camera.press("next")
    camera.press("next", "review")
    camera.take("review")
    camera.press("send", "thanks")
    click(camera.driver, "#thanks .receipt summary")
    camera.take("thanks")


def from_right_to_left_in_the_dark(folder: Path, url: str, survey: Survey) -> None:
    with browser(dark=True) as driver:
        camera = Camera(driver, url, folder, WIDTHS[0], "ar")
        camera.open(f"/s/{survey.id}#digest={survey.digest}", "consent")
        camera.take("consent-arabic-dark")


def states(camera: Camera, survey: Survey, by_hand: Survey) -> None:
    """What comes after, beside, or instead."""
    link = f"/s/{survey.id}#digest={survey.digest}"
    camera.open(link, "answered")
    click(camera.driver, "#answered summary")
    camera.take("answered")
    camera.press("forget", "forgotten")
    camera.take("forgotten")
    camera.open(link, "consent")
    for summary in camera.driver.find_elements(By.CSS_SELECTOR, "#consent summary"):
        summary.click()
    camera.take("consent-details")
    camera.press("decline", "declined")
    camera.take("declined")
    camera.open(f"/s/{survey.id}#digest={'0' * 64}", "refused")
    camera.take("refused")
    offline(camera, link)
    for path, name in (
        (f"/s/{survey.id}/definition", "definition"),
        (f"/s/{survey.id}/withdraw", "withdraw"),
        (f"/s/{by_hand.id}/by-hand", "by-hand"),
        (f"/s/{survey.id}/by-hand", "by-hand-impossible"),
        ("/privacy", "privacy"),
        ("/accessibility", "accessibility"),
        ("/s/nothing", "not-found"),
    ):
        camera.open(path)
        camera.take(name)
    for path, name in ((f"/s/{survey.id}/withdraw", "withdraw-error"), (f"/s/{by_hand.id}/by-hand", "by-hand-error")):
        camera.open(path)
        camera.driver.execute_script("document.querySelector('form').noValidate = true")
        click(camera.driver, "form button")
        camera.take(name)


def offline(camera: Camera, link: str) -> None:
    camera.open(link, "consent")
    camera.press("agree", "questions")
    for option in (1, 3, 2):
        camera.pick(option)
        camera.press("next")
    camera.type("44")
    camera.press("next")
    camera.press("next", "review")
    conditions = {"latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
    camera.driver.execute_cdp_cmd("Network.enable", {})
    camera.driver.execute_cdp_cmd("Network.emulateNetworkConditions", {"offline": True, **conditions})
    camera.press("send", "waiting")
    camera.take("waiting")
    camera.driver.execute_cdp_cmd("Network.emulateNetworkConditions", {"offline": False, **conditions})
    wait_until_shown(camera.driver, "thanks")


def closed(folder: Path, url: str, close: list[str]) -> None:
    subprocess.run([*close, "habits"], check=True)
    with browser(dark=False) as driver:
        for language in LANGUAGES:
            camera = Camera(driver, url, folder / language / "light", WIDTHS[0], language)
            camera.open("/s/habits")
            camera.take("closed")


def researcher(camera: Camera, survey_id: str) -> None:
    driver = camera.driver
    driver.delete_all_cookies()
    resize(driver, camera.width, 800)
    driver.get(f"{camera.url}/login")
    camera.take("login")
    driver.find_element(By.ID, "user").send_keys(USER)
    driver.find_element(By.ID, "password").send_keys(PASSWORD)
    click(driver, "[type=submit]")
    WebDriverWait(driver, 10).until(lambda d: d.title == "Surveys")
    camera.take("surveys")
    driver.get(f"{camera.url}/manage/surveys/{survey_id}")
    camera.take("results")


if __name__ == "__main__":
    main()
