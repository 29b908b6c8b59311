/**
 * Question controls that a browser cannot submit, restore or save: they have no name. Radio buttons without a name form no group, so this
 * module implements one: one checked button, and arrow keys.
 */

import { syncDefaults } from "./control_defaults.mjs";
import { allows, visibleQuestions } from "./encode.mjs";
import { list, listIn, number, readNumber, t } from "./language.mjs";
import { isRightToLeft } from "./language_names.mjs";
import { optionOrder } from "./order.mjs";
import { copy, fill } from "./page.mjs";
import { typeOf } from "./types.mjs";

const MAX_RADIOS = 12; // a question with more options gets a drop-down list
const PARTS = { place: "[data-slot=place]", text: "[data-slot=text]", help: ".help:not([hidden])", hint: ".quiet", problem: ".problem" };
const STEPS = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 };

/** The controls of a survey. `onChange()` is called after every change, without the answer or its question. */
export class Controls {
  #questions;
  #words;
  #parts;
  #visible;
  #positionText; // returns a question's position in words

  /** `oneByOne`: each question is the heading of its own page. `nextWord` draws the order of options. */
  constructor(questions, words, oneByOne, nextWord, onChange) {
    this.#questions = questions;
    this.#words = words;
    this.#parts = questions.map((question, index) => build(question, words, index, nextWord));
    if (oneByOne) for (const [index, { element }] of this.#parts.entries()) if (!questions[index].grid) makeHeading(element);
    this.#positionText = describePosition(questions, oneByOne);
    for (const part of this.#parts) {
      // On every key: if the problem disappeared only on leaving the field, the button pressed next would move away.
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

  /** Erases the answers to hidden questions; not during typing, since 15 becomes 1 on the way to 16. */
  #forgetHidden() {
    for (const [index, { reset }] of this.#parts.entries()) if (!this.#visible[index]) reset();
  }

  /** Shows the questions that the current answers call for. */
  #show() {
    this.#visible = visibleQuestions(this.#questions, this.#parts.map(({ answer }) => answer()));
    for (const [index, { element }] of this.#parts.entries()) element.hidden = !this.#visible[index];
    for (const [before, index] of this.visible.entries()) fill(this.#parts[index].element, { place: this.#positionText(before, this.#questions[index]) });
    this.#pipe();
  }

  /** Puts the current answers into the texts that show some. Nothing else on the page has them. */
  #pipe() {
    for (const [index, question] of this.#questions.entries()) {
      if (question.pipes.length === 0) continue;
      fill(this.#parts[index].element, { text: this.#words.question(question, this.answerOf), help: this.#words.help(question, this.answerOf) });
    }
  }

  /** Returns the answer to the question with this id in words, for a later text; undefined without one, or if it is hidden. */
  answerOf = (id) => {
    const index = this.#questions.findIndex((question) => question.id === id);
    if (index < 0 || !this.#visible[index]) return undefined;
    const { answer, inText } = this.#parts[index];
    return hasAnswer(answer()) && allows(this.#questions[index], answer()) ? inText() : undefined;
  };

  /** The indices of the visible questions. */
  get visible() {
    return this.#visible.flatMap((shows, index) => (shows ? [index] : []));
  }

  /** The number of visible questions with an answer. */
  get answered() {
    return this.visible.filter((index) => hasAnswer(this.#parts[index].answer()) && allows(this.#questions[index], this.#parts[index].answer())).length;
  }

  /** One element for each question, in order. */
  get elements() {
    return this.#parts.map(({ element }) => element);
  }

  /** Returns the indices of questions whose answer is missing or not allowed. */
  missing() {
    return this.#parts.flatMap(({ answer }, index) => (allows(this.#questions[index], answer()) ? [] : [index]));
  }

  /** Marks a question's answer as missing. */
  mark(index) {
    mark(this.#parts[index], true);
  }

  /** Focuses a question's control. */
  focus(index) {
    const { element } = this.#parts[index];
    element.scrollIntoView({ block: "center" });
    element.querySelector("select, input[tabindex='0']").focus({ preventScroll: true });
  }

  /** Returns the current answer as text, {text, lang} if it is the survey's text, or null without an answer. */
  inWords(index) {
    return hasAnswer(this.#parts[index].answer()) ? this.#parts[index].inWords() : null;
  }

  /** Returns the answers and clears the controls. A skipped question's answer is undefined or empty. */
  take() {
    const answers = this.#parts.map(({ answer }) => answer());
    this.clear();
    return answers;
  }

  /** Erases every answer. */
  clear() {
    for (const { element, reset } of this.#parts) {
      reset();
      syncDefaults(element);
    }
    this.#pipe();
  }
}

function hasAnswer(answer) {
  return answer !== undefined && answer !== "";
}

/**
 * Returns a function that describes a question's position. The total is named only if no answer adds questions, so that no number jumps or
 * counts hidden ones.
 */
function describePosition(questions, oneByOne) {
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
function makeHeading(element) {
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

/**
 * Builds a question's element, with `answer()`, its value; `inWords()`, its text; `inText()`, its text within a later one; and `reset()`.
 */
function build(question, words, index, nextWord) {
  const { required, categories } = question;
  const kind = typeOf(question).control;
  const shape = kind === "radios" && categories.length > MAX_RADIOS ? "list" : question.grid ? "row" : kind;
  const element = copy(`question-${shape}`);
  fill(element, { text: words.question(question), help: words.help(question) });
  if (shape !== "row") setDirection(element, words.question(question).lang); // a row has its table's
  const control = element.querySelector("select, input[type=text]") ?? element;
  if (control !== element) control.setAttribute("aria-labelledby", idsOf(element, index, ["place", "text"])); // not the rest of its label
  if (shape === "row") element.setAttribute("aria-labelledby", idsOf(element, index, ["text"]));
  if (shape !== "boxes") control.setAttribute("aria-required", required);
  const given = words.options(question);
  const places = optionOrder(question, given.length, nextWord);
  const labels = places.map((place) => given[place]);
  const lang = words.optionsLanguage(question);
  const part = { element, control, index, ...CONTROLS[shape](element, inOrder(question, places), labels, lang) };
  if (shape !== "field") setLanguage(element, labels.length, lang);
  mark(part, false);
  return part;
}

/** Returns a question with its options, or items, in the order of the page. */
function inOrder(question, places) {
  const { categories, items } = question;
  if (items[0].label !== undefined) return { ...question, items: places.map((place) => items[place]) };
  return { ...question, categories: [...places.map((place) => categories[place]), ...categories.slice(places.length)] };
}

/** Sets the direction of a question, or of a table of them, that differs from the page's. */
export function setDirection(element, lang) {
  const direction = isRightToLeft(lang) ? "rtl" : "ltr";
  if (direction !== (document.documentElement.dir || "ltr")) element.dir = direction;
}

/** Gives ids to parts of a question's element, and returns them as a list for ARIA attributes. */
function idsOf(element, index, names) {
  const selected = names.filter((name) => element.querySelector(PARTS[name]));
  for (const name of selected) element.querySelector(PARTS[name]).id = `${name}-${index}`;
  return selected.map((name) => `${name}-${index}`).join(" ");
}

/** Sets the language of the first `count` options; the others are the page's own. */
function setLanguage(element, count, lang) {
  const options = element.querySelectorAll("label.option span, option:not([disabled])");
  for (const option of [...options].slice(0, count)) option.lang = lang;
}

/**
 * Fills each kind of control. Arguments: element, question, and its options' labels and language. Returns `answer`, `inWords` and `reset`.
 */
const CONTROLS = {
  radios: (...args) => choiceOf(...args, (element) => groupOf([...element.querySelectorAll("input")])),
  row: (...args) => CONTROLS.radios(...args),
  list: (...args) => choiceOf(...args, (element) => listOf(element.querySelector("select"))),
  boxes: boxesOf,
  field: fieldOf,
};

/** Fills a single choice. `track(element)` returns `chosen()`, the selected index, and `reset()`. */
function choiceOf(element, { required, categories }, labels, lang, track) {
  addOptions(element, required ? labels : [...labels, t("Prefer not to say")]);
  const { chosen, reset } = track(element);
  const inText = () => labels[chosen()];
  return { answer: () => categories[chosen()], inText, inWords: () => (inText() ? { text: inText(), lang } : { text: t("Prefer not to say") }), reset };
}

/**
 * Fills a multiple choice: boxes, and one for none of them (the survey's own option or the page's), because ticking nothing is not
 * skipping. Exclusive boxes untick the others, and the text beside them says so. Limits are a hint, and a problem once they are broken.
 */
function boxesOf(element, question, labels, lang) {
  const { required, items, source } = question;
  const limit = limitOf(source);
  const hasNone = source.none === undefined && !source.at_least; // whether the page has the option for none
  const own = [...(hasNone ? [t("None of these")] : []), ...(required ? [] : [t("Prefer not to say")])];
  addOptions(element, [...labels, ...own]);
  const boxes = [...element.querySelectorAll("input")];
  const exclusive = typeOf(question).exclusive(source);
  const excludes = (index) => index >= items.length || exclusive.includes(items[index].label);
  for (const [index, box] of boxes.entries()) if (source.exclusive?.includes(items[index]?.label)) markExclusive(box);
  const status = element.querySelector("[role=status]");
  const problem = element.querySelector(".problem");
  if (limit) element.querySelector(".quiet").textContent = limit;
  const none = labels[items.findIndex(({ label }) => label === source.none)];
  const nothing = none ? t("Tick what applies, or “{none}”.", { none }) : hasNone ? problem.textContent : limit; // if nothing is ticked
  const explain = () => (problem.textContent = limit && ticked().length ? limit : nothing);
  const skips = items.length + hasNone; // the index of "Prefer not to say"
  const named = () => ticked().flatMap((index) => labels[index] ?? []);
  const ticked = () => boxes.flatMap(({ checked }, index) => (checked ? [index] : []));
  for (const [index, box] of boxes.entries()) {
    box.addEventListener("change", () => {
      const others = box.checked ? boxes.filter((other, i) => other.checked && i !== index && (excludes(i) || excludes(index))) : [];
      for (const other of others) other.checked = false;
      status.textContent = others.length ? t("Other ticks were removed.") : "";
      explain();
    });
  }
  explain();
  return {
    answer: () => {
      const selected = ticked();
      if (selected.length === 0 || selected[0] === skips) return undefined;
      return selected.filter((index) => index < items.length).map((index) => items[index].label);
    },
    inText: () => (named().length ? listIn(lang, named()) : undefined),
    inWords: () => (named().length ? { text: list(named()), lang } : { text: t("None of these") }),
    reset: () => {
      for (const box of boxes) box.checked = false;
      status.textContent = "";
      explain();
    },
  };
}

/** Describes how many boxes may be ticked; undefined if any number. */
function limitOf({ at_least: least, at_most: most }) {
  if (!least) return most && t("Tick up to {most}.", { most });
  if (!most) return t("Tick at least {least}.", { least });
  return least < most ? t("Tick {least} to {most}.", { least, most }) : t("Tick exactly {most}.", { most });
}

/** Marks an exclusive box, in its visible text and its accessible name. */
function markExclusive(box) {
  const note = document.createElement("small");
  note.textContent = t("only this one");
  box.nextElementSibling.after(" ", note); // accessible names are concatenated without spaces
}

/** Fills a number field. The review shows the number as it was parsed, a later text as it was typed, or the name of its bin. */
function fieldOf(element, question, labels) {
  const { required, source } = question;
  const { low, high, bins } = source;
  const field = element.querySelector("input");
  if (low < 0) field.inputMode = "text"; // phones' decimal keypads have no minus
  const exact = (value) => number(value, { maximumFractionDigits: 20 });
  const range = { low: exact(low), high: exact(high) };
  const hint = required ? t("A number from {low} to {high}", range) : t("A number from {low} to {high}. Leave it empty if you prefer not to say.", range);
  fill(element, { range: hint, problem: t("Enter a number from {low} to {high}.", range) });
  return {
    answer: () => readNumber(field.value),
    inText: () => (bins ? labels[typeOf(question).position(source, question.categories, readNumber(field.value))] : field.value.trim()),
    inWords: () => ({ text: exact(Number(readNumber(field.value))) }),
    reset: () => {
      field.value = "";
    },
  };
}

/** Repeats the template's option for each label. */
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
    chosen: () => select.selectedIndex - 1, // the first line says "choose one"
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

/** Shows or hides a question's problem. A hidden one must not describe the control, or screen readers would still read it. */
function mark({ element, control, index }, missing) {
  element.querySelector(".problem").hidden = !missing;
  control.setAttribute("aria-describedby", idsOf(element, index, ["help", "hint", ...(missing ? ["problem"] : [])]));
  control.toggleAttribute("aria-invalid", missing);
  if (missing) control.setAttribute("aria-invalid", "true");
}
