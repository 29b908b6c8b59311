/**
 * Questionnaire: all questions on one page or one at a time, and a review of the answers.
 *
 * Its steps are neither in the browser's history, whose length would reveal which questions were shown (`back_button.mjs` has one entry for
 * all), nor in the title, which browsers write to the disk.
 */

import { Grids } from "./grids.mjs";
import { number, t, tn } from "./language.mjs";
import { questionOrder } from "./order.mjs";
import { copy, fill, onEnter, onPress, onSinglePress, show, toTop } from "./page.mjs";
import { isSampled } from "./perturb.mjs";
import { Controls } from "./questions.mjs";
import { cryptoWords } from "./randomize.mjs";
import { Sections } from "./sections.mjs";

/**
 * Asks the questions of a survey that `sample` selects, in the survey's order or in one that is drawn here, once. Calls `send()` when the
 * respondent confirms the reviewed answers.
 */
export class Questionnaire {
  #questions;
  #words;
  #oneByOne;
  #send;
  #controls;
  #sections;
  #grids;
  #step;
  #before = ["questions", "review"].map((id) => document.getElementById(id).cloneNode(true)); // as they were before the first question
  #index = 0; // one by one: the shown step, a question or a rating block, among the visible ones

  constructor(survey, sample, words, send) {
    const nextWord = cryptoWords();
    const questions = questionOrder(survey, survey.questions.filter(isSampled(sample)), nextWord);
    const oneByOne = survey.layout === "steps";
    this.#questions = questions;
    this.#words = words;
    this.#oneByOne = oneByOne;
    this.#send = send;
    this.#controls = new Controls(questions, words, oneByOne, nextWord, () => this.#progress());
    this.#sections = new Sections(questions, words);
    this.#grids = new Grids(questions, words, oneByOne);
    this.#step = document.getElementById("questions");
    fill(this.#step, { [oneByOne ? "survey" : "title"]: words.title, [oneByOne ? "title" : "survey"]: null });
    this.#step.classList.toggle("steps", oneByOne);
    this.#step.querySelector("[data-slot=list]").replaceChildren(...this.#grids.gather(this.#sections.interleave(this.#controls.elements), this.#controls.elements));
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

  /** Returns the answers in the survey's order, whatever the order of the page, and clears the controls. */
  take() {
    const taken = this.#controls.take();
    const answers = taken.map((answer, index) => ({ answer, number: this.#questions[index].number })).sort((a, b) => a.number - b.number);
    taken.fill(undefined);
    return answers.map(({ answer }) => answer);
  }

  /** Erases all answers, and also how many questions were shown, and which: a page can be saved as a file. */
  clear() {
    this.#controls.clear();
    this.#pipe();
    for (const { id, childNodes } of this.#before) if (childNodes.length) document.getElementById(id).replaceChildren(...childNodes);
  }

  #show() {
    show("questions");
    this.#step.querySelector("[data-slot=missing]").hidden = true;
    this.#go(this.#index);
  }

  /** The visible questions of each step, by index. */
  get #steps() {
    return this.#oneByOne ? this.#grids.steps(this.#controls.visible) : [this.#controls.visible];
  }

  /** The visible questions of the shown step, or of the whole list. */
  get #here() {
    return this.#oneByOne ? (this.#steps[this.#index] ?? []) : this.#controls.visible;
  }

  /** Shows the step at this index, or the whole list. */
  #go(index) {
    this.#index = index;
    const { elements } = this.#controls;
    this.#step.querySelector("[data-action=previous]").hidden = !this.#oneByOne || index === 0;
    this.#progress();
    if (!this.#oneByOne) return;
    const [first] = this.#here;
    (this.#headingAt(first)?.querySelector("h2") ?? this.#grids.boxOf(first) ?? elements[first]).focus({ preventScroll: true });
    toTop();
  }

  /** Returns the section heading that a visible question has, by its index, if it is the first of its section. */
  #headingAt(index) {
    const { visible } = this.#controls;
    return this.#sections.headingAt(visible, visible.indexOf(index));
  }

  #progress() {
    const { visible, answered, elements } = this.#controls;
    const [steps, here] = [this.#steps, this.#here];
    if (this.#oneByOne) for (const [index, element] of elements.entries()) element.hidden = !here.includes(index);
    const begins = this.#oneByOne && this.#headingAt(here[0]) ? [here[0]] : [];
    this.#sections.show(this.#oneByOne ? begins : visible);
    this.#grids.show(here, visible);
    this.#pipe();
    const last = !this.#oneByOne || this.#index === steps.length - 1;
    const progress = this.#oneByOne ? null : t("{answered} of {count} answered", { answered: number(answered), count: number(visible.length) });
    fill(this.#step, { progress, next: last ? t("Check answers") : t("Next") }); // one by one, each question shows its own position
    this.#step.querySelector("progress").value = this.#oneByOne ? this.#index / steps.length : answered / visible.length;
    if (!this.#step.querySelector("[data-slot=missing]").hidden) this.#list(this.#controls.missing());
  }

  /** Puts the current answers into headings; the controls do so in questions. */
  #pipe() {
    for (const headings of [this.#sections, this.#grids]) headings.pipe(this.#controls.answerOf);
  }

  #next() {
    const here = this.#here;
    const missing = this.#controls.missing().filter((index) => here.includes(index));
    for (const index of missing) this.#controls.mark(index);
    if (missing.length && this.#oneByOne) this.#controls.focus(missing[0]);
    else if (missing.length) this.#announce(missing);
    else if (this.#oneByOne && this.#index < this.#steps.length - 1) this.#go(this.#index + 1);
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
    fill(summary, { missingTitle: tn("{count} question to complete", "{count} questions to complete", missing.length) });
    summary.querySelector("ul").replaceChildren(
      ...missing.map((index) => {
        const item = document.createElement("li");
        const button = document.createElement("button");
        button.type = "button";
        button.className = "link";
        const { text, lang } = this.#words.question(this.#questions[index], this.#controls.answerOf);
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
    const answer = this.#controls.inWords(index) ?? t("No answer. The coins are tossed for it, too.");
    fill(entry, { text: this.#words.question(this.#questions[index], this.#controls.answerOf), answer });
    const change = entry.querySelector("button");
    change.setAttribute("aria-label", t("Change the answer to question {place}", { place: number(position + 1) }));
    change.onclick = () => {
      this.#leaveReview(this.#steps.findIndex((step) => step.includes(index)));
      this.#controls.focus(index);
    };
    return entry;
  }

  #leaveReview(step) {
    document.querySelector("#review [data-slot=answers]").replaceChildren();
    if (this.#oneByOne) this.#index = step;
    this.#show();
  }
}
