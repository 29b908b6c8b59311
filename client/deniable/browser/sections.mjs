/** The headings between questions: each stands before those questions of its section that are asked, and is seen with the first that is shown. */

import { copy, fill } from "./page.mjs";

export class Sections {
  #questions;
  #headings = new Map(); // by the question with which the section begins

  constructor(questions, words) {
    this.#questions = questions;
    for (const { under } of questions) {
      if (!under || this.#headings.has(under)) continue;
      const heading = copy("section");
      fill(heading, words.section(under));
      this.#headings.set(under, heading);
    }
  }

  /** The elements of the questions with the headings among them, in order. */
  among(elements) {
    const placed = new Set();
    return elements.flatMap((element, index) => {
      const { under } = this.#questions[index];
      if (!under || placed.has(under)) return [element];
      placed.add(under);
      return [this.#headings.get(under), element];
    });
  }

  /** Shows the headings of these questions, by number, and no others. */
  show(indices) {
    const shown = new Set(indices.map((index) => this.#questions[index].under));
    for (const [under, heading] of this.#headings) heading.hidden = !shown.has(under);
  }

  /** The heading to be shown with the question at a place among the visible ones, undefined where it stands with an earlier one. */
  at(visible, place) {
    const { under } = this.#questions[visible[place]];
    const earlier = visible.slice(0, place).some((index) => this.#questions[index].under === under);
    return earlier ? undefined : this.#headings.get(under);
  }
}
