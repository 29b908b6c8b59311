/**
 * Rating blocks on the page: one table of items and options on a wide screen, and one item after the other on a narrow one.
 *
 * Both are the same elements with other styles: each item is a group of radio buttons with labels. The row of column headers is hidden from
 * screen readers, which read each label.
 */

import { number, t } from "./language.mjs";
import { copy, fill } from "./page.mjs";
import { setDirection } from "./questions.mjs";

const MOST_COLUMNS = 8; // of a table

export class Grids {
  #questions;
  #words;
  #boxes = new Map(); // keyed by the question's grid
  #isFixed; // no answer adds questions

  constructor(questions, words, oneByOne) {
    this.#questions = questions;
    this.#words = words;
    this.#isFixed = questions.every(({ showIf }) => showIf === undefined);
    for (const [index, question] of questions.entries()) {
      if (question.grid && !this.#boxes.has(question.grid)) this.#boxes.set(question.grid, build(question, words, oneByOne, index));
    }
  }

  /** Returns the list's nodes with the elements of each rating block inside its box. `elements`: one for each question. */
  gather(nodes, elements) {
    return nodes.flatMap((node) => {
      const question = this.#questions[elements.indexOf(node)];
      if (!question?.grid) return [node];
      const box = this.#boxes.get(question.grid);
      box.append(node);
      return question.grid.first === question.id ? [box] : [];
    });
  }

  /** Shows the boxes of these questions, by index, and hides the others. `visible`: all indices that the answers call for. */
  show(indices, visible) {
    const shown = new Set(indices.map((index) => this.#questions[index].grid));
    for (const [grid, box] of this.#boxes) {
      box.hidden = !shown.has(grid);
      const places = visible.flatMap((index, place) => (this.#questions[index].grid === grid ? [place + 1] : []));
      const { required } = this.#questions.find((question) => question.grid === grid);
      if (places.length) fill(box, { gridPlace: this.#inWords(places, required) });
    }
  }

  /** Puts the current answers into the texts of blocks that show some. */
  pipe(answerOf) {
    for (const { id, pipes, grid } of this.#questions) if (grid?.first === id && pipes.length) fill(this.#boxes.get(grid), this.#words.grid(grid, answerOf));
  }

  /** Returns the box of a question, by index, or undefined. */
  boxOf(index) {
    return this.#boxes.get(this.#questions[index].grid);
  }

  /** Returns indices of questions as lists, one for each step: a rating block is one step. */
  steps(visible) {
    const steps = [];
    for (const index of visible) {
      const { grid } = this.#questions[index];
      const last = steps.at(-1);
      if (grid && last && this.#questions[last[0]].grid === grid) last.push(index);
      else steps.push([index]);
    }
    return steps;
  }

  #inWords(places, required) {
    const values = { first: number(places[0]), last: number(places.at(-1)), count: number(this.#questions.length) };
    const place = this.#isFixed ? t("Questions {first} to {last} of {count}", values) : t("Questions {first} to {last}", values);
    return required ? place : t("{place} · may be skipped", { place });
  }
}

/** Builds a block's box, with the texts and the column headers. `question`: its first. */
function build(question, words, oneByOne, index) {
  const box = copy("grid");
  const texts = words.grid(question.grid);
  fill(box, texts);
  const lead = box.querySelector("[data-slot=gridText]");
  if (oneByOne) {
    const heading = Object.assign(document.createElement("h1"), { className: "asked" });
    lead.replaceWith(heading);
    heading.append(lead);
  }
  lead.id = `lead-${index}`;
  box.setAttribute("aria-labelledby", lead.id);
  const labels = [...words.options(question), ...(question.required ? [] : [t("Prefer not to say")])];
  const lang = words.optionsLanguage(question);
  setDirection(box, texts.gridText.lang);
  box.querySelector(".columns").append(...labels.map((label, position) => header(label, position < question.source.options.length ? lang : "")));
  box.style.setProperty("--columns", labels.length);
  box.classList.toggle("many", labels.length > MOST_COLUMNS);
  return box;
}

function header(label, lang) {
  return Object.assign(document.createElement("span"), { textContent: label, dir: "auto", ...(lang ? { lang } : {}) });
}
