/**
 * Answers become categories 0 .. k-1. The twin of `device/encode.py`: the same answers mean the same categories, and shared vectors hold
 * the two together.
 */

import { holds } from "./conditions.mjs";
import { NO_ANSWER, strip } from "./types/base.mjs";
import { typeOf } from "./types.mjs";

const WORD = 2 ** 32;
const NOT_AN_ANSWER = Symbol("not an answer");

/** An answer is missing or not one that its question allows. The message never quotes the answer. */
export class AnswerError extends Error {
  name = "AnswerError";
}

/**
 * The category, 0 .. k-1, that an answer means. Throws AnswerError, which names the question and its rule only.
 * A number takes one word, to be rounded to a level of its grid; other types, and bins, take none.
 */
export function encode(question, answer, nextWord) {
  const place = placeOf(question, answer);
  if (place === undefined) throw new AnswerError(`${question.id}: the answer must be ${allowed(question)}`);
  if (!typeOf(question).rounds(question.source)) return place;
  const lower = Math.floor(place);
  return nextWord() < Math.floor((place - lower) * WORD) ? lower + 1 : lower;
}

/**
 * The categories of all items of all questions, each of which is randomized by itself. What is hidden becomes "no
 * answer": which questions were shown depends on true answers, so it must not show.
 */
export function encodeAll(questions, answers, nextWord) {
  for (const [index, question] of questions.entries()) {
    if (contradicts(question, answers[index])) throw new AnswerError(`${question.id}: the answer must be ${ruleOf(question)}`);
  }
  const encoded = questions.map((question, index) => question.items.map((item) => encode(item, answerTo(question, item, answers[index]), nextWord)));
  for (const [index, question] of questions.entries()) {
    if (!follows(question.showIf, questions, encoded)) encoded[index].fill(question.categories.length - 1);
  }
  return encoded.flat();
}

/** Which questions are shown after these answers, of which some may be missing still. */
export function shown(questions, answers) {
  const places = [];
  return questions.map((question, index) => {
    const visible = follows(question.showIf, questions, places);
    places.push(question.items.map((item) => (visible ? placeOf(item, answerTo(question, item, answers[index])) : undefined)));
    return visible;
  });
}

/** Whether a question with this condition, or none, is shown after these categories. A multiple choice meets it with any of the options. */
function follows(showIf, questions, categories) {
  return holds(showIf, ({ question, is }) => {
    const asked = questions.findIndex(({ id }) => id === question);
    const { items } = questions[asked];
    if (items[0].label === undefined) return is.includes(items[0].categories[categories[asked][0]]);
    return items.some(({ label }, index) => categories[asked][index] === 0 && is.includes(label));
  });
}

/** Whether an answer, or none, is one that the question allows. */
export function allows(question, answer) {
  return question.items.every((item) => placeOf(item, answerTo(question, item, answer)) !== undefined) && !contradicts(question, answer);
}

/** Whether a list of options contradicts itself: an exclusive one beside another, or none where one must be chosen. The twin of `survey/exclusive.py`. */
function contradicts(question, answer) {
  const apart = typeOf(question).exclusive(question.source);
  if (apart.length === 0 || !Array.isArray(answer)) return false;
  const chosen = new Set(answer);
  return (chosen.size > 1 && apart.some((option) => chosen.has(option))) || (chosen.size === 0 && question.source.none !== undefined);
}

function ruleOf({ source: { none } }) {
  return `one exclusive option alone, or ${none === undefined ? "any" : "one or more"} of the others`;
}

/** What a question's answer says of one of its items; for a multiple choice only a list of its options says anything. */
function answerTo({ items }, { label }, answer) {
  if (label === undefined || blank(answer)) return answer;
  const labels = items.map((item) => item.label);
  return Array.isArray(answer) && answer.every((option) => labels.includes(option)) ? answer.includes(label) : NOT_AN_ANSWER;
}

/** Where a question is not required, nothing at all is an answer too: the last category. */
function placeOf(question, answer) {
  const { source, categories, required } = question;
  if (required) return typeOf(question).place(source, categories, answer);
  return blank(answer) ? categories.length - 1 : typeOf(question).place(source, categories.slice(0, -1), answer);
}

function blank(answer) {
  if (typeof answer === "string") return ["", NO_ANSWER].includes(strip(answer));
  return answer === undefined || answer === null || Number.isNaN(answer);
}

/** What may be answered, for a message: a range, or the categories, the first few of many. */
function allowed(question) {
  const { source, categories } = question;
  const wording = typeOf(question).wording(source);
  if (wording !== undefined) return wording;
  const shown = categories.slice(0, 8).join(", ");
  return categories.length <= 8 ? `one of ${shown}` : `one of ${shown}, … (${categories.length} in all)`;
}
