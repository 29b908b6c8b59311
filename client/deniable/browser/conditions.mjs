/**
 * After which answers a question is shown: `{question, is}` names an earlier question and some of its options; a list of such stands
 * under `all` or `any`, and in it lists of the other word. The twin of `survey/condition.py`.
 */

import { isObject } from "./types/base.mjs";
import { typeOf } from "./types.mjs";

const MOST = 20; // conditions of one list

/** The rule that a condition breaks, or undefined. `earlier` are the questions that it may be about, `words` those of lists that may stand here. */
export function conditionProblem(showIf, earlier, words = ["all", "any"]) {
  if (!isObject(showIf)) return "must be an object";
  const word = words.find((one) => Object.hasOwn(showIf, one));
  if (word === undefined) return singleProblem(showIf, earlier);
  const parts = showIf[word];
  const listed = Object.keys(showIf).length === 1 && Array.isArray(parts) && parts.length >= 2 && parts.length <= MOST;
  if (!listed) return `${word} must be a list of 2 to ${MOST} conditions`;
  const inside = words.filter((one) => one !== word);
  return parts.map((part) => conditionProblem(part, earlier, inside)).find((problem) => problem !== undefined);
}

function singleProblem(showIf, earlier) {
  if (Object.keys(showIf).sort().join() !== "is,question") return "must have the keys question and is, and no other";
  const asked = earlier.find(({ id }) => id === showIf.question);
  if (!asked || typeOf(asked).rounds(asked.source)) return "question must be the id of an earlier question with options";
  const labels = asked.items.map(({ label }) => label);
  const known = labels[0] === undefined ? asked.categories.slice(0, asked.required ? undefined : -1) : labels;
  const { is } = showIf;
  if (!Array.isArray(is) || is.length === 0 || new Set(is).size < is.length) return "is must be a list of options";
  return is.every((option) => known.includes(option)) ? undefined : `is must be options of question ${asked.id}`;
}

/** The ids of the questions that a condition, or none, is about. */
export function named(showIf) {
  if (!showIf) return [];
  return showIf.question === undefined ? (showIf.all ?? showIf.any).flatMap(named) : [showIf.question];
}

/** Whether a condition, or none, holds; `met` says it of a single one. */
export function holds(showIf, met) {
  if (!showIf || showIf.question !== undefined) return !showIf || met(showIf);
  return showIf.all ? showIf.all.every((part) => holds(part, met)) : showIf.any.some((part) => holds(part, met));
}
