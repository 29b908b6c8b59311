"""Which controls the pages have, and which of them somebody has used: one that nobody uses is one whose traces no test sees."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

NAMED = """
const given = arguments[0];
const mapped = new Map();
const own = (e) => {
  const { action, field, slot } = e.dataset;
  if (e.localName === "summary") return [...e.closest("main > section").querySelectorAll("summary")].indexOf(e);
  if (e.localName === "a" && e.hreflang) return e.hreflang;
  if (e.localName === "a" && !slot) return new URL(e.href).pathname.replace(/^\\/s\\/[^/]+/, "");
  return action ?? field ?? slot ?? e.closest("[data-slot]")?.dataset.slot ?? e.className;
};
for (const e of document.querySelectorAll("a[href], button, summary, input, select, [tabindex='0']")) {
  if (/^(mailto|tel):/.test(e.href ?? "")) continue;
  const step = e.closest("main > section")?.id ?? e.closest("nav, footer, main, body").localName;
  const question = e.closest(".question");
  const place = question ? [...question.parentElement.querySelectorAll(".question")].indexOf(question) : own(e);
  mapped.set(e, `${step}: ${e.localName}${e.type ? " " + e.type : ""} ${place}`);
}
return [given === null ? null : mapped.get(given), [...mapped.values()]];
"""
"""The name of a control, the same in each visit, and those of all there are, seen or not; all options of a question have one name.

Links that open another program are left out.
"""


@dataclass
class Controls:
    """The controls of the pages seen so far, by name."""

    there: set[str] = field(default_factory=set)
    used: set[str] = field(default_factory=set)

    def look(self, driver: Any) -> None:
        """Takes down what a page has."""
        self.there.update(driver.execute_script(NAMED, None)[1])

    def note(self, driver: Any, element: Any) -> None:
        """Takes down that a control is used, and what the page has."""
        name, there = driver.execute_script(NAMED, element)
        assert name is not None, element.get_attribute("outerHTML")
        self.there.update(there)
        self.used.add(name)

    @property
    def unused(self) -> list[str]:
        return sorted(self.there - self.used)
