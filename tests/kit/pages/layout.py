"""How a page looks to people who enlarge it, space its text out, or choose other colours; and what then goes wrong."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator

from selenium.webdriver import Chrome

NARROWEST = 320
"""CSS pixels: a window of 1280 at 400%."""
SMALLEST_TARGET = 24

WIDE_TEXT = """
* { line-height: 1.5 !important; letter-spacing: .12em !important; word-spacing: .16em !important; }
p { margin-bottom: 2em !important; }
"""
"""The spacing of WCAG 1.4.12, which a reader may set."""

PHONE = 360
DOUBLE_TEXT = "html { font-size: 200% !important; }"
"""Text at 200%, WCAG 1.4.4, where a phone's settings enlarge text and not the page."""


@contextlib.contextmanager
def screen(driver: Chrome, width: int, scheme: str = "light", **media: str) -> Iterator[None]:
    """A screen of this width and colour scheme in the meantime; `media` are other features, `forced_colors="active"` for one."""
    size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    features = {"prefers_color_scheme": scheme, **media}
    wanted = [{"name": name.replace("_", "-"), "value": value} for name, value in features.items()]
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": wanted})
    try:
        yield
    finally:
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
        driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@contextlib.contextmanager
def style(driver: Chrome, css: str) -> Iterator[None]:
    """A style sheet of the reader's own in the meantime."""
    script = "const s = new CSSStyleSheet(); s.replaceSync(arguments[0]); document.adoptedStyleSheets.push(s);"
    driver.execute_script(script, css)
    try:
        yield
    finally:
        driver.execute_script("document.adoptedStyleSheets.pop();")


@contextlib.contextmanager
def direction(driver: Chrome, value: str) -> Iterator[None]:
    """The page written in this direction in the meantime."""
    before = driver.execute_script("const b = document.documentElement.dir; document.documentElement.dir = arguments[0]; return b;", value)
    try:
        yield
    finally:
        driver.execute_script("document.documentElement.dir = arguments[0]", before)


_SHOWN = """
const shown = (e) => e.checkVisibility({ visibilityProperty: true }) && e.getClientRects().length > 0;
const name = (e) => `${e.tagName.toLowerCase()}${e.className && typeof e.className === "string" ? "." + e.className : ""} “${
  (e.textContent || e.value || "").trim().slice(0, 40)}”`;
// a table in a box of its own may be wider: WCAG excepts it; so may a line of tabs, each of which is gone to by itself
const scrolls = (e) => e.closest(".scroll, nav.trail") !== null;
"""


def sticking_out(driver: Chrome) -> list[str]:
    """What makes the page wider than its screen, to either side, or its text wider than the box that holds it."""
    found: list[str] = driver.execute_script(
        _SHOWN
        + """
        const width = document.documentElement.clientWidth;
        const whole = Math.max(document.documentElement.scrollWidth, document.body.scrollWidth);
        const out = whole > width ? [`page: ${whole} of ${width}`] : [];
        for (const e of document.body.querySelectorAll("*")) {
          if (!shown(e) || scrolls(e) || e.ownerSVGElement) continue;
          const { left, right } = e.getBoundingClientRect();
          if (left < -1 || right > width + 1) out.push(`${name(e)}: ${left} to ${right}`);
        }
        return out;"""
    )
    return found


_LINES = """
const pen = document.createElement("canvas").getContext("2d");
const texts = (e) => [...e.childNodes].filter((n) => n.nodeType === Node.TEXT_NODE && n.data.trim()).map((n) => n.data.trim());
const measured = (e, text) => {
  const { font, lineHeight } = getComputedStyle(e);
  pen.font = font;
  return { ...Object.fromEntries(["fontBoundingBoxAscent", "fontBoundingBoxDescent", "actualBoundingBoxAscent", "actualBoundingBoxDescent"]
    .map((key) => [key, pen.measureText(text)[key]])), line: parseFloat(lineHeight) || Infinity };
};
// A font's box may be taller than its line, by room for accents that no text has: Noto's is 1.36 times its size. Half of that is below.
const below = (e) => Math.max(0, ...[e, ...e.querySelectorAll("*")].filter((one) => texts(one).length).map((one) => {
  const { fontBoundingBoxAscent, fontBoundingBoxDescent, line } = measured(one, "x");
  return (fontBoundingBoxAscent + fontBoundingBoxDescent - line) / 2;
}));
"""


def colliding(driver: Chrome) -> list[str]:
    """Elements whose letters are taller than their lines, so that two lines of them would touch."""
    found: list[str] = driver.execute_script(
        _SHOWN
        + _LINES
        + """
        const touching = [];
        for (const e of document.body.querySelectorAll("*")) {
          if (!shown(e) || e.ownerSVGElement) continue;
          for (const text of texts(e)) {
            const { actualBoundingBoxAscent, actualBoundingBoxDescent, line } = measured(e, text);
            const ink = actualBoundingBoxAscent + actualBoundingBoxDescent;
            if (ink > line + 1) touching.push(`${name(e)}: letters of ${ink} in lines of ${line}`);
          }
        }
        return touching;"""
    )
    return found


def cut_off(driver: Chrome) -> list[str]:
    """Elements that hide a part of their text, or whose text runs over their edge."""
    found: list[str] = driver.execute_script(
        _SHOWN
        + _LINES
        + """
        const cut = [];
        for (const e of document.body.querySelectorAll("*")) {
          if (!shown(e) || e.ownerSVGElement || ["SELECT", "OPTION", "PROGRESS"].includes(e.tagName)) continue;
          const { overflowX, overflowY, display, clipPath } = getComputedStyle(e);
          if (clipPath === "inset(50%)") continue; // for screen readers only
          if (display === "inline" || ["auto", "scroll"].includes(overflowX)) continue;
          const room = e.clientHeight + 2 + (overflowY === "visible" && e.scrollHeight > e.clientHeight + 2 ? below(e) : 0);
          if (e.scrollWidth > e.clientWidth + 1 || e.scrollHeight > room)
            cut.push(`${name(e)}: ${e.scrollWidth} × ${e.scrollHeight} in ${e.clientWidth} × ${e.clientHeight}`);
        }
        return cut;"""
    )
    return found


def too_small(driver: Chrome) -> list[str]:
    """What is to be pressed and is less than 24 pixels wide or high, its label included; links within a sentence are excepted."""
    found: list[str] = driver.execute_script(
        _SHOWN
        + """
        const small = [];
        for (const e of document.body.querySelectorAll("a, button, input:not([type=hidden]), select, summary")) {
          if (!shown(e)) continue;
          const alone = e.tagName !== "A" || e.parentElement.textContent.trim() === e.textContent.trim() || e.closest("nav, footer, ul");
          const { width, height } = (e.closest("label.option") ?? e).getBoundingClientRect();
          if (alone && (width < arguments[0] || height < arguments[0])) small.push(`${name(e)}: ${width} × ${height}`);
        }
        return small;""",
        SMALLEST_TARGET,
    )
    return found


def unfilled(driver: Chrome) -> list[str]:
    """Texts that are shown with the name of a value in braces, in the place of the value."""
    found: list[str] = re.findall(r"[^\n]*\{[a-zA-Z]+\}[^\n]*", driver.execute_script("return document.body.innerText"))
    return found


def faults(driver: Chrome) -> list[str]:
    """Everything that is wrong at the narrowest, in both directions, and with text spaced out."""
    found = _at("any width", {"has a value's name": unfilled(driver)})
    with screen(driver, NARROWEST):
        for way in ("ltr", "rtl"):
            with direction(driver, way):
                found += _at(f"{NARROWEST} px {way}", {"too small": too_small(driver), "sticks out": sticking_out(driver)})
                with style(driver, WIDE_TEXT):
                    found += _at(f"{NARROWEST} px {way} spaced", {"sticks out": sticking_out(driver), "cut off": cut_off(driver)})
    return found


def enlarged(driver: Chrome) -> list[str]:
    """What is wrong on a phone whose text is twice as large."""
    with screen(driver, PHONE), style(driver, DOUBLE_TEXT):
        kinds = {"sticks out": sticking_out(driver), "cut off": cut_off(driver), "collides": colliding(driver)}
        return _at(f"{PHONE} px, text at 200%", kinds)


def _at(where: str, kinds: dict[str, list[str]]) -> list[str]:
    return [f"{where}: {kind}: {one}" for kind, ones in kinds.items() for one in ones]
