/**
 * A question type's answers become categories 0 .. k-1; only this file knows question types.
 *
 * The twin of `encode.py`: the same answers mean the same categories, and shared vectors hold the two together.
 */

export const MAX_OPTIONS = 1024;
export const MAX_OPTION_LENGTH = 200;
export const MAX_NUMBER = 1_000_000_000;
export const NO_ANSWER = "no answer"; // one more category of every question that is not required: skipping is randomized too

/** An answer is missing or not one that its question allows. The message never quotes the answer. */
export class AnswerError extends Error {
  name = "AnswerError";
}

// What Python's str.strip() takes away; JavaScript's trim() differs by five characters.
const SPACE = "[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]+";
const ENDS = new RegExp(`^${SPACE}|${SPACE}$`, "g");
const PRINTABLE = /^[\n\t\x20-\x7e\xa0-\ud7ff\ue000-\u{10ffff}]*$/u;

/** A text without the space around it. */
export function strip(text) {
  return text.replace(ENDS, "");
}

/** Whether a text has no control character but line breaks, and no half of a surrogate pair. */
export function printable(text) {
  return PRINTABLE.test(text);
}

/** A text's length in characters, as Python counts them: a surrogate pair is one. */
export function characters(text) {
  return [...text].length;
}

/** Yes or no. Answers: true, false, 1, 0, or the words yes, no, true, false, 1, 0 in any case. */
const yesNo = {
  keys: [],
  meaning: new Map([["yes", 0], ["true", 0], ["1", 0], ["no", 1], ["false", 1], ["0", 1]]),

  problem() {
    return undefined;
  },

  categories() {
    return ["yes", "no"];
  },

  category(categories, answer) {
    if (typeof answer === "string") return this.meaning.get(strip(answer).toLowerCase());
    if (answer === true || answer === 1) return 0;
    return answer === false || answer === 0 ? 1 : undefined;
  },
};

/** One of several options. Answers: an option's text, or an integer written as an option. */
const choice = {
  keys: ["options"],

  problem({ options }) {
    if (!Array.isArray(options)) return "options must be a list of texts";
    if (options.length < 2 || options.length > MAX_OPTIONS) return `options must be 2 to ${MAX_OPTIONS} options, got ${options.length}`;
    const seen = new Set();
    for (const [index, option] of options.entries()) {
      const broken = optionProblem(option, seen);
      if (broken) return `options[${index}] ${broken}`;
      seen.add(option);
    }
    return undefined;
  },

  categories({ options }) {
    return [...options];
  },

  category(categories, answer) {
    const text = Number.isSafeInteger(answer) ? String(answer) : answer;
    if (typeof text !== "string") return undefined;
    const index = categories.indexOf(strip(text));
    return index < 0 ? undefined : index;
  },
};

function optionProblem(option, seen) {
  if (typeof option !== "string") return "must be text";
  if (option === "" || option !== strip(option)) return "must not be empty, nor begin or end with a space";
  if (characters(option) > MAX_OPTION_LENGTH) return `must be at most ${MAX_OPTION_LENGTH} characters`;
  if (seen.has(option)) return "must differ from the other options";
  return printable(option) ? undefined : "must not contain control characters";
}

/** Options in order, each with a score. Answers: as for a choice. */
const scale = {
  ...choice,
  keys: ["options", "scores"],

  problem(source) {
    const { options, scores } = source;
    const broken = choice.problem(source);
    if (broken) return broken;
    if (!Array.isArray(scores) || scores.length !== options.length) return "scores must be one number for each of the options";
    if (!scores.every((score) => typeof score === "number" && Math.abs(score) <= MAX_NUMBER)) return "scores must be numbers";
    return scores.every((score, index) => index === 0 || score > scores[index - 1]) ? undefined : "scores must rise";
  },
};

/**
 * What each type of question knows: `keys` that only it has in a definition, `problem(source)` with them (a rule
 * broken, or undefined), the labels of its `categories(source)`, and the `category(categories, answer)` that an
 * answer means, or undefined.
 */
export const TYPES = new Map([["yes_no", yesNo], ["choice", choice], ["scale", scale]]);

/** The category, 0 .. k-1, that an answer means. Throws AnswerError, which names the question and its rule only. */
export function encode(question, answer) {
  const category = categoryOf(question, answer);
  if (category === undefined) throw new AnswerError(`${question.id}: the answer must be one of ${allowed(question)}`);
  return category;
}

/** Where a question is not required, nothing at all is an answer too: the last category. */
function categoryOf({ type, categories, required }, answer) {
  const kind = TYPES.get(type);
  if (required) return kind.category(categories, answer);
  return blank(answer) ? categories.length - 1 : kind.category(categories.slice(0, -1), answer);
}

function blank(answer) {
  if (typeof answer === "string") return ["", NO_ANSWER].includes(strip(answer));
  return answer === undefined || answer === null || Number.isNaN(answer);
}

/** The categories, for a message; the first few of many. */
function allowed({ categories }) {
  const shown = categories.slice(0, 8).join(", ");
  return categories.length <= 8 ? shown : `${shown}, … (${categories.length} in all)`;
}
