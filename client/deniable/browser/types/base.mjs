/** What several types of question share. The twin of `survey/types/base.py`. */

import { t } from "../language.mjs";
import { channelForEpsilon } from "../randomize.mjs";

export const MAX_OPTIONS = 1024;
export const MAX_OPTION_LENGTH = 200;
export const MAX_NUMBER = 1_000_000_000;
export const NO_ANSWER = "no answer"; // one more category of every question that is not required: skipping is randomized too

// What Python's str.strip() takes away; JavaScript's trim() differs by five characters.
const SPACE = "[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]+";
const ENDS = new RegExp(`^${SPACE}|${SPACE}$`, "g");
const PRINTABLE = /^[\n\t\x20-\x7e\xa0-\ud7ff\ue000-\u{10ffff}]*$/u;

/**
 * One of the categories as they are, none of them rounded: what a type is unless it says otherwise. `source` are the keys that only its
 * type has in a definition; `channel` has its k, and the d of them that a record names.
 */
export const oneOf = {
  keys: [], // that it must have
  either: [], // of which it must have one
  beside: [], // that it may have besides
  itemType: "yes_no", // the type of its items, where it consists of items
  control: "radios", // how the page asks: "radios", "boxes" or a "field"

  /** The rule that its keys break, or undefined. */
  problem() {
    return undefined;
  },

  /** The labels of the categories, in the order of their bits. */
  categories(source) {
    return this.options(source);
  },

  /** The survey's own texts that people choose from; none where the page has words or a field for it. */
  options() {
    return [];
  },

  /** The coins for one of k categories, "no answer" among them where it is one, whose loss is at most `epsilon` / `parts`. */
  channel(source, epsilon, k, parts) {
    return channelForEpsilon(epsilon, k, parts);
  },

  /** What a reader sees for each option, item or category. */
  labels(source) {
    return this.options(source);
  },

  /** The labels of the items that it consists of, each randomized by itself; none where it is one. */
  items() {
    return [];
  },

  /** The options that go with no other one. */
  exclusive() {
    return [];
  },

  /** Whether an answer may stand between two categories: it takes a random word then, to be rounded to one of them. */
  rounds() {
    return false;
  },

  /** What may be answered, for a message; undefined where it is one of the categories. */
  wording() {
    return undefined;
  },

  /** Where an answer stands among the categories 0 .. k-1, or undefined where it stands nowhere: each type whose answers do has its own. */
  place() {
    return undefined;
  },

  /** What is said of those who give an answer, and of those who give another, in counted people `own` and `other`. */
  odds(source, { d }, own, other) {
    if (d === 1) {
      return [
        t("Of {of} people who choose an option, {counted} are recorded with it, {rest} with another.", own),
        t("Of {of} people who choose something else, {counted} are recorded with that option, {rest} are not.", other),
      ];
    }
    return [
      t("Of {of} people who choose an option, {counted} have it among the {d} of {k} in their record, {rest} do not.", own),
      t("Of {of} people who choose something else, {counted} have that option among the {d} of {k} in their record, {rest} do not.", other),
    ];
  },

  /** Says that the record accuses nobody, for a type and coins of which that is true; else null. */
  excuse() {
    return null;
  },

  /** What a record says that names these categories, and how often one does by chance alone; of all `labels` and `bits` where more is told. */
  recorded(source, { d }, said) {
    if (d === 1) return t("Your record says: {named}. By chance alone, so do {chance} of {of} records of people who choose something else.", said);
    return t("Your record names {d} of the {k} options: {named}. By chance alone, each of these is named in {chance} of {of} records of people who choose something else.", said);
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
    seen.add(look(label));
  }
  return undefined;
}

function optionProblem(option, seen) {
  if (typeof option !== "string") return "must be text";
  if (option === "" || option !== strip(option)) return "must not be empty, nor begin or end with a space";
  if (characters(option) > MAX_OPTION_LENGTH) return `must be at most ${MAX_OPTION_LENGTH} characters`;
  if (seen.has(look(option))) return "must not look like the other options";
  return printable(option) ? undefined : "must not contain control characters";
}

/** What texts that look alike have in common, but for letters of other scripts: their table (UTS 39) is Python's alone. Twin: `lookalikes.py`. */
function look(text) {
  return text.replace(/[\p{Cf}\p{DI}]/gu, "").normalize("NFKC").toLowerCase().replace(/\s+/g, " ");
}

/** A text without the space around it. */
export function strip(text) {
  return text.replace(ENDS, "");
}

/** The label that a text means: itself, or a whole number without the zeros behind its point. */
export function meaningOf(text, isLabel) {
  const bare = strip(text);
  return isLabel(bare) ? bare : bare.replace(/^([+-]?[0-9]+)\.0+$/, "$1");
}

/** Whether a text has no control character but line breaks, and no half of a surrogate pair. */
export function printable(text) {
  return PRINTABLE.test(text);
}

/** A text's length in characters, as Python counts them: a surrogate pair is one. */
export function characters(text) {
  return [...text].length;
}

/** Whether a value is an object with keys. */
export function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
