"""Files of the respondents' page that are altered, missing, dropped or slow, in any order: the page always ends in a true step."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import pytest
from tests.kit.pages.engines import ENGINES
from tests.kit.pages.visits import Visit
from tests.kit.patience import patient

from deniable.survey import Survey

pytestmark = pytest.mark.browser
names = (f"files{i}" for i in itertools.count())

SUPPORT, SCRIPT = "/browser/support.js", "/browser/respond.mjs"
STYLES = ("/static/base.css", "/static/respond.css")
FAULTS = ("altered", "missing", "dropped")
LINES = {SUPPORT: (b'"use strict";', b'"use strict";;'), SCRIPT: (b"// form.mjs", b"0;// form.mjs")}
LATE = "return getComputedStyle(document.querySelector('#loading .late')).visibility"
LATE_NOW = "document.querySelector('#loading .late').getAnimations().forEach((one) => one.finish()); " + LATE


class Case(NamedTuple):
    """fault: one of FAULTS, or none for a file that is only late. after: the file whose reply it waits for."""

    file: str
    fault: str
    after: str
    step: str


def cases(definition: str) -> list[Case]:
    scripts = [
        Case(file, fault, after, {SUPPORT: "refused", SCRIPT: "broken"}[file])
        for file, fault in itertools.product((SUPPORT, SCRIPT), FAULTS)
        for after in ("", SCRIPT if file == SUPPORT else SUPPORT, definition)
    ]
    others = [Case(definition, fault, after, "refused") for fault in FAULTS for after in ("", SCRIPT)]
    styles = [
        Case(file, fault, after, "consent") for file in STYLES for fault in FAULTS for after in ("", SUPPORT if fault == "altered" else "")
    ]
    late = [Case(file, "", after, "consent") for file, after in itertools.permutations((SUPPORT, SCRIPT, definition), 2)]
    return [*scripts, *others, *dict.fromkeys(styles), *late]


def spoil(proxy: Any, case: Case) -> None:
    proxy.alter.clear()
    proxy.missing.clear()
    proxy.dropped.clear()
    proxy.after.clear()
    proxy.sent.clear()
    if case.fault == "altered":
        proxy.alter[case.file] = LINES.get(case.file, (b"{", b"{ "))
    elif case.fault:
        getattr(proxy, case.fault).add(case.file)
    if case.after:
        proxy.after[case.file] = case.after


def test_whatever_happens_to_a_file_the_page_says_so_or_works(visit: Visit, proxy: Any) -> None:
    survey = proxy.site.publish(id=next(names), questions=[{"id": "q", "text": "Q?", "type": "yes_no"}])
    steps = {}
    wanted = cases(f"/api/v1/surveys/{survey.id}")
    for case in wanted:
        spoil(proxy, case)
        steps[case] = visit.page.open(proxy.link(survey))
    assert {case: step for case, step in steps.items() if step != case.step} == {}
    assert len(steps) == len(wanted) > 30


def missed(visit: Visit, proxy: Any, survey: Survey) -> str:
    """The step that a page with an altered script reaches whose error came before anything listened to it."""
    proxy.alter[SCRIPT] = LINES[SCRIPT]
    return str(visit.page.open(proxy.link(survey)))


def test_a_script_whose_error_was_missed_is_noticed_when_the_page_has_loaded(visit: Visit, proxy: Any) -> None:
    survey = proxy.site.publish(id=next(names), questions=[{"id": "q", "text": "Q?", "type": "yes_no"}])
    proxy.insert(survey, "addEventListener('error', (event) => event.stopImmediatePropagation(), true);")
    assert missed(visit, proxy, survey) == "broken"


def test_without_the_check_such_a_page_would_load_for_ever(visit: Visit, proxy: Any) -> None:
    """The control of the tests above; after ten seconds the page says that something is wrong, without any script."""
    survey = proxy.site.publish(id=next(names), questions=[{"id": "q", "text": "Q?", "type": "yes_no"}])
    for file in (SUPPORT, SCRIPT):
        proxy.missing.add(file)
    visit.go("about:blank")
    visit.go(proxy.link(survey))
    patient(visit.driver).until(lambda d: d.execute_script("return document.readyState") == "complete")
    assert visit.driver.execute_script("return document.querySelector('#loading').hidden") is False
    assert visit.driver.execute_script(LATE) == "hidden"
    if not isinstance(visit.driver, ENGINES["webkit"]):
        assert visit.driver.execute_script(LATE_NOW) == "visible"
