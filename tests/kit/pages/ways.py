"""What people do from a link to the end: together they use every control of every page, and each looks at what is kept meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from selenium.webdriver.common.by import By
from tests.kit.pages.person import STEP
from tests.kit.pages.study import Session
from tests.kit.patience import patient, wait_for

from deniable.wire.submission import Submission

LOSES_ALL = 10_000  # replies
AWAY = "/static/base.css"
FAULTY = "const ask = window.fetch; window.fetch = (url, more) => (more.method ? null.fetch : ask(url, more));"
KEEPS_NOTHING = "Storage.prototype.setItem = () => { throw new DOMException('', 'SecurityError'); };"
TOO_OLD = "delete window.AbortController;"
NOT_WHOLE = """window.fetch = () => new Promise(() => {});
document.addEventListener("DOMContentLoaded", () => dispatchEvent(new ErrorEvent("error", { filename: "/browser/a.mjs" })));"""


def answering(session: Session) -> None:
    """Somebody who has answered everything; WebKit writes what it keeps of a form when the page is left, the others at once."""
    person = session.person
    person.start(session.link)
    person.answer_all(lambda: session.see("answering"))
    if session.study.engine == "webkit":
        person.driver.refresh()
        session.see("loaded anew", last=True)


def sending(session: Session) -> None:
    """Somebody who answers and sends, and nothing else."""
    person = session.person
    person.start(session.link)
    person.answer_all()
    person.press("send")
    person.goes("review", "thanks")
    session.see("sent")


def on_a_shared_device(session: Session) -> None:
    """Somebody in a kiosk whose replies are lost for a while; then the next person has the page."""
    person, proxy = session.person, session.proxy
    person.start(session.link)
    person.answer_all(lambda: session.see("answering"))
    session.see("looked back")
    before = len(proxy.bodies)
    proxy.lose = LOSES_ALL
    person.press("send")
    person.goes("review", "thanks")
    wait_for(lambda: len(proxy.bodies) > before, "a record on its way")
    session.see("waiting")
    person.press("begin")
    person.goes("thanks", "consent")
    session.see("next person")
    proxy.lose = 0
    person.driver.execute_script("dispatchEvent(new Event('online'))")
    waiting = "return document.querySelector('footer [data-slot=waiting]').textContent"
    patient(person.driver).until(lambda d: d.execute_script(waiting) == "0")
    session.see("sent")
    session.close("closed")


def to_the_end_and_beyond(session: Session) -> None:
    """Practice, a mistake, second thoughts, loaded anew, power failure, left and come back, a record that waits, thanks, forgetting."""
    person, proxy = session.person, session.proxy
    person.open(session.link)
    person.choose_each_language()
    person.look_around()
    person.practise()
    session.see("practised")
    person.press("agree")
    person.goes("consent", "questions")
    person.leave_out()
    person.answer_all(lambda: session.see("answering"))
    person.change_nothing()
    session.see("looked back")
    person.driver.refresh()
    session.see("loaded anew")
    person.start(session.link)
    person.answer_all()
    session.see("killed", last=True)
    person = session.open_again()
    person.driver.get(session.link)
    session.see("restored")
    person.start(session.link)
    person.answer_all()
    person.driver.get(f"{proxy.url}{AWAY}")
    session.see("left")
    person.driver.back()
    person.start(session.link)
    person.answer_all()
    proxy.lose = LOSES_ALL
    person.press("send")
    person.goes("review", "waiting")
    _keep_code(session)
    session.see("waiting")
    proxy.lose = 0
    person.press("retry")
    person.goes("waiting", "thanks")
    _keep_code(session)
    session.see("sent")
    person.open(session.link, "answered")
    person.look_around()
    person.press("other")
    person.goes("answered", "consent")
    person.open(session.link, "answered")
    person.press("mine")
    person.goes("answered", "mine")
    person.look_around()
    person.press("forget")
    person.goes("mine", "forgotten")
    session.close("forgotten and closed")


def by_invitation(session: Session) -> None:
    """A group and a code of a link, both by hand, a code that turns out to be used, another beside the same record; then it is closed.

    The code is exchanged only when the record is sent: before, the exchange does not get through.
    """
    person, proxy, survey = session.person, session.proxy, session.study.survey
    spent, fresh = (proxy.site.invite(survey) for _ in range(2))
    proxy.exchanges = False
    person.start(f"{session.link}&group=North&code={spent}")
    person.answer_all(lambda: session.see("answering"))
    person.open(session.link)
    person.press("agree")
    field, group = (person.shown(f"{STEP} [data-field={name}]")[0] for name in ("code", "group"))
    person.controls.note(person.driver, group)
    group.find_elements(By.TAG_NAME, "option")[1].click()
    person.type_into(field, spent)
    person.press("agree")
    person.goes("consent", "questions")
    person.answer_all()
    proxy.site.spend(survey, spent)
    proxy.exchanges = True
    person.press("send")
    person.goes("review", "waiting")
    session.see("refused")
    person.type_into(person.shown("#waiting [data-field=code]")[0], fresh)
    person.press("retry")
    person.goes("waiting", "thanks")
    session.see("sent")
    person.look_around()
    person.press("forget")
    person.goes("thanks", "forgotten")
    proxy.site.close_survey(survey)
    person.open(session.link, "closed")
    person.look_around()
    _follow_and_come_back(session)
    _open_survey(session)
    session.close("forgotten and closed")


def keeping_nothing(session: Session) -> None:
    """A browser that forbids to keep: sent once, from the page alone, after a reply that was lost."""
    person, proxy = session.person, session.proxy
    session.script(KEEPS_NOTHING)
    person.open(session.link, "unkept")
    person.press("unkept")
    person.goes("unkept", "consent")
    person.press("agree")
    person.goes("consent", "questions")
    person.answer_all(lambda: session.see("answering"))
    proxy.lose = LOSES_ALL
    person.press("send")
    person.goes("review", "waiting")
    session.see("waiting")
    proxy.lose = 0
    person.press("retry")
    person.goes("waiting", "thanks")
    _keep_code(session)
    session.see("sent")
    session.close("closed")


def in_vain(session: Session) -> None:
    """A wrong link, a wrong digest, a browser too old, a page not whole; answered and declined; a fault; records removed."""
    person, proxy, survey = session.person, session.proxy, session.study.survey
    person.open(session.link.replace("#", "&ref=panel#" if "?" in session.link else "?ref=panel#"), "misled")
    person.press("without")
    person.goes("misled", "consent")
    person.open(session.link.replace("digest=", "digest=0"), "refused")
    person.look_around()
    for script, step in ((TOO_OLD, "unsupported"), (NOT_WHOLE, "broken")):
        session.script(script)
        person.open(session.link, step)
        _follow_and_come_back(session)
    session.script()
    person.start(session.link)
    person.answer_all()
    while person.shown(f"{STEP} [data-action=previous]"):
        person.press("previous")
    person.driver.back()
    person.goes("questions", "consent")
    person.press("decline")
    person.goes("consent", "declined")
    session.see("declined")
    person.press("back")
    person.goes("declined", "consent")
    session.script(FAULTY)
    person.start(session.link)
    person.answer_all()
    person.press("send")
    person.goes("review", "fault")
    session.see("fault")
    session.script()
    proxy.site.close_survey(survey)
    person.press("again")
    patient(person.driver).until(lambda _: person.shown("#uncounted"))
    person.press("forget")
    person.goes("uncounted", "forgotten")
    _too_late_and_withdrawn(session)
    person.start(session.link)
    person.answer_all()
    proxy.lose = LOSES_ALL
    person.press("send")
    person.goes("review", "waiting")
    person.look_around()
    person.press("forget")
    person.goes("waiting", "forgotten")
    proxy.lose = 0
    session.close("forgotten and closed")


def _too_late_and_withdrawn(session: Session) -> None:
    """A record that comes after the close; sent when the survey is open again, and withdrawn before its arrival is known."""
    person, proxy, survey = session.person, session.proxy, session.study.survey
    _open_survey(session)
    person.start(session.link)
    person.answer_all()
    proxy.site.close_survey(survey)
    person.press("send")
    person.goes("review", "uncounted")
    _keep_code(session)
    session.see("not counted")
    _open_survey(session)
    person.open(session.link, "uncounted")
    proxy.lose = LOSES_ALL
    person.press("retry")
    person.goes("uncounted", "waiting")
    with proxy.site.server.store() as store:
        store.submissions.withdraw(survey.id, Submission.from_json(proxy.bodies[-1]).id)
    proxy.lose = 0
    person.press("retry")
    person.goes("waiting", "withdrawn")
    person.look_around()
    person.press("forget")
    person.goes("withdrawn", "forgotten")


def _keep_code(session: Session) -> None:
    """Looks at all that the page shows beside the code, copies it, and saves it."""
    session.person.look_around()
    for action in ("copy", "save"):
        session.person.press(action)


def _follow_and_come_back(session: Session) -> None:
    """Each link that leads away from here."""
    person, away = session.person, f"{STEP} a:not([target], [href^=mailto])"
    for place in range(len(person.shown(away))):
        here = person.driver.current_url
        person.use(person.shown(away)[place])
        patient(person.driver).until(lambda d, here=here: d.current_url != here)
        person.driver.back()
        patient(person.driver).until(lambda _: person.shown(f"{STEP} a"))


def _open_survey(session: Session) -> None:
    with session.proxy.site.server.store() as store:
        store.surveys.set_open(session.study.survey.id, True)


INVITED: dict[str, Any] = {"groups": ["North", "South"], "access": "invited"}
WAYS: tuple[tuple[Callable[[Session], None], dict[str, Any]], ...] = (
    (to_the_end_and_beyond, {}),
    (by_invitation, INVITED),
    (keeping_nothing, {}),
    (in_vain, {}),
)
"""Each with the keys of the survey that it is about."""
