/**
 * Answers of one respondent: every problem at once, and a seal for the code that reads them.
 *
 * Twin: `device/perturb.py` and `device/sealed.py`. No message quotes an answer, nor a name that is no question's: it may be an answer.
 */

import { AnswerError, allows } from "../deniable/browser/encode.mjs";

const NAMED = 8; // options in a message

/** Runs code that reads answers. An error that is not one of its own rules may quote an answer, so only its kind is kept. */
export function sealed(action) {
  try {
    return action();
  } catch (error) {
    if (error instanceof AnswerError) throw error;
    const kind = error instanceof Error && /^[A-Z][A-Za-z]{0,40}$/.test(error.constructor.name) ? error.constructor.name : "an error";
    throw new AnswerError(`the answers cannot be read: ${kind}; its message is not shown, since it may quote an answer`);
  }
}

/** Returns a copy of the answers to these questions, in their order; undefined for a missing one. */
export function valuesOf(questions, answers) {
  const copied = (answer) => (Array.isArray(answer) ? [...answer] : answer);
  return questions.map(({ id }) => (Object.hasOwn(answers, id) ? copied(answers[id]) : undefined));
}

/** Returns the rule that a collection of answers breaks, as a list of none or one: it must be an object with question ids as keys. */
export function shapeProblems(answers) {
  const isMapping = typeof answers === "object" && answers !== null && !(Symbol.iterator in answers);
  return isMapping ? [] : [`answers must be an object from question id to answer, got ${kindOf(answers)}`];
}

/** Returns every problem of the answers to `asked`, some or all of a survey's questions. */
export function answerProblems({ id, questions }, asked, answers) {
  const names = questions.map((question) => question.id);
  const others = Object.keys(answers).filter((name) => !names.includes(name)).length;
  const values = valuesOf(asked, answers);
  return [
    ...(others ? [`answers must be to questions of survey ${id}, which are ${names.join(", ")}; got ${others} to others`] : []),
    ...asked.map((question, index) => problemOf(question, values[index])).filter((problem) => problem !== undefined),
  ];
}

function problemOf(question, answer) {
  const { id, items, required } = question;
  if (answer === undefined) return required ? `${id}: is missing` : undefined;
  if (allows(question, answer)) return undefined;
  const labels = items.map(({ label }) => label);
  if (labels[0] === undefined) return `${id}: the answer must be ${allowed(question)}`;
  const isList = Array.isArray(answer) && answer.every((option) => labels.includes(option));
  return `${id}: the answer must be ${isList ? selection(question) : `a list of options, each ${someOf(labels)}`}`;
}

/** Describes the valid answers: a range, or the first few categories. Twin: `survey/rules.py`. */
function allowed({ source: { low, high }, categories }) {
  return low !== undefined ? `a number from ${low} to ${high}` : someOf(categories);
}

/** Describes the valid lists of options, without revealing which part of the rule was broken. Twin: `survey/exclusive.py`. */
function selection({ source }) {
  const { none, exclusive = [], at_least: least = none === undefined ? 0 : 1, at_most: most } = source;
  const alone = exclusive.length > 0 || none !== undefined;
  const numbers = { 0: "any", 1: "one or more" };
  let number = numbers[least] ?? `at least ${least}`;
  if (most !== undefined) number = least > 0 && least < most ? `${least} to ${most}` : `${least > 0 ? "exactly" : "at most"} ${most}`;
  return alone ? `one exclusive option alone, or ${number} of the others` : `${number} of the options`;
}

/** Returns every problem of the group and the invitation, which are no answers. */
export function publicProblems({ id, groups, access }, group, invitation) {
  const problems = [];
  if (groups.length > 0 && !groups.includes(group)) problems.push(`group: ${group === undefined ? "is missing; it " : ""}must be ${someOf(groups)}`);
  if (groups.length === 0 && group !== undefined) problems.push(`group: must be left out: survey ${id} has no groups`);
  if (access === "invited" && invitation === undefined) problems.push(`invitation: is missing: survey ${id} needs a code from each respondent`);
  if (access !== "invited" && invitation !== undefined) problems.push(`invitation: must be left out: survey ${id} is open to all`);
  return problems;
}

function someOf(labels) {
  const first = labels.slice(0, NAMED).join(", ");
  return labels.length <= NAMED ? `one of ${first}` : `one of ${first}, … (${labels.length} in all)`;
}

/** Names the kind of a value that is not shown. */
export function kindOf(value) {
  if (value === null || value === undefined) return "nothing";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" && Symbol.iterator in value ? "a collection" : `a value of type ${typeof value}`;
}
