/**
 * Display conditions (skip logic): `{question, is}` names an earlier question and some of its options. `all` and `any` hold a list of
 * conditions, or of lists of the other kind. `{score}` and `{count, is}`, with a list of earlier questions and `at_least`, `below` or both, are
 * about the sum of their scores, or how many of them have one of some answers. Twin: `survey/condition.py`.
 */

import { typeOf } from "./types.mjs";
import { MAX_NUMBER, isObject } from "./types/base.mjs";

const MAX_CONDITIONS = 20; // conditions in a list
const MAX_SUMMED = 100; // questions in a sum
const SUM_RULE = "score, or count with is, must be a list of earlier questions that fit, with at_least, below or both";

/**
 * Returns the rule that a condition breaks, or undefined. `earlier`: the questions it may name. `lists`: the kinds of list allowed here.
 */
export function conditionProblem(showIf, earlier, lists = ["all", "any"]) {
  if (!isObject(showIf)) return "must be an object";
  const list = lists.find((key) => Object.hasOwn(showIf, key));
  if (list === undefined) return isSum(showIf) ? sumProblem(showIf, earlier) : singleProblem(showIf, earlier);
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
  return optionsProblem(showIf.is, question);
}

function optionsProblem(is, question) {
  const labels = question.items.map(({ label }) => label);
  const options = labels[0] === undefined ? question.categories.slice(0, question.required ? undefined : -1) : labels;
  if (!Array.isArray(is) || is.length === 0 || new Set(is).size < is.length) return "is must be a list of options";
  return is.every((option) => options.includes(option)) ? undefined : `is must be options of question ${question.id}`;
}

function isSum(showIf) {
  return Object.hasOwn(showIf, "score") || Object.hasOwn(showIf, "count");
}

function sumProblem(showIf, earlier) {
  const { score, count, is, ...ends } = showIf;
  const names = score ?? count;
  const keys = Object.keys(ends);
  const isRange = keys.length > 0 && keys.every((key) => ["at_least", "below"].includes(key) && Number.isInteger(ends[key]) && Math.abs(ends[key]) <= MAX_NUMBER);
  const isList = Array.isArray(names) && names.length > 0 && names.length <= MAX_SUMMED && new Set(names).size === names.length;
  if (!isRange || ends.at_least >= ends.below || !isList || (score === undefined) !== (is !== undefined) || (score !== undefined && count !== undefined)) return SUM_RULE;
  const questions = names.map((name) => earlier.find(({ id }) => id === name));
  const fits = ({ source, type }) => (score ? source.scores?.every(Number.isInteger) : !typeOf({ type }).rounds(source));
  if (!questions.every((question) => question && fits(question))) return SUM_RULE;
  return score ? undefined : questions.map((question) => optionsProblem(is, question)).find((problem) => problem !== undefined);
}

/** Returns the ids of the questions that a condition names. No condition names none. */
export function questionIds(showIf) {
  if (!showIf) return [];
  return showIf.question === undefined ? (showIf.score ?? showIf.count ?? (showIf.all ?? showIf.any).flatMap(questionIds)) : [showIf.question];
}

/**
 * Returns whether a condition holds; no condition always does. `met(question, is)` returns whether a question has one of some answers, and
 * `scoreOf(question)` the score of its answer, 0 without one.
 */
export function holds(showIf, met, scoreOf) {
  if (!showIf) return true;
  if (showIf.question !== undefined) return met(showIf.question, showIf.is);
  if (showIf.all) return showIf.all.every((part) => holds(part, met, scoreOf));
  if (showIf.any) return showIf.any.some((part) => holds(part, met, scoreOf));
  const { score, count, is, at_least: low = -Infinity, below: high = Infinity } = showIf;
  const sum = (score ?? count).reduce((total, name) => total + (score ? scoreOf(name) : Number(met(name, is))), 0);
  return sum >= low && sum < high;
}
