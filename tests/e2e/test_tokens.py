"""The page exchanges a code once: across reloads and lost replies, offline, and never with a server that signs with another key."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from selenium.webdriver.common.by import By
from tests.e2e.test_engines import walk
from tests.kit.pages.visits import EVERYTHING, Visit
from tests.kit.patience import patient

from deniable.wire import access_codes
from deniable.wire.submission import Submission, _encode64

pytestmark = pytest.mark.browser
names = (f"tokens{i}" for i in itertools.count())

BETWEEN = """
  window.between ??= window.fetch.bind(window);
  const change = arguments[0];
  window.fetch = async (address, options) => {
    if (!String(address).endsWith("/tokens")) return window.between(address, options);
    if (change === "offline") throw new TypeError("offline");
    if (change === "lost") { await window.between(address, options); throw new TypeError("lost"); }
    const reply = await window.between(address, options);
    if (change === "none") return reply;
    const { signature } = await reply.json();
    const other = (signature[5] === "A" ? "B" : "A");
    return new Response(JSON.stringify({ signature: signature.slice(0, 5) + other + signature.slice(6) }), { status: 200 });
  };
"""


@pytest.fixture
def invited(proxy: Any) -> Any:
    return proxy.site.publish(id=next(names), **EVERYTHING, layout="list", access="invited")


@pytest.fixture
def code(proxy: Any, invited: Any) -> str:
    return str(proxy.site.invite(invited))


def exchanges(proxy: Any) -> list[dict[str, str]]:
    return [json.loads(body) for body in proxy.checks]


def stored(visit: Visit) -> str:
    return str(visit.driver.execute_script("return JSON.stringify(localStorage)"))


def spellings(code: str) -> tuple[str, ...]:
    return code, code.replace("-", ""), _encode64(access_codes.read(code))


def finish(visit: Visit, proxy: Any) -> Submission:
    visit.page.press("send")
    assert visit.page.step("review") == "thanks", visit.page.text()
    (sent,) = map(Submission.from_json, set(proxy.bodies))
    assert (sent.invitation, sent.token is not None) == (None, True)
    assert "token" not in stored(visit)
    return sent


def test_a_reload_uses_the_same_token_and_the_code_is_nowhere(visit: Visit, proxy: Any, invited: Any, code: str) -> None:
    link = f"{proxy.link(invited)}&code={code}"
    assert visit.page.open(link) == "consent"
    visit.agree()
    assert len(exchanges(proxy)) == 1
    assert not any(spelling in stored(visit) for spelling in spellings(code))
    assert '\\"signature\\"' in stored(visit)
    assert visit.page.open(link) == "consent"
    walk(visit, "list")
    sent = finish(visit, proxy)
    assert len(exchanges(proxy)) == 1
    assert _encode64(sent.token.nonce) not in json.dumps(exchanges(proxy)) if sent.token else False
    visit.driver.execute_script("localStorage.clear()")


def test_a_lost_reply_is_asked_for_again_with_the_same_token(visit: Visit, proxy: Any, invited: Any, code: str) -> None:
    link = f"{proxy.link(invited)}&code={code}"
    assert visit.page.open(link) == "consent"
    visit.driver.execute_script(BETWEEN, "lost")
    visit.agree()
    assert visit.page.open(link) == "consent"
    walk(visit, "list")
    finish(visit, proxy)
    assert len(exchanges(proxy)) == 2
    assert len({each["blinded"] for each in exchanges(proxy)}) == 1
    visit.driver.execute_script("localStorage.clear()")


def test_without_a_connection_the_code_is_exchanged_before_the_record_is_sent(visit: Visit, proxy: Any, invited: Any, code: str) -> None:
    assert visit.page.open(f"{proxy.link(invited)}&code={code}") == "consent"
    visit.driver.execute_script(BETWEEN, "offline")
    walk(visit, "list")
    visit.page.press("send")
    assert visit.page.step("review") == "waiting"
    assert proxy.bodies == proxy.checks == []
    assert spellings(code)[2] in stored(visit), "it waits with the record"
    visit.driver.execute_script(BETWEEN, "none")
    visit.page.press("retry")
    assert visit.page.step("waiting") == "thanks"
    (sent,) = map(Submission.from_json, proxy.bodies)
    assert (sent.invitation, sent.token is not None) == (None, True)
    assert not any(spelling in stored(visit) for spelling in spellings(code))
    visit.driver.execute_script("localStorage.clear()")


def test_a_signature_by_another_key_is_refused_before_a_question_is_asked(visit: Visit, proxy: Any, invited: Any, code: str) -> None:
    assert visit.page.open(f"{proxy.link(invited)}&code={code}") == "consent"
    visit.driver.execute_script(BETWEEN, "another key")
    visit.page.press("agree")
    assert visit.page.step("consent") == "refused"
    assert "must sign your invitation with the key of this survey" in visit.page.text()
    assert proxy.bodies == []
    visit.driver.execute_script("localStorage.clear()")


def test_a_code_that_another_browser_has_started_with_is_refused(visit: Visit, proxy: Any, invited: Any, code: str) -> None:
    link = f"{proxy.link(invited)}&code={code}"
    assert visit.page.open(link) == "consent"
    visit.agree()
    visit.driver.execute_script("localStorage.clear()")  # as another browser has none of it
    assert visit.page.open(link) == "consent"
    visit.page.press("agree")
    problem = visit.driver.find_element(By.ID, "used-code")
    patient(visit.driver).until(lambda _: problem.is_displayed())
    assert "perhaps in another browser or on another device" in problem.text
    visit.driver.execute_script("localStorage.clear()")
