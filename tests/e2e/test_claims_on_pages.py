"""No page of any survey prints a claim that is not true of it: all levels, releases, floors, groups and codes, on devices and by hand."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from html import unescape
from typing import Any

import httpx
import pytest
from tests.kit.patience import PATIENCE
from tests.kit.servers.site import Site

from deniable.privacy.claims import Claim, Facts, all_claims, facts_of
from deniable.survey import Survey
from deniable_server.store.life import Settings
from deniable_server.web.languages import LANGUAGES

pytestmark = pytest.mark.browser
YES_NO = [{"id": f"q{n}", "text": "Do you smoke?", "type": "yes_no", "epsilon": "ln 3"} for n in range(5)]
LEVELS = {"strong": 1, "medium": 2, "weak": 3, "none": 5}  # questions, each with two real coins
names = (f"cell{i}" for i in itertools.count())


def cells() -> Iterator[dict[str, Any]]:
    """The keys of a survey for each cell."""
    for count, release, batch, groups, access in itertools.product(
        LEVELS.values(), ("close", "daily"), (10, 3, 1), (None, ["North", "South"]), ("open", "invited")
    ):
        shown: dict[str, Any] = {"release": release, "batch": batch, "accept_small_batches": True if batch < 10 else None}
        yield shown | {"questions": YES_NO[:count], "epsilon": None, "groups": groups, "access": access}
    for epsilon in (3, 10):  # one answer is weakly or hardly hidden
        yield {"questions": [{**YES_NO[0], "epsilon": epsilon}], "epsilon": None, "accept_high_epsilon": True, "batch": 10}
    yield {"questions": YES_NO[:3], "epsilon": None, "ask": 1, "batch": None, "accept_small_batches": None}


def pattern(claim: Claim, translate: Callable[[str], str] = str) -> re.Pattern[str]:
    """The claim with any numbers in it."""
    pieces = re.split(r"\{\w+\}", translate(claim.text))
    return re.compile(r"\S+".join(map(re.escape, pieces)))


def untrue(text: str, facts: Facts, translate: Callable[[str], str] = str) -> list[str]:
    """The claims in a text that do not hold, by id."""
    plain = " ".join(text.split())
    wrong = [claim for claim in all_claims() if not claim.holds(facts)]
    return [claim.id for claim in wrong if pattern(claim, translate).search(plain)]


def absent(text: str, facts: Facts, topics: tuple[str, ...]) -> list[str]:
    """The claims of these topics that hold and are not in a text, by id."""
    plain = " ".join(text.split())
    right = [claim for claim in all_claims() if claim.topic in topics and claim.holds(facts)]
    return [claim.id for claim in right if not pattern(claim).search(plain)]


WORDS = """
const copy = document.querySelector("main").cloneNode(true);
for (const script of copy.querySelectorAll("script, noscript")) script.remove();
return copy.textContent;
"""
"""All steps of the page, shown or not."""
SCRIPTED = (
    "level",
    "crowd",
    "promise",
    "coins",
    "advice",
    "lock",
    "arrived",
    "release",
    "floor",
    "spare",
    "groups",
    "sample",
    "asker",
    "thief",
    "code",
)


def test_no_page_of_a_survey_claims_what_is_not_true_of_it(page: Any, site: Site) -> None:
    for keys in cells():
        survey = site.publish(id=next(names), **keys)
        facts = facts_of(survey)
        page.open(f"{site.url}/s/{survey.id}#digest={survey.digest}")
        text = page.driver.execute_script(WORDS)
        assert untrue(text, facts) == [], keys
        assert absent(text, facts, SCRIPTED) == [], keys
        for path in ("definition", "withdraw"):
            assert untrue(read(site, survey, path), {}) == [], path
        if survey.coins_can_answer:
            by_hand = read(site, survey, "by-hand")
            assert untrue(by_hand, facts_of(survey, by="hand")) == [], keys
            assert (
                absent(by_hand, facts_of(survey, by="hand"), ("level", "crowd", "promise", "advice", "hand", "limits", "release", "floor"))
                == []
            )


def read(site: Site, survey: Survey, path: str, language: str = "en") -> str:
    """The words of a page without scripts."""
    html = httpx.get(f"{site.url}/s/{survey.id}/{path}?lang={language}", timeout=PATIENCE).raise_for_status().text
    return words_of(html)


def words_of(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", re.sub(r"(?s)<(script|style|head).*?</\1>", " ", html))).split()).replace(" .", ".")


def test_pages_that_know_no_survey_print_unconditional_claims_only(site: Site) -> None:
    """What privacy says of codes begins with `Where it asks for an invitation`."""
    privacy = words_of(httpx.get(f"{site.url}/privacy", timeout=PATIENCE).text)
    assert untrue(privacy, {"codes": "yes"}) == []
    assert absent(privacy, {}, ("every", "server", "cannot", "lost", "leave")) == []
    survey = site.publish(id=next(names), questions=YES_NO, epsilon=None)
    site.close_survey(survey)
    assert untrue(words_of(httpx.get(f"{site.url}/s/{survey.id}", timeout=PATIENCE).text), {}) == []


SPARE = "240 invitation codes were made for 100 people."


def test_codes_beyond_the_people_expected_are_stated_before_the_start(page: Any, site: Site) -> None:
    survey = site.publish(id=next(names), questions=YES_NO, epsilon=None, access="invited")
    address = f"{site.url}/s/{survey.id}"
    with site.server.store() as store:
        store.invitations.add(survey.id, [bytes([n]) * 32 for n in range(240)])
    for expected, is_stated in ((None, False), (240, False), (100, True)):
        with site.server.store() as store:
            store.life.keep(survey.id, Settings(expected=expected))
        assert (SPARE in read(site, survey, "by-hand")) is is_stated
        page.open(f"{address}#digest={survey.digest}")
        assert (SPARE in page.text()) is is_stated
        facts = facts_of(survey, spare=(240, 100) if is_stated else None)
        assert untrue(page.driver.execute_script(WORDS), facts) == []
        assert absent(page.driver.execute_script(WORDS), facts, ("spare",)) == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_in_no_language_does_a_page_claim_what_is_not_true(page: Any, site: Site, language: str) -> None:
    translate = LANGUAGES[language].texts.gettext
    for count in LEVELS.values():
        survey = site.publish(id=next(names), questions=YES_NO[:count], epsilon=None)
        page.open(f"{site.url}/s/{survey.id}?lang={language}#digest={survey.digest}")
        assert untrue(page.driver.execute_script(WORDS), facts_of(survey), translate) == [], count
        assert untrue(read(site, survey, "by-hand", language), facts_of(survey, by="hand"), translate) == [], count


def test_at_epsilon_10_no_step_reassures(page: Any, site: Site) -> None:
    """What is seen, step by step, to the end."""
    survey = site.publish(id=next(names), questions=[{**YES_NO[0], "epsilon": 10}], epsilon=None, accept_high_epsilon=True)
    facts = facts_of(survey)
    page.open(f"{site.url}/s/{survey.id}#digest={survey.digest}")
    page.unfold()
    seen = [page.text()]
    page.choose(0)
    seen.append(page.text())
    page.press("next")
    seen.append(page.text())
    page.press("send")
    assert page.step("review") == "thanks"
    seen.append(page.text())
    assert untrue(" ".join(seen), facts) == []
    reassuring = re.compile(r"\b(hid(e|es|den)|tell the truth|accuses|never|cannot see|nobody)\b", re.IGNORECASE)
    assert {match[0] for match in reassuring.finditer(" ".join(seen))} <= {"hidden", "hide", "never", "nobody"}
    assert "Your answers are hardly hidden." in seen[0]
    assert "Answer only what others may know." in seen[0]


@pytest.mark.parametrize(
    ("right", "wrong", "claim"),
    [
        (b'["advice",{"weaker":["strong","medium"]}', b'["advice",{"weaker":["strong","none"]}', "advice.truth"),
        (b'["release",{"release":["close"]}', b'["release",{}', "release.close"),
        (b'["asker",{"weaker":["strong","medium"]}', b'["asker",{}', "asker.hidden"),
    ],
)
def test_a_page_with_a_wrong_condition_is_noticed(page: Any, site: Site, proxy: Any, right: bytes, wrong: bytes, claim: str) -> None:
    """The control."""
    survey = site.publish(id=next(names), questions=YES_NO, epsilon=None)
    proxy.alter[f"/s/{survey.id}"] = (right, wrong)
    page.open(proxy.link(survey))
    assert untrue(page.driver.execute_script(WORDS), facts_of(survey)) == [claim]
