/**
 * A question type's answers become categories 0 .. k-1; only this file knows question types.
 *
 * The twin of `survey/types/` and `device/encode.py`: the same answers mean the same categories, and shared vectors hold the two together.
 */

export const MAX_OPTIONS = 1024;
export const MAX_OPTION_LENGTH = 200;
export const MAX_NUMBER = 1_000_000_000;
const WORD = 2 ** 32;
const NOT_AN_ANSWER = Symbol("not an answer");
const DECIMAL = /^[+-]?([0-9]{1,30}(\.[0-9]{0,30})?|\.[0-9]{1,30})([eE][+-]?[0-9]{1,2})?$/;
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

  place(source, categories, answer) {
    if (typeof answer === "string") return this.meaning.get(strip(answer).toLowerCase());
    if (answer === true || answer === 1) return 0;
    return answer === false || answer === 0 ? 1 : undefined;
  },
};

/** One of several options. Answers: an option's text, or an integer written as an option. */
const choice = {
  keys: ["options"],

  problem({ options }) {
    return labelProblem(options, "options");
  },

  categories({ options }) {
    return [...options];
  },

  place(source, categories, answer) {
    const text = Number.isSafeInteger(answer) ? String(answer) : answer;
    if (typeof text !== "string") return undefined;
    const index = categories.indexOf(strip(text));
    return index < 0 ? undefined : index;
  },
};

/** The rule that a list of at least two texts to choose from breaks, or undefined. */
export function labelProblem(labels, key) {
  if (!Array.isArray(labels)) return `${key} must be a list of texts`;
  if (labels.length < 2 || labels.length > MAX_OPTIONS) return `${key} must be 2 to ${MAX_OPTIONS} texts, got ${labels.length}`;
  const seen = new Set();
  for (const [index, label] of labels.entries()) {
    const broken = optionProblem(label, seen);
    if (broken) return `${key}[${index}] ${broken}`;
    seen.add(label);
  }
  return undefined;
}

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

/** Any number of several options, each a yes/no item with its share of epsilon. Answers: a list of the options chosen. */
const multiChoice = {
  ...choice,

  categories() {
    return ["yes", "no"];
  },

  items({ options }) {
    return [...options];
  },
};

/** A number in [low, high], as a level of a grid with both ends, or as one of named bins. Answers: a number, or its text. */
const number = {
  keys: ["low", "high"],
  either: ["levels", "bins"],

  problem({ low, high, levels, bins }) {
    if (![low, high].every((end) => typeof end === "number" && Math.abs(end) <= MAX_NUMBER)) return "low and high must be numbers";
    if (!(low < high)) return "high must be above low";
    if (bins !== undefined) return binProblem(bins, low, high);
    if (!Number.isInteger(levels) || levels < 2 || levels > MAX_OPTIONS) return `levels must be a whole number from 2 to ${MAX_OPTIONS}`;
    return new Set(grid(low, high, levels)).size === levels ? undefined : "levels must be fewer";
  },

  categories({ low, high, levels, bins }) {
    return bins?.map(({ name }) => name) ?? grid(low, high, levels).map(String);
  },

  place({ low, high, bins }, categories, answer) {
    const value = answeredNumber(answer);
    if (!(value >= low && value <= high)) return undefined;
    return bins ? bins.filter(({ from }) => from <= value).length - 1 : ((value - low) / (high - low)) * (categories.length - 1);
  },
};

function binProblem(bins, low, high) {
  const isBin = (one) => typeof one === "object" && one !== null && !Array.isArray(one) && Object.keys(one).sort().join() === "from,name";
  if (!Array.isArray(bins) || !bins.every(isBin)) return "bins must be a list of objects with a name and a from";
  const broken = labelProblem(bins.map(({ name }) => name), "bins");
  if (broken) return broken;
  const edges = bins.map(({ from }) => from);
  if (!edges.every((edge) => typeof edge === "number" && edge <= high)) return "bins must begin at numbers not above high";
  if (edges[0] !== low) return "bins must begin at low";
  return edges.every((edge, index) => index === 0 || edge > edges[index - 1]) ? undefined : "bins must rise";
}

/** Equally spaced, both ends as they are; the same doubles in every language that computes in this order. */
function grid(low, high, levels) {
  return Array.from({ length: levels }, (_, level) => (level === levels - 1 ? high : low + ((high - low) * level) / (levels - 1)));
}

/** An answer as a number: a number, or a decimal as people write it. */
function answeredNumber(answer) {
  if (typeof answer === "number") return answer;
  const text = typeof answer === "string" ? answer.replace(/^[ \t\r\n]+|[ \t\r\n]+$/g, "") : "";
  return DECIMAL.test(text) ? Number(text) : undefined;
}

/**
 * What each type of question knows: `keys` that only it has in a definition (and one of `either`), `problem(source)` with them (a rule
 * broken, or undefined), the labels of its `categories(source)`, and the `place(source, categories, answer)` where an
 * answer stands among them, or undefined. What stands between two becomes the upper one with the chance of its
 * distance from the lower one. `items(source)` are the labels of the yes/no items that a multiple choice consists of.
 */
export const TYPES = new Map([["yes_no", yesNo], ["choice", choice], ["scale", scale], ["number", number], ["multi_choice", multiChoice]]);

/**
 * The category, 0 .. k-1, that an answer means. Throws AnswerError, which names the question and its rule only.
 * A number takes one word, to be rounded to a level of its grid; other types, and bins, take none.
 */
export function encode(question, answer, nextWord) {
  const place = placeOf(question, answer);
  if (place === undefined) throw new AnswerError(`${question.id}: the answer must be ${allowed(question)}`);
  if (question.type !== "number" || question.source.bins) return place;
  const lower = Math.floor(place);
  return nextWord() < Math.floor((place - lower) * WORD) ? lower + 1 : lower;
}

/**
 * The categories of all items of all questions, each of which is randomized by itself. What is hidden becomes "no
 * answer": which questions were shown depends on true answers, so it must not show.
 */
export function encodeAll(questions, answers, nextWord) {
  const encoded = questions.map((question, index) => question.items.map((item) => encode(item, answerTo(question, item, answers[index]), nextWord)));
  for (const [index, question] of questions.entries()) {
    if (!holds(question.showIf, questions, encoded)) encoded[index].fill(question.categories.length - 1);
  }
  return encoded.flat();
}

/** Which questions are shown after these answers, of which some may be missing still. */
export function shown(questions, answers) {
  const places = [];
  return questions.map((question, index) => {
    const visible = holds(question.showIf, questions, places);
    places.push(question.items.map((item) => (visible ? placeOf(item, answerTo(question, item, answers[index])) : undefined)));
    return visible;
  });
}

/** Whether a question with this condition, or none, is shown after these categories. A multiple choice meets it with any of the options. */
function holds(condition, questions, categories) {
  if (!condition) return true;
  const asked = questions.findIndex(({ id }) => id === condition.question);
  const { items } = questions[asked];
  if (items[0].label === undefined) return condition.is.includes(items[0].categories[categories[asked][0]]);
  return items.some(({ label }, index) => categories[asked][index] === 0 && condition.is.includes(label));
}

/** Whether an answer, or none, is one that the question allows. */
export function allows(question, answer) {
  return question.items.every((item) => placeOf(item, answerTo(question, item, answer)) !== undefined);
}

/** What a question's answer says of one of its items; for a multiple choice only a list of its options says anything. */
function answerTo({ items }, { label }, answer) {
  if (label === undefined || blank(answer)) return answer;
  const labels = items.map((item) => item.label);
  return Array.isArray(answer) && answer.every((option) => labels.includes(option)) ? answer.includes(label) : NOT_AN_ANSWER;
}

/** Where a question is not required, nothing at all is an answer too: the last category. */
function placeOf({ type, source, categories, required }, answer) {
  const kind = TYPES.get(type);
  if (required) return kind.place(source, categories, answer);
  return blank(answer) ? categories.length - 1 : kind.place(source, categories.slice(0, -1), answer);
}

function blank(answer) {
  if (typeof answer === "string") return ["", NO_ANSWER].includes(strip(answer));
  return answer === undefined || answer === null || Number.isNaN(answer);
}

/** What may be answered, for a message: a range, or the categories, the first few of many. */
function allowed({ type, source, categories }) {
  if (type === "number") return `a number from ${source.low} to ${source.high}`;
  const shown = categories.slice(0, 8).join(", ");
  return categories.length <= 8 ? `one of ${shown}` : `one of ${shown}, … (${categories.length} in all)`;
}
