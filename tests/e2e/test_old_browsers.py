"""Every browser that can open the page can send, or is told before the first question; and no fault is blamed on the network."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from tests.kit.pages.ages import NEWER, without
from tests.kit.patience import patient

from deniable.survey import Survey
from deniable.verify.page_bundle import join_modules, read_modules
from deniable_server.paths import BROWSER

pytestmark = pytest.mark.browser

Injected = Callable[[Chrome, str], None]
QUESTIONS: list[dict[str, Any]] = [
    {"id": "smokes", "text": "Do you smoke?", "type": "yes_no"},
    {"id": "used", "text": "Which have you used?", "type": "multi_choice", "options": ["tea", "coffee"]},
]
SUPPORT = (BROWSER / "support.js").read_text(encoding="utf-8")
names = (f"old{i}" for i in itertools.count())


@pytest.fixture
def survey(site: Any) -> Survey:
    published: Survey = site.publish(id=next(names), questions=QUESTIONS, groups=["North", "South"])
    return published


def said(page: Any, part: str = "main") -> str:
    """What a part of the page says. The driver's own ways of looking need some of what is taken away."""
    return str(page.driver.execute_script("return document.querySelector(arguments[0]).innerText", part))


def answer(page: Any, link: str) -> str:
    """From the link to the end, or to where the page says that it does not go on."""
    step: str = page.open(f"{link}&group=North")
    if step != "consent":
        assert page.driver.execute_script("return document.querySelectorAll('main .question').length") == 0
        assert "Nothing was sent now." in said(page)
        return step
    page.choose(0, 1)
    return str(page.send())


# What old browsers lack.


def test_what_came_after_the_oldest_supported_browsers_is_not_needed(
    browser: Chrome, injected: Injected, page: Any, proxy: Any, survey: Survey
) -> None:
    """As in Chrome 93, Safari 15.4 and Firefox 96 at once: without what any of them does not have. AbortSignal.timeout is one of it."""
    assert "AbortSignal.timeout" in NEWER
    injected(browser, without(*NEWER))
    assert answer(page, proxy.link(survey)) == "thanks"
    assert browser.execute_script("return window.taken") > 200
    assert len(proxy.bodies) == 1


def test_a_page_that_needs_something_newer_is_noticed(browser: Chrome, injected: Injected, page: Any, proxy: Any, survey: Survey) -> None:
    """The control of the test above: where the patience with a request is that of `AbortSignal.timeout`, no record goes out."""
    proxy.alter[f"/s/{survey.id}"] = (b"integrity", b"unheeded")
    proxy.alter["/browser/respond.mjs"] = (b"signal: controller.signal", b"signal: AbortSignal.timeout(TIMEOUT)")
    injected(browser, without(*NEWER))
    assert answer(page, proxy.link(survey)) == "fault"
    assert proxy.bodies == []


def test_what_an_old_browser_is_told_is_in_its_language_and_shows_other_ways(
    browser: Chrome, injected: Injected, page: Any, site: Any, survey: Survey
) -> None:
    injected(browser, without("AbortController"))
    assert page.open(f"{site.url}/s/{survey.id}?lang=de#digest={survey.digest}") == "unsupported"
    assert "Dieser Browser ist zu alt" in page.text()
    ways = [link.get_attribute("href") for link in browser.find_elements(By.CSS_SELECTOR, "#unsupported a")]
    assert ways == [f"{site.url}/s/{survey.id}/definition?lang=de"]  # two coins cannot answer this survey
    coins = site.publish(id=f"{survey.id}-coins", questions=[{"id": "q", "text": "Q?", "type": "yes_no"}], epsilon="ln 3")
    page.open(f"{site.url}/s/{coins.id}?lang=de#digest={coins.digest}")
    ways = [link.get_attribute("href") for link in browser.find_elements(By.CSS_SELECTOR, "#unsupported a")]
    assert ways == [f"{site.url}/s/{coins.id}/by-hand?lang=de", f"{site.url}/s/{coins.id}/definition?lang=de"]


def test_the_check_itself_runs_in_browsers_of_any_age() -> None:
    """No word of it is newer than ES5, and no call newer than what it looks for."""
    code = re.sub(r'/\*.*?\*/|//[^\n]*|"[^"\n]*"', '""', SUPPORT, flags=re.DOTALL)
    assert re.findall(r"=>|\b(?:let|const|class|async|await|of|import|export)\b|`|\?\.|\?\?|\.\.\.", code) == []
    assert set(re.findall(r"\.(\w+)\(", code)) == {
        *("addEventListener", "concat", "exec", "focus", "getAttribute", "getElementById", "getItem", "hasAttribute", "indexOf", "join"),
        *("key", "parse", "push", "querySelector", "querySelectorAll", "removeAttribute", "setAttribute", "split", "toLowerCase"),
    }


NEWER_SYNTAX = {
    "a class with a static block": r"\bstatic\s*\{",
    "looking behind in an expression": r"\(\?<[=!]",
    "a flag of expressions": r"/[a-z]*[vd][a-z]*\.(?:test|exec)\(|/[gimsuy]*[vd][gimsuy]*[,;)]",
    "attributes of an import": r"\bfrom\s+\"[^\"]+\"\s+with\b",
    "using": r"\busing\s+\w+\s*=",
    "a decorator": r"^\s*@\w+",
}


def newer_syntax(source: str) -> set[str]:
    code = re.sub(r"/\*.*?\*/|//[^\n]*", "", source, flags=re.DOTALL)
    return {name for name, pattern in NEWER_SYNTAX.items() if re.search(pattern, code, re.MULTILINE)}


def test_no_module_uses_syntax_that_came_after_the_oldest_supported_browsers() -> None:
    """Of what came since: private methods, `??=` and the rest of the modules' syntax had come before `Object.hasOwn`."""
    assert {file.name: found for file in BROWSER.rglob("*.mjs") if (found := newer_syntax(file.read_text(encoding="utf-8")))} == {}


@pytest.mark.parametrize(
    "line", ["static {", "/(?<=a)b/", "/[a--b]/v.test(x)", 'import a from "./a.json" with { type: "json" };', "using x = y;", "@frozen"]
)
def test_newer_syntax_is_noticed(line: str) -> None:
    assert len(newer_syntax(line)) == 1


# What does not arrive, or cannot run.


@pytest.mark.parametrize("wrong", [b"#broken // language.mjs", b"undefined.nothing(); // language.mjs"])
def test_a_script_that_the_browser_cannot_run_is_told_and_not_awaited_for_ever(page: Any, proxy: Any, survey: Survey, wrong: bytes) -> None:
    proxy.alter[f"/s/{survey.id}"] = (b"integrity", b"unheeded")
    proxy.alter["/browser/respond.mjs"] = (b"// language.mjs", wrong)
    assert answer(page, proxy.link(survey)) == "broken"
    assert page.driver.find_element(By.CSS_SELECTOR, "#broken [data-slot=detail]").text == "respond.mjs"


def test_without_the_check_such_a_page_would_be_awaited_for_ever(page: Any, proxy: Any, survey: Survey) -> None:
    """The control of the test above."""
    proxy.alter[f"/s/{survey.id}"] = (b"integrity", b"unheeded")
    proxy.alter["/browser/respond.mjs"] = (b"// language.mjs", b"#broken // language.mjs")
    proxy.alter["/browser/support.js"] = (b'window.addEventListener("', b'window.addEventListener("no-')
    page.driver.get(proxy.link(survey))
    patient(page.driver).until(lambda d: d.execute_script("return document.readyState") == "complete")
    assert page.driver.find_element(By.ID, "loading").is_displayed()


@pytest.mark.parametrize(
    ("fetch", "said"),
    [
        ("() => Promise.reject(new TypeError('network'))", "Check your connection, then reload the page."),
        ("() => Promise.resolve(new Response('', { status: 503 }))", "The server does not give it at the moment."),
    ],
)
def test_a_survey_that_does_not_load_names_the_network_or_the_server_whichever_it_is(
    browser: Chrome, injected: Injected, page: Any, site: Any, survey: Survey, fetch: str, said: str
) -> None:
    injected(browser, f"window.fetch = {fetch};")
    assert answer(page, site.link(survey)) == "refused"
    assert said in page.text()


# Faults.


def place_of(page: Any) -> tuple[str, str]:
    """The kind of the fault that the page tells, and the module to which the line belongs that it names."""
    found = re.search(r"(\w+), respond\.mjs:(\d+):\d+", page.text())
    assert found
    above = "\n".join(join_modules(read_modules()).splitlines()[: int(found[2])])
    return found[1], re.findall(r"^// ([\w/.]+\.mjs)$", above, re.MULTILINE)[-1]


BROKEN_FETCH = "const f = fetch; window.fetch = (u, o) => { if (o.method) throw new TypeError(`canary ${o.body}`); return f(u, o); };"


def test_a_fault_while_sending_keeps_the_record_blames_no_network_and_quotes_nothing(
    browser: Chrome, injected: Injected, page: Any, proxy: Any, survey: Survey
) -> None:
    injected(browser, BROKEN_FETCH)
    assert answer(page, proxy.link(survey)) == "fault"
    assert "It is not your mistake, and not that of your connection." in page.text()
    assert "Your record is safe" in page.text()
    assert "another browser" not in page.text()  # there, somebody would make a second one
    assert place_of(page) == ("TypeError", "delivery.mjs")
    assert "canary" not in page.text()
    kept = json.loads(browser.execute_script("return localStorage.getItem(arguments[0])", f"deniable:{survey.digest}"))
    browser.execute_script("window.before = true")
    page.press("again")
    patient(browser).until(lambda d: not d.execute_script("return window.before"))
    assert page.step("loading") == "fault"
    again = json.loads(browser.execute_script("return localStorage.getItem(arguments[0])", f"deniable:{survey.digest}"))
    assert again["envelope"] == kept["envelope"]
    assert proxy.bodies == []


def test_a_fault_that_nothing_catches_is_told_and_the_answers_are_still_there(
    browser: Chrome, page: Any, proxy: Any, survey: Survey
) -> None:
    proxy.alter[f"/s/{survey.id}"] = (b"integrity", b"unheeded")
    proxy.alter["/browser/respond.mjs"] = (b"#review() {", b"#review() { if (!window.mended) null.answer;")
    page.open(f"{proxy.link(survey)}&group=North")
    page.choose(0, 1)
    page.press("next")
    assert page.step("questions") == "fault"
    assert place_of(page) == ("TypeError", "asking.mjs")
    browser.execute_script("window.mended = true")
    page.press("again")
    assert len(browser.find_elements(By.CSS_SELECTOR, "#questions input:checked")) == 2
    assert page.send() == "thanks"


def test_an_error_of_another_program_in_the_page_does_not_stop_the_survey(
    browser: Chrome, injected: Injected, page: Any, site: Any, survey: Survey
) -> None:
    injected(browser, "addEventListener('click', () => { Promise.reject(new Error('x')); throw new Error('of an extension'); });")
    assert answer(page, site.link(survey)) == "thanks"


def test_a_server_that_is_overloaded_is_not_taken_for_a_dead_network(
    browser: Chrome, injected: Injected, page: Any, site: Any, survey: Survey
) -> None:
    injected(
        browser,
        """const wait = setTimeout, f = fetch; window.setTimeout = (g, ms) => wait(g, ms < 10_000 ? ms / 50 : ms);
        window.fetch = (u, o) => (o.method ? Promise.resolve(new Response("", { status: 503 })) : f(u, o));""",
    )
    assert answer(page, site.link(survey)) == "waiting"
    assert "The server cannot take it at the moment." in page.text()
    assert "could not be reached" not in page.text()
    browser.execute_script("localStorage.clear()")
