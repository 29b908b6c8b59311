/**
 * Questionnaire: all questions on one page or one at a time, and a review of the answers.
 *
 * Its steps are neither in the browser's history, whose length would reveal which questions were shown (`back_button.mjs` has one entry for
 * all), nor in the title, which browsers write to the disk.
 */

import { number, t, tn } from "./language.mjs";
import { copy, fill, onEnter, onPress, onSinglePress, show, toTop } from "./page.mjs";
import { Controls } from "./questions.mjs";
import { Sections } from "./sections.mjs";

/** Asks `questions`. Calls `send()` when the respondent confirms the reviewed answers. */
export class Questionnaire {
  #questions;
  #words;
  #oneByOne;
  #send;
  #controls;
  #sections;
  #step;
  #before = ["questions", "review"].map((id) => document.getElementById(id).cloneNode(true)); // as they were before the first question
  #index = 0; // one by one: the shown question's index among the visible ones

  constructor(questions, words, oneByOne, send) {
    this.#questions = questions;
    this.#words = words;
    this.#oneByOne = oneByOne;
    this.#send = send;
    this.#controls = new Controls(questions, words, oneByOne, () => this.#progress());
    this.#sections = new Sections(questions, words);
    this.#step = document.getElementById("questions");
    fill(this.#step, { [oneByOne ? "survey" : "title"]: words.title, [oneByOne ? "title" : "survey"]: null });
    this.#step.classList.toggle("steps", oneByOne);
    this.#step.querySelector("[data-slot=list]").replaceChildren(...this.#sections.interleave(this.#controls.elements));
    onSinglePress(this.#step, "next", () => this.#next());
    if (oneByOne) onEnter(this.#step.querySelector("[data-slot=list]"), this.#step, "next");
    for (const field of oneByOne ? this.#step.querySelectorAll("input[type=text]") : []) field.enterKeyHint = "next";
    onPress(this.#step, "previous", () => this.#go(this.#index - 1));
    this.#show();
  }

  /** Goes one step back, like the page's own button. Returns false at the first question. */
  back() {
    if (!document.getElementById("review").hidden) this.#leaveReview(this.#index);
    else if (this.#oneByOne && this.#index > 0) this.#go(this.#index - 1);
    else return false;
    return true;
  }

  /** Shows the questions again, at the same position. */
  resume() {
    this.#show();
  }

  /** Returns the answers and clears the controls. */
  take() {
    return this.#controls.take();
  }

  /** Erases all answers, and also how many questions were shown, and which: a page can be saved as a file. */
  clear() {
    this.#controls.clear();
    for (const { id, childNodes } of this.#before) if (childNodes.length) document.getElementById(id).replaceChildren(...childNodes);
  }

  #show() {
    show("questions");
    this.#step.querySelector("[data-slot=missing]").hidden = true;
    this.#go(this.#index);
  }

  /** Shows the visible question at this index, or the whole list. */
  #go(index) {
    this.#index = index;
    const { visible, elements } = this.#controls;
    this.#step.querySelector("[data-action=previous]").hidden = !this.#oneByOne || index === 0;
    this.#progress();
    if (!this.#oneByOne) return;
    (this.#sections.headingAt(visible, index)?.querySelector("h2") ?? elements[visible[index]]).focus({ preventScroll: true });
    toTop();
  }

  #progress() {
    const { visible, answered, elements } = this.#controls;
    if (this.#oneByOne) for (const [index, element] of elements.entries()) element.hidden = index !== visible[this.#index];
    const begins = this.#oneByOne && this.#sections.headingAt(visible, this.#index) ? [visible[this.#index]] : [];
    this.#sections.show(this.#oneByOne ? begins : visible);
    const last = !this.#oneByOne || this.#index === visible.length - 1;
    const progress = this.#oneByOne ? null : t("{answered} of {count} answered", { answered: number(answered), count: number(visible.length) });
    fill(this.#step, { progress, next: last ? t("Check answers") : t("Next") }); // one by one, each question shows its own position
    this.#step.querySelector("progress").value = (this.#oneByOne ? this.#index : answered) / visible.length;
    if (!this.#step.querySelector("[data-slot=missing]").hidden) this.#list(this.#controls.missing());
  }

  #next() {
    const { visible } = this.#controls;
    const here = this.#oneByOne ? visible.slice(this.#index, this.#index + 1) : visible;
    const missing = this.#controls.missing().filter((index) => here.includes(index));
    for (const index of missing) this.#controls.mark(index);
    if (missing.length && this.#oneByOne) this.#controls.focus(missing[0]);
    else if (missing.length) this.#announce(missing);
    else if (this.#oneByOne && this.#index < visible.length - 1) this.#go(this.#index + 1);
    else this.#review();
  }

  #announce(missing) {
    const summary = this.#list(missing);
    summary.focus();
    summary.scrollIntoView({ block: "start" });
  }

  /** Lists the unanswered questions, each with a button that leads to it. Called again whenever an answer changes. */
  #list(missing) {
    const summary = this.#step.querySelector("[data-slot=missing]");
    fill(summary, { missingTitle: tn("{n} question has no answer yet", "{n} questions have no answer yet", missing.length, { n: number(missing.length) }) });
    summary.querySelector("ul").replaceChildren(
      ...missing.map((index) => {
        const item = document.createElement("li");
        const button = document.createElement("button");
        button.type = "button";
        button.className = "link";
        const { text, lang } = this.#words.question(this.#questions[index]);
        Object.assign(button, { textContent: text, lang, dir: "auto" });
        button.onclick = () => this.#controls.focus(index);
        item.append(button);
        return item;
      }),
    );
    summary.hidden = missing.length === 0;
    return summary;
  }

  #review() {
    const step = show("review");
    step.querySelector("[data-slot=answers]").replaceChildren(...this.#controls.visible.map((index, position) => this.#answer(index, position)));
    onPress(step, "previous", () => this.#leaveReview(this.#index));
    onSinglePress(step, "send", () => this.#send());
  }

  #answer(index, position) {
    const entry = copy("review-entry");
    const answer = this.#controls.inWords(index) ?? t("No answer, which the coins hide like any other");
    fill(entry, { text: this.#words.question(this.#questions[index]), answer });
    const change = entry.querySelector("button");
    change.setAttribute("aria-label", t("Change the answer to question {place}", { place: number(position + 1) }));
    change.onclick = () => {
      this.#leaveReview(position);
      this.#controls.focus(index);
    };
    return entry;
  }

  #leaveReview(position) {
    document.querySelector("#review [data-slot=answers]").replaceChildren();
    if (this.#oneByOne) this.#index = position;
    this.#show();
  }
}
