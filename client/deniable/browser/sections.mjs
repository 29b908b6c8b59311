/** Section headings: each precedes the asked questions of its section, and is visible with the first visible one. */

import { copy, fill } from "./page.mjs";

export class Sections {
  #questions;
  #words;
  #headings = new Map(); // keyed by the first question of the section

  constructor(questions, words) {
    this.#questions = questions;
    this.#words = words;
    for (const { under } of questions) {
      if (!under || this.#headings.has(under)) continue;
      const heading = copy("section");
      fill(heading, words.section(under));
      this.#headings.set(under, heading);
    }
  }

  /** Returns the questions' elements with headings among them, in order. */
  interleave(elements) {
    const all = [...elements.keys()];
    return elements.flatMap((element, index) => [this.headingAt(all, index) ?? [], element].flat());
  }

  /** Shows the headings of these questions, by index, and hides the others. */
  show(indices) {
    const sections = new Set(indices.map((index) => this.#questions[index].under));
    for (const [under, heading] of this.#headings) heading.hidden = !sections.has(under);
  }

  /** Puts the current answers into the headings that show some. */
  pipe(answerOf) {
    for (const [under, heading] of this.#headings) if (under.pipes.length) fill(heading, this.#words.section(under, answerOf));
  }

  /** Returns the heading of the visible question at this index, or undefined if an earlier question has it. */
  headingAt(visible, index) {
    const { under } = this.#questions[visible[index]];
    const earlier = visible.slice(0, index).some((number) => this.#questions[number].under === under);
    return earlier ? undefined : this.#headings.get(under);
  }
}
