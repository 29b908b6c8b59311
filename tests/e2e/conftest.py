"""A real server, a way to it that loses or alters replies, and what a respondent does in a browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver import Chrome
from tests.kit.pages.chromium import open_browser
from tests.kit.pages.engines import ENGINES
from tests.kit.pages.page import Page
from tests.kit.pages.study import Study
from tests.kit.pages.visits import Visit
from tests.kit.servers.cheap import cheap_applications
from tests.kit.servers.listening import listening
from tests.kit.servers.proxy import Proxy
from tests.kit.servers.site import Site


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with cheap_applications():
        site = Site(tmp_path_factory.mktemp("site"))
    yield site
    site.close()


@pytest.fixture(scope="session")
def make_site() -> type[Site]:
    """`make_site(folder)` for a server of a test's own; whoever makes it closes it."""
    return Site


@pytest.fixture
def proxy(site: Site) -> Iterator[Proxy]:
    with listening(Proxy(site)) as proxy:
        yield proxy


@pytest.fixture
def page(browser: Chrome, site: Site) -> Page:
    """The shared browser, which has sent nothing to the shared site; a survey of its own for each test keeps tests apart."""
    browser.execute_cdp_cmd("Storage.clearDataForOrigin", {"origin": site.url, "storageTypes": "local_storage"})
    return Page(browser)


@pytest.fixture
def injected() -> Iterator[Callable[[Chrome, str], None]]:
    """`injected(driver, script)` runs a script in every new document of that browser, before the page's own, until the test ends."""
    made: list[tuple[Chrome, str]] = []

    def inject(driver: Chrome, script: str) -> None:
        reply = driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": script})
        made.append((driver, reply["identifier"]))

    yield inject
    for driver, identifier in made:
        if driver.service.process is None or driver.service.process.poll() is not None:
            continue  # the test has closed it
        driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", {"identifier": identifier})


@pytest.fixture
def make_page() -> Callable[[Chrome], Page]:
    """`make_page(driver)` for a browser of the test's own."""
    return Page


@pytest.fixture(scope="session")
def blanks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("blanks")


@pytest.fixture
def study(proxy: Proxy, tmp_path: Path, blanks: Path) -> Iterator[Callable[..., Study]]:
    """`study(engine, **keys)`; browsers that a test leaves open are ended with it."""
    made: list[Study] = []

    def make(engine: str, **keys: Any) -> Study:
        made.append(Study(engine, proxy, tmp_path / str(len(made)), blanks, **keys))
        return made[-1]

    yield make
    for driver in (driver for each in made for driver in each.opened):
        driver.kill()


@pytest.fixture(scope="module", params=ENGINES)
def driver(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A browser of each of the three engines, shared by the tests of a file."""
    if request.param == "chromium":
        with open_browser() as driver:
            yield driver
    else:
        driver = ENGINES[request.param](tmp_path_factory.mktemp(request.param) / "profile")
        yield driver
        driver.quit()


@pytest.fixture
def visit(driver: Any, proxy: Proxy) -> Visit:
    """A respondent in one of the three engines; `proxy` may alter what they get."""
    return Visit(Page(driver), proxy.site)
