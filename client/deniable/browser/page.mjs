/**
 * Page steps and text slots. A step is a section of the page, shown by its id. Survey texts are set with `textContent`, so none can become
 * markup.
 */

import { isRightToLeft } from "./language_names.mjs";

const WITHOUT_LANGUAGES = ["questions", "review", "thanks"];
const WITH_ANSWERS = ["questions", "review"];
const DOUBLE_CLICK = 500; // milliseconds between the presses of a double click

let lastPress = -DOUBLE_CLICK; // when the last single press was handled

/**
 * Shows one step, hides the others, focuses its heading and returns it.
 *
 * The page's title never changes, because browsers write titles to the disk. Links to other languages reload the page, so they are hidden
 * where that would lose answers or the withdrawal code.
 */
export function show(id) {
  document.querySelector(".languages").hidden = WITHOUT_LANGUAGES.includes(id);
  for (const step of document.querySelectorAll("main > section")) step.hidden = step.id !== id;
  document.documentElement.classList.toggle("still", WITH_ANSWERS.includes(id));
  const step = document.getElementById(id);
  step.querySelector("h1").focus({ preventScroll: true });
  toTop();
  return step;
}

/**
 * Scrolls to the top.
 *
 * Browsers save a window's scroll position, which reveals the number of questions and the progress. During the questions the body is
 * scrolled instead of the window; its position is not saved.
 */
export function toTop() {
  scrollTo(0, 0);
  document.body.scrollTo(0, 0);
}

/** Sets the texts of elements with `data-slot`; null or "" hides the element. A text in another language is {text, lang}. */
export function fill(root, texts) {
  for (const [slot, value] of Object.entries(texts)) {
    const element = root.querySelector(`[data-slot="${slot}"]`);
    const { text, lang } = typeof value === "string" ? { text: value } : (value ?? {});
    element.textContent = text ?? "";
    element.hidden = !text;
    if (lang) Object.assign(element, { lang, dir: isRightToLeft(lang) ? "rtl" : "auto" }); // a text can begin with an abbreviation in another script
  }
}

/** Returns a copy of the one element in this template. */
export function copy(templateId) {
  return document.getElementById(templateId).content.firstElementChild.cloneNode(true);
}

/** Sets the only action of a button with this `data-action`. */
export function onPress(root, name, action) {
  root.querySelector(`[data-action=${name}]`).onclick = action;
}

/** The same for a button that leads to the next step: ignores the second press of a double click, which would fall on the next step. */
export function onSinglePress(root, name, action) {
  onPress(root, name, ({ detail }) => {
    const now = performance.now();
    if (detail > 1 && now - lastPress < DOUBLE_CLICK) return;
    lastPress = now;
    action();
  });
}

/** Presses a button when Enter is typed in a text field, as forms do. */
export function onEnter(fields, root, name) {
  fields.onkeydown = (event) => {
    if (event.key !== "Enter" || event.isComposing || !event.target.matches("input[type=text]")) return;
    event.preventDefault();
    root.querySelector(`[data-action=${name}]`).click();
  };
}

/** Forms exist only for `autocomplete=off`, which keeps WebKit and Chromium from saving their fields. */
addEventListener("submit", (event) => event.preventDefault());

/** Hides the page in the background: systems take screenshots for lists of apps and tabs. */
const hidePage = (hidden) => document.documentElement.classList.toggle("away", hidden);
addEventListener("visibilitychange", () => hidePage(document.visibilityState === "hidden"));
addEventListener("pagehide", () => hidePage(true));
