/**
 * What the page can show: one step at a time, and texts as text only. A step is a section of the page, named by its id;
 * whatever a survey says goes through `textContent`, so no text of a survey can become markup.
 */

import { isRightToLeft } from "./tongues.mjs";

const FLEETING = ["questions", "review", "thanks"];
const ANSWERS = ["questions", "review"];
const TWICE = 500; // milliseconds in which a second press is that of a double click: who walks on in earnest is slower

let obeyed = -TWICE; // when a press of what leads on was obeyed last

/**
 * Shows one step and hides the others, and moves the focus to its heading. Gives the step. The page's title stays as it is: browsers
 * write titles to the disk. The links to other languages load the page anew, so they are hidden where that would lose answers, or
 * the code that is shown once.
 */
export function show(id) {
  document.querySelector(".languages").hidden = FLEETING.includes(id);
  for (const step of document.querySelectorAll("main > section")) step.hidden = step.id !== id;
  document.documentElement.classList.toggle("still", ANSWERS.includes(id));
  const step = document.getElementById(id);
  step.querySelector("h1").focus({ preventScroll: true });
  toTop();
  return step;
}

/**
 * Shows the top of the page. Browsers write to the disk how far a window is scrolled, which tells how many questions there are and
 * where somebody is: while there are answers, the window stays still, and its body is scrolled, of which they keep nothing.
 */
export function toTop() {
  scrollTo(0, 0);
  document.body.scrollTo(0, 0);
}

/**
 * Puts texts into the elements of `root` that are marked with `data-slot`; null or "" hides the element. A text may be
 * {text, lang} where it is in a language of its own.
 */
export function fill(root, texts) {
  for (const [slot, given] of Object.entries(texts)) {
    const element = root.querySelector(`[data-slot="${slot}"]`);
    const { text, lang } = typeof given === "string" ? { text: given } : (given ?? {});
    element.textContent = text ?? "";
    element.hidden = !text;
    if (lang) Object.assign(element, { lang, dir: isRightToLeft(lang) ? "rtl" : "auto" }); // its first letters may be those of an abbreviation
  }
}

/** A copy of what the template with this id holds: its one element. */
export function copy(templateId) {
  return document.getElementById(templateId).content.firstElementChild.cloneNode(true);
}

/** Calls `action` when the button of `root` with this `data-action` is pressed, and no other any more. */
export function onPress(root, name, action) {
  root.querySelector(`[data-action=${name}]`).onclick = action;
}

/** The same for what leads on: the second press of a double click falls on what the first one has brought there, and does nothing. */
export function onSinglePress(root, name, action) {
  onPress(root, name, ({ detail }) => {
    const now = performance.now();
    if (detail > 1 && now - obeyed < TWICE) return;
    obeyed = now;
    action();
  });
}

/** Presses the button of `root` with this `data-action` when Enter is typed in a field of one line, as in any form. */
export function onEnter(fields, root, name) {
  fields.onkeydown = (event) => {
    if (event.key !== "Enter" || event.isComposing || !event.target.matches("input[type=text]")) return;
    event.preventDefault();
    root.querySelector(`[data-action=${name}]`).click();
  };
}

/** Forms are there for their `autocomplete` alone, which keeps WebKit and Chromium from saving what they hold. */
addEventListener("submit", (event) => event.preventDefault());

/** While nobody looks, nothing is to be seen: systems take pictures of pages for their lists of apps and tabs. */
const away = (hidden) => document.documentElement.classList.toggle("away", hidden);
addEventListener("visibilitychange", () => away(document.visibilityState === "hidden"));
addEventListener("pagehide", () => away(true));
