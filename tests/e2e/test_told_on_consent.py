"""What a respondent is told before agreeing: the group that travels openly, the price of a second record, and the app around the page."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from tests.kit.patience import patient

from deniable.survey import Survey
from deniable.wire.submission import Submission
from deniable_server.web.languages import LANGUAGES

pytestmark = pytest.mark.browser

QUESTIONS = [{"id": "smokes", "text": "Do you smoke?", "type": "yes_no"}]
FEW = "If few people are in your group, others may know which record is yours."
ONE_OF = {
    "en": ("It is one of 2 groups.", "It is one of 12 groups."),
    "de": ("Es ist eine von 2 Gruppen.", "Es ist eine von 12 Gruppen."),
    "es": ("Es uno de 2 grupos.", "Es uno de 12 grupos."),
    "fr": ("C’est l’un des 2 groupes.", "C’est l’un des 12 groupes."),
    "ar": ("هي واحدة من مجموعتين.", "هي واحدة من 12 مجموعةً."),
}
names = (f"told{i}" for i in itertools.count())


@pytest.fixture
def clinics(site: Any) -> Survey:
    published: Survey = site.publish(id=next(names), questions=QUESTIONS, groups=["Clinic A", "Clinic B"])
    return published


# The group.


def test_the_group_of_a_link_is_shown_before_agree_at_the_last_look_and_after_sending(page: Any, proxy: Any, clinics: Survey) -> None:
    assert page.open(f"{proxy.link(clinics)}&group=Clinic%20A") == "consent"
    told = "Sent openly with your record, your group: Clinic A. It is one of 2 groups. If it is wrong, do not start."
    assert told in page.text()
    assert FEW in page.text()
    page.choose(0)
    page.press("next")
    assert page.step("questions") == "review"
    assert "Sent openly with your record, your group: Clinic A" in page.text()
    page.press("send")
    assert page.step("review") == "thanks"
    assert "Sent openly with your record, your group: Clinic A" in page.text()
    assert Submission.from_json(proxy.bodies[0]).group == "Clinic A"


def test_a_group_that_the_respondent_chooses_is_shown_at_the_last_look(page: Any, proxy: Any, clinics: Survey) -> None:
    page.open(proxy.link(clinics))
    assert "Where are you taking part? This is sent openly with your record. It is one of 2 groups." in page.text()
    assert FEW in page.text()
    assert "your group:" not in page.text()
    page.driver.find_elements(By.CSS_SELECTOR, "[data-field=group] option")[2].click()
    page.choose(1)
    page.press("next")
    assert page.step("questions") == "review"
    assert "Sent openly with your record, your group: Clinic B" in page.text()
    page.press("send")
    assert page.step("review") == "thanks"
    assert Submission.from_json(proxy.bodies[0]).group == "Clinic B"


@pytest.mark.parametrize("groups", [["A", "B"], [f"Clinic {place}" for place in "ABCDEFGHIJKL"]], ids=["two", "twelve"])
def test_consent_says_in_every_language_of_how_many_groups_the_sent_one_is(page: Any, site: Any, groups: list[str]) -> None:
    """Where the link names the group, where it is chosen, and on the form for two coins; and nothing where there are no groups."""
    coins = site.publish(id=next(names), questions=QUESTIONS, groups=groups, epsilon="ln 3")
    plain = site.publish(id=next(names), questions=QUESTIONS, epsilon="ln 3")
    assert set(ONE_OF) == set(LANGUAGES)
    for language, counts in ONE_OF.items():
        said = counts[len(groups) > 2]
        for named in ("", f"&group={groups[1].replace(' ', '%20')}"):
            assert page.open(f"{site.url}/s/{coins.id}?lang={language}#digest={coins.digest}{named}") == "consent"
            assert page.text().count(said) == 1, language
        page.driver.get(f"{site.url}/s/{coins.id}/by-hand?lang={language}")
        assert said in " ".join(page.driver.find_element(By.TAG_NAME, "main").text.split()), language
        assert page.open(f"{site.url}/s/{plain.id}?lang={language}#digest={plain.digest}") == "consent"
        assert said not in page.text()
        assert not page.driver.find_element(By.CSS_SELECTOR, "[data-claims=groups]").is_displayed()


@pytest.mark.parametrize("label", ["clinic a", "Clinic A ", "CLINIC  A."])
def test_a_group_is_recognised_whatever_its_case_and_space_and_sent_as_the_definition_writes_it(
    page: Any, proxy: Any, clinics: Survey, label: str
) -> None:
    assert page.open(f"{proxy.link(clinics)}&group={label.replace(' ', '%20')}") == "consent"
    assert "your group: Clinic A." in page.text()
    page.choose(0)
    assert page.send() == "thanks"
    assert Submission.from_json(proxy.bodies[0]).group == "Clinic A"


@pytest.mark.parametrize("label", ["Clinic C", "", "Clinic"])
def test_a_link_with_a_group_that_the_definition_does_not_list_is_refused(page: Any, proxy: Any, clinics: Survey, label: str) -> None:
    assert page.open(f"{proxy.link(clinics)}&group={label.replace(' ', '%20')}") == "refused"
    assert "your link names a group that this survey does not have" in page.text()
    assert proxy.bodies == []


def test_a_link_with_a_group_to_a_survey_without_groups_is_refused(page: Any, site: Any) -> None:
    survey = site.publish(id=next(names), questions=QUESTIONS)
    assert page.open(f"{site.link(survey)}&group=Ada%20Lovelace") == "refused"
    assert page.open(site.link(survey)) == "consent"
    assert "your group" not in page.text()


def test_a_page_that_sends_a_group_without_a_word_is_noticed(page: Any, proxy: Any, clinics: Survey) -> None:
    """The control of the tests above."""
    proxy.alter[f"/s/{clinics.id}"] = (b"integrity", b"unheeded")
    proxy.alter["/browser/respond.mjs"] = (b"showGroup(step, group);", b"")
    page.open(f"{proxy.link(clinics)}&group=Clinic%20A")
    assert "Clinic A" not in page.text()


# A second record.


@pytest.mark.parametrize(
    ("epsilon", "once", "twice"), [("ln 3", "75", "90"), ("ln 9", "90", "99"), (0.1, "53", "55"), (6, "99.8", "99.9994")]
)
def test_consent_states_the_price_of_a_second_record(page: Any, site: Any, epsilon: str | float, once: str, twice: str) -> None:
    survey = site.publish(id=next(names), questions=QUESTIONS, epsilon=epsilon)
    page.open(site.link(survey))
    page.unfold()
    said = f"If you answered twice, your two records could make such a guess {twice}% sure instead of {once}%."
    assert f"Answer once, on one device. {said}" in page.text()


# The app around the page.

SAFARI = "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)"
ANDROID = "Mozilla/5.0 (Linux; Android 14; SM-A546B"
CHROME = "AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/126.0.0.0 Mobile Safari/537.36"
APPS = {
    f"{SAFARI} Mobile/15E148 Instagram 334.0.4.32.98 (iPhone14,5; iOS 17_5; de_DE; scale=3.00; 1170x2532; 604)": "Instagram",
    f"{ANDROID}; wv) {CHROME} Instagram 334.0.0.42.95 Android (34/14; 450dpi; 1080x2125; samsung; SM-A546B; de_DE)": "Instagram",
    f"{SAFARI} Mobile/15E148 [FBAN/FBIOS;FBAV/468.0.0.35.109;FBBV/606;FBDV/iPhone14,5;FBMD/iPhone;FBSN/iOS]": "Facebook",
    f"{ANDROID}; wv) {CHROME} [FB_IAB/FB4A;FBAV/468.0.0.53.81;]": "Facebook",
    f"{SAFARI} Mobile/15E148 musical_ly_35.1.0 JsSdk/2.0 NetType/WIFI Channel/App Store ByteLocale/de BytedanceWebview/d8a21c6": "TikTok",
    f"{ANDROID}; wv) {CHROME} trill_350103 JsSdk/1.0 NetType/WIFI AppName/trill ByteLocale/de": "TikTok",
    f"{SAFARI} Mobile/15E148 Safari Line/14.8.0": "LINE",
    f"{SAFARI} Mobile/15E148 MicroMessenger/8.0.49(0x18003129) NetType/WIFI Language/de": "WeChat",
    f"{ANDROID}; wv) {CHROME}": "",
    f"{SAFARI} Mobile/15E148": "",
}
BROWSERS = [
    f"{SAFARI} Version/17.5 Mobile/15E148 Safari/604.1",
    f"{SAFARI} CriOS/126.0.6478.54 Mobile/15E148 Safari/604.1",
    f"{SAFARI} FxiOS/127.0 Mobile/15E148 Safari/605.1.15",
    f"{ANDROID}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Mobile Safari/537.36",
    f"{ANDROID}) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/25.0 Chrome/121.0.0.0 Mobile Safari/537.36",
    "Mozilla/5.0 (Android 14; Mobile; rv:127.0) Gecko/127.0 Firefox/127.0",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Safari/605.1.15",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36 Edg/126.0.0.0",
    "Mozilla/5.0 (X11; Linux x86_64; rv:115.0) Gecko/20100101 Firefox/115.0",
]


@pytest.fixture
def announcing(browser: Chrome) -> Iterator[Callable[[str], None]]:
    """`announcing(agent)` makes the browser announce itself so."""
    own = browser.execute_script("return navigator.userAgent")
    yield lambda agent: browser.execute_cdp_cmd("Emulation.setUserAgentOverride", {"userAgent": agent})
    browser.execute_cdp_cmd("Emulation.setUserAgentOverride", {"userAgent": own})


def advice(page: Any) -> str:
    """What consent says of the app around the page."""
    return str(page.driver.find_element(By.CSS_SELECTOR, "#consent .app").text)


def test_inside_of_an_app_the_page_advises_a_browser_of_ones_own_and_gives_the_whole_link(
    announcing: Callable[[str], None], page: Any, proxy: Any, clinics: Survey
) -> None:
    link = f"{proxy.link(clinics)}&group=Clinic%20A"
    announcing(next(iter(APPS)))
    assert page.open(link) == "consent"
    assert "This page is open inside of Instagram, which can read along. Better answer in a browser of your own." in advice(page)
    assert link not in advice(page), "one line, before Start"
    page.press("copyLink")
    patient(page.driver).until(lambda d: link in advice(page))
    assert advice(page).splitlines()[-1].startswith("The link is ")
    page.choose(0)
    assert page.send() == "thanks"  # advised, not shut out; and what was detected stays on the device
    assert b"Instagram" not in proxy.bodies[0]


def test_every_app_is_known_by_what_it_announces_and_no_browser_is_taken_for_one(
    announcing: Callable[[str], None], page: Any, site: Any
) -> None:
    survey = site.publish(id=next(names), questions=QUESTIONS)
    page.open(site.link(survey))
    script = "const done = arguments[1]; import('/browser/inapp.mjs').then(({ appOf }) => done(arguments[0].map((a) => appOf(a) ?? null)));"
    assert page.driver.execute_async_script(script, list(APPS)) == list(APPS.values())
    assert page.driver.execute_async_script(script, BROWSERS) == [None] * len(BROWSERS)
    for agent in (list(APPS)[-1], BROWSERS[0]):
        announcing(agent)
        page.open(site.link(survey))
        assert ("inside of another app" in advice(page)) == (agent in APPS)
