/** Encoding of answers as categories 0 .. k-1. Twin: `device/encode.py`; shared vectors tie the two together. */

import { holds } from "./conditions.mjs";
import { typeOf } from "./types.mjs";
import { NO_ANSWER, strip } from "./types/base.mjs";

const WORD = 2 ** 32;
const NOT_AN_ANSWER = Symbol("not an answer");

/** An answer is missing or not allowed. The message never quotes it. */
export class AnswerError extends Error {
  name = "AnswerError";
}

/**
 * Returns the category, 0 .. k-1, of an answer. Throws AnswerError, which names only the question.
 *
 * A number on a grid consumes one random word, to be rounded to a level; all other answers consume none.
 */
export function encode(question, answer, nextWord) {
  const position = positionOf(question, answer);
  if (position === undefined) throw new AnswerError(`${question.id}: the answer must be one that the question allows`);
  if (!typeOf(question).rounds(question.source)) return position;
  const lower = Math.floor(position);
  return nextWord() < Math.floor((position - lower) * WORD) ? lower + 1 : lower;
}

/**
 * Returns the categories of all items of all questions.
 *
 * An answer to a hidden question becomes "no answer": which questions were shown depends on true answers, and must not be visible.
 */
export function encodeAll(questions, answers, nextWord) {
  for (const [index, question] of questions.entries()) {
    if (contradicts(question, answers[index])) throw new AnswerError(`${question.id}: the answer must be options that go together`);
  }
  const encoded = questions.map((question, index) => question.items.map((item) => encode(item, answerTo(question, item, answers[index]), nextWord)));
  for (const [index, question] of questions.entries()) {
    if (!isShown(question.showIf, questions, encoded)) encoded[index].fill(question.categories.length - 1);
  }
  return encoded.flat();
}

/** Returns which questions are shown after these answers. Answers may be missing. */
export function visibleQuestions(questions, answers) {
  const positions = [];
  return questions.map((question, index) => {
    const visible = isShown(question.showIf, questions, positions);
    positions.push(question.items.map((item) => (visible ? positionOf(item, answerTo(question, item, answers[index])) : undefined)));
    return visible;
  });
}

/** Returns whether a question with this condition is shown. Any of its options satisfies a condition on a multiple choice. */
function isShown(showIf, questions, categories) {
  const numberOf = (question) => questions.findIndex(({ id }) => id === question);
  const met = (question, is) => {
    const number = numberOf(question);
    const { items } = questions[number];
    if (items[0].label === undefined) return is.includes(items[0].categories[categories[number][0]]);
    return items.some(({ label }, index) => categories[number][index] === 0 && is.includes(label));
  };
  const scoreOf = (question) => questions[numberOf(question)].source.scores[categories[numberOf(question)][0]] ?? 0;
  return holds(showIf, met, scoreOf);
}

/** Returns whether a question allows an answer. */
export function allows(question, answer) {
  return question.items.every((item) => positionOf(item, answerTo(question, item, answer)) !== undefined) && !contradicts(question, answer);
}

/**
 * Returns whether a list of options contradicts itself: an exclusive option beside another one, or too few or too many of the others. Twin:
 * `survey/exclusive.py`.
 */
function contradicts(question, answer) {
  if (!Array.isArray(answer)) return false;
  const { none, at_least: least = none === undefined ? 0 : 1, at_most: most = Infinity } = question.source;
  const chosen = new Set(answer);
  const isAlone = typeOf(question).exclusive(question.source).some((option) => chosen.has(option));
  return isAlone ? chosen.size > 1 : chosen.size < least || chosen.size > most;
}

/** Returns the answer to one item of a question. For a multiple choice, only a list of its options is an answer. */
function answerTo({ items }, { label }, answer) {
  if (label === undefined || isBlank(answer)) return answer;
  const labels = items.map((item) => item.label);
  return Array.isArray(answer) && answer.every((option) => labels.includes(option)) ? answer.includes(label) : NOT_AN_ANSWER;
}

/** Returns the position of an answer among the categories. For an optional question, a blank is the last category. */
function positionOf(question, answer) {
  const { source, categories, required } = question;
  if (required) return typeOf(question).position(source, categories, answer);
  return isBlank(answer) ? categories.length - 1 : typeOf(question).position(source, categories.slice(0, -1), answer);
}

function isBlank(answer) {
  if (typeof answer === "string") return ["", NO_ANSWER].includes(strip(answer));
  return answer === undefined || answer === null || Number.isNaN(answer);
}
