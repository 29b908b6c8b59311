"""What axe-core finds wrong with the page that a browser shows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from selenium.webdriver import Chrome
from tests.kit.pages.layout import style

PROGRAM = Path(__file__).parents[2] / "vendor" / "axe-core" / "axe.min.js"

OPTIONS = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    "rules": {"target-size": {"enabled": True}},  # axe leaves it off unless it is asked for
    "resultTypes": ["violations", "incomplete"],
    "preload": False,  # the style sheets have been loaded; fetching them again tells nothing new
}
"""All rules of WCAG 2.0, 2.1 and 2.2 up to AA and of good practice, none left out; AAA and experimental ones are not among them."""

_RUN = """axe.run(%s).then(({ violations, incomplete }) => {
  const reasons = ({ any, all, none }) => [...any, ...all, ...none].map(({ message }) => message).join("; ");
  const told = (kind, rules) => rules.flatMap(({ id, nodes }) =>
    nodes.map((node) => `${kind} ${id}: ${node.target.join(" ")} – ${reasons(node)}`));
  return [...told("wrong", violations), ...told("unsure", incomplete)];
})"""

UNROLLED = ".still, .still body { height: auto !important; overflow: visible !important }"
"""The page as it is printed, at its full height: what a box has scrolled out of sight counts as hidden, and is not judged."""


def findings(driver: Chrome) -> list[str]:
    """One line for each fault, and for each element that axe could not judge: rule, element, reason. Empty where all is well.

    The program comes in through the browser's debugger, as a page's policy lets no other script in.
    """
    if not _evaluate(driver, "'axe' in globalThis"):
        _evaluate(driver, PROGRAM.read_text(encoding="utf-8") + "; true")
    with style(driver, UNROLLED):
        found: list[str] = _evaluate(driver, _RUN % json.dumps(OPTIONS))
    return found


def _evaluate(driver: Chrome, expression: str) -> Any:
    reply = driver.execute_cdp_cmd("Runtime.evaluate", {"expression": expression, "awaitPromise": True, "returnByValue": True})
    if "exceptionDetails" in reply:
        raise AssertionError(reply["exceptionDetails"]["exception"].get("description", reply["exceptionDetails"]["text"]))
    return reply["result"]["value"]


def drawn(driver: Chrome, finding: str) -> bool:
    """Whether axe cannot see what words in a drawing stand on (the card, in the colours around it), or into the page of a preview.

    That page is the respondents', which have tests of their own. On a phone a tab that is half out of sight is unsure, too; on a desk all
    tabs are looked at. So is an example in the guide that is wider than its box.
    """
    if finding.startswith("unsure frame-tested: iframe"):
        return True
    if not finding.startswith("unsure color-contrast: "):
        return False
    target = finding.removeprefix("unsure color-contrast: ").split(" – ")[0]
    seen = """const e = document.querySelector(arguments[0]);
      return e instanceof SVGElement || innerWidth < 768 && !!e.closest('nav.trail') || !!e.closest('.guide pre')"""
    return bool(driver.execute_script(seen, target))
