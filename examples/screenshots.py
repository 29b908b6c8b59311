"""Pictures of every page, on a phone and on a desk, light and dark: `python examples/screenshots.py [FOLDER]`.

Starts a server with a new database, fills the example survey with perturbed answers, and takes the pictures in Chromium
(light ones go to docs/screenshots unless a folder is named, dark ones to its subfolder `dark` on request: --dark).
"""

from __future__ import annotations

import base64
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import numpy as np
from demo import command, free_port, wait_for
from numpy.typing import NDArray
from selenium.webdriver import Chrome, ChromeOptions, ChromeService
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from deniable.entropy import os_words
from deniable.randomize import randomize
from deniable.submission import Submission, pack
from deniable.survey import Survey

HERE = Path(__file__).parent
SURVEY = HERE / "anes1996.yaml"
SHARES = {"vote": (0.58, 0.42), "party": (0.21, 0.19, 0.11, 0.04, 0.1, 0.16, 0.19), "tvnews": (0.8, 0.2)}
PEOPLE = 4000
WIDTHS = (360, 1280)
USER, PASSWORD = "ada", "a password for pictures"


def main() -> None:
    dark = "--dark" in sys.argv
    named = [Path(word) for word in sys.argv[1:] if not word.startswith("--")]
    folder = named[0] if named else HERE.parent / "docs" / "screenshots"
    folder.mkdir(parents=True, exist_ok=True)
    survey = Survey.from_file(SURVEY)
    with server() as url, browser(dark) as driver:
        submit(url, survey)
        for width in WIDTHS:
            driver.execute_cdp_cmd("Storage.clearDataForOrigin", {"origin": url, "storageTypes": "all"})
            respondent(driver, f"{url}/s/{survey.id}#digest={survey.digest}", folder, width)
            researcher(driver, url, survey.id, folder, width)


@contextmanager
def server() -> Iterator[str]:
    """A server of its own in a new folder, with the example published."""
    with tempfile.TemporaryDirectory() as folder:
        db, port = str(Path(folder) / "pictures.db"), free_port()
        run = [command("deniable-server")]
        environment = {**os.environ, "S": PASSWORD}
        subprocess.run([*run, "init", "--db", db, "--user", USER, "--password-env", "S"], check=True, env=environment)
        subprocess.run([*run, "publish", "--db", db, str(SURVEY)], check=True)
        process = subprocess.Popen([*run, "serve", "--db", db, "--port", str(port)])
        try:
            wait_for(f"http://localhost:{port}/healthz")
            yield f"http://localhost:{port}"
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


def submit(url: str, survey: Survey) -> None:
    """Made-up people, perturbed as real ones are."""
    dice = np.random.default_rng(1996)
    answers = [dice.choice(q.k, PEOPLE, p=SHARES[q.id]) for q in survey.questions]
    bits = [randomize(q.channel, answer, os_words) for q, answer in zip(survey.questions, answers, strict=True)]
    submission = Submission(os.urandom(16), survey.digest, PEOPLE, pack(survey, bits))
    httpx.post(f"{url}/api/v1/surveys/{survey.id}/submissions", content=submission.to_json()).raise_for_status()


def respondent(driver: Chrome, link: str, folder: Path, width: int) -> None:
    resize(driver, width, 800)
    driver.get("about:blank")
    driver.get(link)
    wait_until_shown(driver, "consent")
    picture(driver, folder / f"consent-{width}.png", width)
    click(driver, "[data-action=agree]")
    for question in driver.find_elements(By.CSS_SELECTOR, ".question")[:2]:
        question.find_elements(By.CSS_SELECTOR, ".option")[1].click()
    picture(driver, folder / f"questions-{width}.png", width)
    click(driver, "[data-action=send]")
    picture(driver, folder / f"missing-{width}.png", width)
    driver.find_elements(By.CSS_SELECTOR, ".question")[2].find_element(By.CSS_SELECTOR, ".option").click()
    click(driver, "[data-action=send]")
    wait_until_shown(driver, "thanks")
    click(driver, "#thanks summary")
    picture(driver, folder / f"thanks-{width}.png", width)


def researcher(driver: Chrome, url: str, survey_id: str, folder: Path, width: int) -> None:
    driver.delete_all_cookies()
    driver.get(f"{url}/login")
    picture(driver, folder / f"login-{width}.png", width)
    driver.find_element(By.ID, "user").send_keys(USER)
    driver.find_element(By.ID, "password").send_keys(PASSWORD)
    click(driver, "[type=submit]")
    WebDriverWait(driver, 10).until(lambda d: d.title == "Surveys")
    picture(driver, folder / f"surveys-{width}.png", width)
    driver.get(f"{url}/manage/surveys/{survey_id}")
    picture(driver, folder / f"results-{width}.png", width)


def wait_until_shown(driver: Chrome, step: str) -> None:
    WebDriverWait(driver, 10).until(lambda d: d.find_element(By.ID, step).is_displayed())


def click(driver: Chrome, selector: str) -> None:
    next(element for element in driver.find_elements(By.CSS_SELECTOR, selector) if element.is_displayed()).click()


def resize(driver: Chrome, width: int, height: int) -> None:
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def picture(driver: Chrome, file: Path, width: int) -> None:
    """The whole page, at its full height."""
    if "missing" not in file.name:
        driver.execute_script("document.activeElement.blur()")
    resize(driver, width, driver.execute_script("return Math.max(document.body.scrollHeight, 640)"))
    time.sleep(0.2)
    shot = driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})["data"]
    file.write_bytes(small_png(pixels(driver, shot)))
    resize(driver, width, 800)
    print(f"{file}  {file.stat().st_size / 1000:.0f} kB")


def pixels(driver: Chrome, shot: str) -> NDArray[np.uint8]:
    """A picture's red, green and blue, shape (height, width, 3), decoded by the browser that took it."""
    decode = """
        const done = arguments[1], image = new Image();
        image.onload = () => {
            const canvas = new OffscreenCanvas(image.width, image.height).getContext("2d");
            canvas.drawImage(image, 0, 0);
            const octets = new Uint8Array(canvas.getImageData(0, 0, image.width, image.height).data.buffer);
            done([image.width, octets.toBase64?.() ?? btoa(Array.from(octets, (o) => String.fromCharCode(o)).join(""))]);
        };
        image.src = "data:image/png;base64," + arguments[0];
    """
    width, octets = driver.execute_async_script(decode, shot)
    return np.frombuffer(base64.b64decode(octets), dtype=np.uint8).reshape(-1, width, 4)[:, :, :3]


def small_png(image: NDArray[np.uint8]) -> bytes:
    """A PNG of at most 256 colours: the most frequent ones, and for the others the nearest of those."""
    height, width, _ = image.shape
    colours, place, counts = np.unique(image.reshape(-1, 3), axis=0, return_inverse=True, return_counts=True)
    palette = colours[np.argsort(-counts)[:256]]
    distance = ((colours[:, None].astype(int) - palette) ** 2).sum(axis=2)
    rows = distance.argmin(axis=1)[place].astype(np.uint8).reshape(height, width)
    filtered = np.hstack([np.zeros((height, 1), dtype=np.uint8), rows])  # each row begins with its filter, none
    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    parts = [(b"IHDR", header), (b"PLTE", palette.tobytes()), (b"IDAT", zlib.compress(filtered.tobytes(), 9)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data)) for name, data in parts
    )


if __name__ == "__main__":
    main()
