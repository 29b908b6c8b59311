/**
 * Display conditions (skip logic): `{question, is}` names an earlier question and some of its options. `all` and `any` hold a list of
 * conditions, or of lists of the other kind. Twin: `survey/condition.py`.
 */

import { typeOf } from "./types.mjs";
import { isObject } from "./types/base.mjs";

const MAX_CONDITIONS = 20; // conditions in a list

/**
 * Returns the rule that a condition breaks, or undefined. `earlier`: the questions it may name. `lists`: the kinds of list allowed here.
 */
export function conditionProblem(showIf, earlier, lists = ["all", "any"]) {
  if (!isObject(showIf)) return "must be an object";
  const list = lists.find((key) => Object.hasOwn(showIf, key));
  if (list === undefined) return singleProblem(showIf, earlier);
  const parts = showIf[list];
  const isList = Object.keys(showIf).length === 1 && Array.isArray(parts) && parts.length >= 2 && parts.length <= MAX_CONDITIONS;
  if (!isList) return `${list} must be a list of 2 to ${MAX_CONDITIONS} conditions`;
  const others = lists.filter((key) => key !== list);
  return parts.map((part) => conditionProblem(part, earlier, others)).find((problem) => problem !== undefined);
}

function singleProblem(showIf, earlier) {
  if (Object.keys(showIf).sort().join() !== "is,question") return "must have the keys question and is, and no other";
  const question = earlier.find(({ id }) => id === showIf.question);
  if (!question || typeOf(question).rounds(question.source)) return "question must be the id of an earlier question with options";
  const labels = question.items.map(({ label }) => label);
  const options = labels[0] === undefined ? question.categories.slice(0, question.required ? undefined : -1) : labels;
  const { is } = showIf;
  if (!Array.isArray(is) || is.length === 0 || new Set(is).size < is.length) return "is must be a list of options";
  return is.every((option) => options.includes(option)) ? undefined : `is must be options of question ${question.id}`;
}

/** Returns the ids of the questions that a condition names. No condition names none. */
export function questionIds(showIf) {
  if (!showIf) return [];
  return showIf.question === undefined ? (showIf.all ?? showIf.any).flatMap(questionIds) : [showIf.question];
}

/** Returns whether a condition holds; no condition always does. `met` decides a single one. */
export function holds(showIf, met) {
  if (!showIf || showIf.question !== undefined) return !showIf || met(showIf);
  return showIf.all ? showIf.all.every((part) => holds(part, met)) : showIf.any.some((part) => holds(part, met));
}
