/**
 * The questions as controls that a browser cannot submit, restore or remember: they have no name, and a radio button
 * without a name has no group either. So this file does what a group does: one is checked, arrow keys move.
 */

import { allows, shown } from "./encode.mjs";
import { copy, count, fill } from "./page.mjs";

const MOST_RADIOS = 12; // more options than this are a list to pick from
const PREFER_NOT = "Prefer not to say";
const NONE = "None of these";
const STEPS = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 };

/** The controls of a survey. `onChange(answered, asked)` hears how many of the questions shown have an answer, not which one. */
export class Controls {
  #questions;
  #parts;
  #onChange;

  constructor(questions, onChange) {
    this.#questions = questions;
    this.#onChange = onChange;
    this.#parts = questions.map((question, index) => build(question, `Question ${index + 1} of ${questions.length}`));
    for (const part of this.#parts) {
      part.element.addEventListener("change", () => {
        mark(part.element, false);
        this.update();
      });
    }
  }

  /** Shows the questions that the answers so far call for; an answer that was given to one now hidden is forgotten. */
  update() {
    const visible = shown(this.#questions, this.#parts.map(({ answer }) => answer()));
    for (const [index, { element, reset }] of this.#parts.entries()) {
      if (!visible[index]) reset();
      element.hidden = !visible[index];
    }
    const answered = this.#parts.filter(({ answer }, index) => given(answer()) && allows(this.#questions[index], answer()));
    this.#onChange(answered.length, visible.filter(Boolean).length);
  }

  /** One element for each question, in order. */
  get elements() {
    return this.#parts.map(({ element }) => element);
  }

  /** The numbers of the questions whose answer is missing or not one that they allow. */
  missing() {
    return this.#parts.flatMap(({ answer }, index) => (allows(this.#questions[index], answer()) ? [] : [index]));
  }

  /** Marks those questions. */
  markMissing() {
    for (const index of this.missing()) mark(this.#parts[index].element, true);
  }

  /** Moves the focus to a question's control. */
  focus(index) {
    const { element } = this.#parts[index];
    element.scrollIntoView({ block: "center" });
    element.querySelector("select, input[tabindex='0']").focus({ preventScroll: true });
  }

  /** The answers, gone from the page as soon as they are read; undefined or empty where a question was skipped. */
  take() {
    const answers = this.#parts.map(({ answer }) => answer());
    this.clear();
    return answers;
  }

  /** Forgets every answer. */
  clear() {
    for (const { reset } of this.#parts) reset();
  }
}

function given(answer) {
  return answer !== undefined && answer !== "";
}

/** A question's element, its `answer()` as the control has it, and `reset()`. */
function build(question, number) {
  const { type, required, categories, text } = question;
  const long = ["choice", "scale"].includes(type) && categories.length > MOST_RADIOS;
  const element = copy(long ? "question-list" : `question-${type}`);
  fill(element, { number: required ? number : `${number} · may be skipped`, text });
  if (type === "number") return { element, ...fieldOf(element, question) };
  if (type === "multi_choice") return { element, ...boxesOf(element, question) };
  (element.querySelector("select") ?? element).setAttribute("aria-required", required);
  addOptions(element, required ? categories : [...categories.slice(0, -1), PREFER_NOT]);
  const { chosen, reset } = long ? listOf(element.querySelector("select")) : groupOf([...element.querySelectorAll("input")]);
  return { element, answer: () => categories[chosen()], reset };
}

/** Boxes to tick, and one for none of them, so that having nothing to tick is not the same as having left the question out. */
function boxesOf(element, { required, items }) {
  addOptions(element, [...items.map(({ label }) => label), NONE, ...(required ? [] : [PREFER_NOT])]);
  const boxes = [...element.querySelectorAll("input")];
  const ticked = () => boxes.flatMap(({ checked }, index) => (checked ? [index] : []));
  for (const [index, box] of boxes.entries()) {
    box.addEventListener("change", () => {
      if (!box.checked) return;
      for (const [i, other] of boxes.entries()) if (i !== index && (i >= items.length || index >= items.length)) other.checked = false;
    });
  }
  return {
    answer: () => {
      const found = ticked();
      if (found.length === 0 || found[0] > items.length) return undefined;
      return found.filter((index) => index < items.length).map((index) => items[index].label);
    },
    reset: () => {
      for (const box of boxes) box.checked = false;
    },
  };
}

/** A field for a number; a decimal comma is a decimal point. */
function fieldOf(element, { required, source: { low, high } }) {
  const field = element.querySelector("input");
  const range = `a number from ${count(low)} to ${count(high)}`;
  fill(element, { range, problem: `Enter ${range}.` });
  element.querySelector("[data-slot=problem]").hidden = true;
  field.setAttribute("aria-required", required);
  return {
    answer: () => field.value.replace(",", "."),
    reset: () => {
      field.value = "";
    },
  };
}

/** Repeats the partial's last option until there is one for each label; those that the partial has by itself stay. */
function addOptions(element, labels) {
  const last = [...element.querySelectorAll(".option, [data-repeat]")].at(-1);
  const fixed = last.hasAttribute("data-repeat") ? 0 : element.querySelectorAll(".option").length;
  last.after(
    ...labels.slice(fixed).map((label) => {
      const option = last.cloneNode(true);
      (option.querySelector("span") ?? option).textContent = label;
      return option;
    }),
  );
  if (fixed === 0) last.remove();
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
      const next = (index + step + radios.length) % radios.length;
      check(next);
      radios[next].focus();
      radios[next].dispatchEvent(new Event("change", { bubbles: true }));
    });
  }
  check(-1);
  return { chosen: () => radios.findIndex(({ checked }) => checked), reset: () => check(-1) };
}

function mark(element, missing) {
  element.querySelector(".problem").hidden = !missing;
  const control = element.querySelector("select, input[type=text]") ?? element;
  control.toggleAttribute("aria-invalid", missing);
  if (missing) control.setAttribute("aria-invalid", "true");
}
