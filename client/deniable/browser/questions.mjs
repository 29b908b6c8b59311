/**
 * The questions as controls that a browser cannot submit, restore or remember: they have no name, and a radio button
 * without a name has no group either. So this file does what a group does: one is checked, arrow keys move.
 */

import { allows, shown } from "./encode.mjs";
import { list, number, readNumber, t } from "./language.mjs";
import { copy, fill } from "./page.mjs";
import { isRightToLeft } from "./tongues.mjs";
import { typeOf } from "./types.mjs";
import { unchanged } from "./unchanged.mjs";

const MOST_RADIOS = 12; // more options than this are a list to pick from
const PARTS = { place: "[data-slot=place]", text: "[data-slot=text]", help: ".help:not([hidden])", hint: ".quiet", problem: ".problem" };
const STEPS = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 };

/** The controls of a survey. `onChange()` is called when an answer has changed; which one, or what it is, it does not say. */
export class Controls {
  #questions;
  #parts;
  #visible;
  #place; // says where a question stands

  /** `oneByOne`: each question is a page of its own, whose heading it is. */
  constructor(questions, words, oneByOne, onChange) {
    this.#questions = questions;
    this.#parts = questions.map((question, index) => build(question, words, index));
    if (oneByOne) for (const { element } of this.#parts) head(element);
    this.#place = placing(questions, oneByOne);
    for (const part of this.#parts) {
      // A number is heard of while it is typed: if its problem went only when it is left, the button pressed next would move away.
      part.element.addEventListener(part.control.type === "text" ? "input" : "change", () => {
        mark(part, false);
        this.#show();
        onChange();
      });
      part.element.addEventListener("change", () => {
        this.#forgetHidden();
        onChange();
      });
    }
    this.#show();
  }

  /** Forgets the answers to questions that are hidden by now: not while a number is typed, which is 1 on the way from 15 to 16. */
  #forgetHidden() {
    for (const [index, { reset }] of this.#parts.entries()) if (!this.#visible[index]) reset();
  }

  /** Shows the questions that the answers so far call for. */
  #show() {
    this.#visible = shown(this.#questions, this.#parts.map(({ answer }) => answer()));
    for (const [index, { element }] of this.#parts.entries()) element.hidden = !this.#visible[index];
    for (const [before, index] of this.visible.entries()) fill(this.#parts[index].element, { place: this.#place(before, this.#questions[index]) });
  }

  /** The numbers of the questions that are shown after the answers so far. */
  get visible() {
    return this.#visible.flatMap((shows, index) => (shows ? [index] : []));
  }

  /** How many of the questions shown have an answer. */
  get answered() {
    return this.visible.filter((index) => given(this.#parts[index].answer()) && allows(this.#questions[index], this.#parts[index].answer())).length;
  }

  /** One element for each question, in order. */
  get elements() {
    return this.#parts.map(({ element }) => element);
  }

  /** The numbers of the questions whose answer is missing or not one that they allow. */
  missing() {
    return this.#parts.flatMap(({ answer }, index) => (allows(this.#questions[index], answer()) ? [] : [index]));
  }

  /** Marks a question's answer as missing. */
  mark(index) {
    mark(this.#parts[index], true);
  }

  /** Moves the focus to a question's control. */
  focus(index) {
    const { element } = this.#parts[index];
    element.scrollIntoView({ block: "center" });
    element.querySelector("select, input[tabindex='0']").focus({ preventScroll: true });
  }

  /** What a question's control says now, as {text, lang} where the words are the survey's; null where nothing was answered. */
  inWords(index) {
    return given(this.#parts[index].answer()) ? this.#parts[index].inWords() : null;
  }

  /** The answers, gone from the page as soon as they are read; undefined or empty where a question was skipped. */
  take() {
    const answers = this.#parts.map(({ answer }) => answer());
    this.clear();
    return answers;
  }

  /** Forgets every answer. */
  clear() {
    for (const { element, reset } of this.#parts) {
      reset();
      unchanged(element);
    }
  }
}

function given(answer) {
  return answer !== undefined && answer !== "";
}

/** Where a question stands, in words: of how many only where no answer calls for more of them, so that no number jumps or counts what is hidden. */
function placing(questions, oneByOne) {
  const fixed = questions.every(({ showIf }) => showIf === undefined);
  const count = number(questions.length);
  const where = (place) => {
    if (fixed) return t("Question {place} of {count}", { place, count });
    return oneByOne ? t("Step {place}", { place }) : t("Question {place}", { place });
  };
  return (before, { required }) => {
    const place = where(number(before + 1));
    return required ? place : t("{place} · may be skipped", { place });
  };
}

/** Makes a question the heading of its page. */
function head(element) {
  const heading = Object.assign(document.createElement("h1"), { className: "asked" });
  const text = element.querySelector("[data-slot=text]");
  const legend = element.querySelector("legend");
  if (legend) {
    text.replaceWith(heading);
    heading.append(text);
  } else {
    heading.append(element.querySelector("[data-slot=place]"), text);
    element.prepend(heading);
  }
}

/** A question's element; its `answer()` as the control has it, `inWords()` as a person reads it, and `reset()`. */
function build(question, words, index) {
  const { required, categories } = question;
  const asks = typeOf(question).control;
  const shape = asks === "radios" && categories.length > MOST_RADIOS ? "list" : asks;
  const element = copy(`question-${shape}`);
  fill(element, { text: words.question(question), help: words.help(question) });
  turn(element, words.question(question).lang);
  const control = element.querySelector("select, input[type=text]") ?? element;
  if (control !== element) control.setAttribute("aria-labelledby", idsOf(element, index, ["place", "text"])); // not the rest of its label
  if (shape !== "boxes") control.setAttribute("aria-required", required);
  const labels = words.options(question);
  const lang = words.optionsLanguage(question);
  const part = { element, control, index, ...CONTROLS[shape](element, question, labels, lang) };
  if (shape !== "field") speak(element, labels.length, lang);
  mark(part, false);
  return part;
}

/** A question in the other direction than the page is laid out in its own. */
function turn(element, lang) {
  const direction = isRightToLeft(lang) ? "rtl" : "ltr";
  if (direction !== (document.documentElement.dir || "ltr")) element.dir = direction;
}

/** The ids of parts of a question's element, given to them here, as ARIA attributes list them. */
function idsOf(element, index, names) {
  const found = names.filter((name) => element.querySelector(PARTS[name]));
  for (const name of found) element.querySelector(PARTS[name]).id = `${name}-${index}`;
  return found.map((name) => `${name}-${index}`).join(" ");
}

/** Says which language the first `count` options are in; those after them are the page's own. */
function speak(element, count, lang) {
  const options = element.querySelectorAll("label.option span, option:not([disabled])");
  for (const option of [...options].slice(0, count)) option.lang = lang;
}

/** How each control is filled: (element, question, labels, lang), the last two of its options, give its `answer`, `inWords` and `reset`. */
const CONTROLS = {
  radios: (...given) => choiceOf(...given, (element) => groupOf([...element.querySelectorAll("input")])),
  list: (...given) => choiceOf(...given, (element) => listOf(element.querySelector("select"))),
  boxes: boxesOf,
  field: fieldOf,
};

/** One of several options. `track(element)` makes the control work, and gives the number of the one that is `chosen()`, and `reset()`. */
function choiceOf(element, { required, categories }, labels, lang, track) {
  addOptions(element, required ? labels : [...labels, t("Prefer not to say")]);
  const { chosen, reset } = track(element);
  return { answer: () => categories[chosen()], inWords: () => (labels[chosen()] ? { text: labels[chosen()], lang } : { text: t("Prefer not to say") }), reset };
}

/**
 * Boxes to tick, and one for none of them, so that having nothing to tick is not the same as having left the question out: the survey's own
 * option for that, or the page's. Boxes that exclude the others untick them, and are unticked by them; which ones do is said beside them.
 */
function boxesOf(element, question, labels, lang) {
  const { required, items, source } = question;
  const own = [...(source.none === undefined ? [t("None of these")] : []), ...(required ? [] : [t("Prefer not to say")])];
  addOptions(element, [...labels, ...own]);
  const boxes = [...element.querySelectorAll("input")];
  const apart = typeOf(question).exclusive(source);
  const excludes = (index) => index >= items.length || apart.includes(items[index].label);
  for (const [index, box] of boxes.entries()) if (source.exclusive?.includes(items[index]?.label)) sayAlone(box);
  const status = element.querySelector("[role=status]");
  if (source.none !== undefined) {
    const none = labels[items.findIndex(({ label }) => label === source.none)];
    element.querySelector(".problem").textContent = t("Tick what applies, or “{none}”.", { none });
  }
  const skips = items.length + (source.none === undefined ? 1 : 0); // the place of "Prefer not to say"
  const ticked = () => boxes.flatMap(({ checked }, index) => (checked ? [index] : []));
  for (const [index, box] of boxes.entries()) {
    box.addEventListener("change", () => {
      const others = box.checked ? boxes.filter((other, i) => other.checked && i !== index && (excludes(i) || excludes(index))) : [];
      for (const other of others) other.checked = false;
      status.textContent = others.length ? t("Other ticks were removed.") : "";
    });
  }
  return {
    answer: () => {
      const found = ticked();
      if (found.length === 0 || found[0] === skips) return undefined;
      return found.filter((index) => index < items.length).map((index) => items[index].label);
    },
    inWords: () => {
      const named = ticked().flatMap((index) => labels[index] ?? []);
      return named.length ? { text: list(named), lang } : { text: t("None of these") };
    },
    reset: () => {
      for (const box of boxes) box.checked = false;
      status.textContent = "";
    },
  };
}

/** Says of a box that it goes with no other: seen under the option, and heard with its name. */
function sayAlone(box) {
  const note = document.createElement("small");
  note.textContent = t("only this one");
  box.nextElementSibling.after(" ", note); // names are put together of texts: with a space between
}

/** A field for a number, which the last look shows as it was understood. */
function fieldOf(element, { required, source: { low, high } }) {
  const field = element.querySelector("input");
  if (low < 0) field.inputMode = "text"; // the decimal keys of phones have no minus
  const exact = (value) => number(value, { maximumFractionDigits: 20 });
  const range = { low: exact(low), high: exact(high) };
  const hint = required ? t("A number from {low} to {high}", range) : t("A number from {low} to {high}. Leave it empty if you prefer not to say.", range);
  fill(element, { range: hint, problem: t("Enter a number from {low} to {high}.", range) });
  element.querySelector("[data-slot=problem]").hidden = true;
  return {
    answer: () => readNumber(field.value),
    inWords: () => ({ text: exact(Number(readNumber(field.value))) }),
    reset: () => {
      field.value = "";
    },
  };
}

/** Repeats the partial's option for each label. */
function addOptions(element, labels) {
  const blank = element.querySelector("[data-repeat]");
  blank.replaceWith(
    ...labels.map((label) => {
      const option = blank.cloneNode(true);
      (option.querySelector("span") ?? option).textContent = label;
      return option;
    }),
  );
}

function listOf(select) {
  return {
    chosen: () => select.selectedIndex - 1, // the first line says: choose one
    reset: () => {
      select.selectedIndex = 0;
    },
  };
}

function groupOf(radios) {
  const check = (index) => {
    for (const [i, radio] of radios.entries()) {
      radio.checked = i === index;
      radio.tabIndex = i === Math.max(index, 0) ? 0 : -1;
    }
  };
  for (const [index, radio] of radios.entries()) {
    radio.setAttribute("aria-posinset", index + 1);
    radio.setAttribute("aria-setsize", radios.length);
    radio.addEventListener("change", () => check(index));
    radio.addEventListener("keydown", (event) => {
      const step = event.ctrlKey || event.altKey || event.metaKey ? undefined : STEPS[event.key];
      if (step === undefined) return;
      event.preventDefault();
      const forward = getComputedStyle(radio).direction === "rtl" && ["ArrowLeft", "ArrowRight"].includes(event.key) ? -step : step;
      const next = (index + forward + radios.length) % radios.length;
      check(next);
      radios[next].focus();
      radios[next].dispatchEvent(new Event("change", { bubbles: true }));
    });
  }
  check(-1);
  return { chosen: () => radios.findIndex(({ checked }) => checked), reset: () => check(-1) };
}

/** Shows or hides a question's problem. A hidden one must not describe the control: it would be read out all the same. */
function mark({ element, control, index }, missing) {
  element.querySelector(".problem").hidden = !missing;
  control.setAttribute("aria-describedby", idsOf(element, index, ["help", "hint", ...(missing ? ["problem"] : [])]));
  control.toggleAttribute("aria-invalid", missing);
  if (missing) control.setAttribute("aria-invalid", "true");
}
