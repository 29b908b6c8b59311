/** Question type base: what several types share. Twin: `survey/types/base.py`. */

import { t } from "../language.mjs";
import { channelForEpsilon } from "../randomize.mjs";

export const MAX_OPTIONS = 1024;
export const ORDERS = ["random", "rotate"]; // which a device draws
export const MAX_OPTION_LENGTH = 200;
export const MAX_NUMBER = 1_000_000_000;
export const NO_ANSWER = "no answer"; // an extra category of each optional question: skipping is randomized, too

// What Python's str.strip() removes; JavaScript's trim() differs in five characters.
const SPACE = "[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]+";
const ENDS = new RegExp(`^${SPACE}|${SPACE}$`, "g");
const PRINTABLE = /^[\n\t\x20-\x7e\xa0-\ud7ff\ue000-\u{10ffff}]*$/u;

/**
 * A choice of one category, without rounding: the default of all types. `source`: the type's own keys of a definition. `channel`: has k,
 * and d, the number of categories that a record names.
 */
export const oneOf = {
  keys: [], // required keys
  alternatives: [], // alternative keys: exactly one is required
  optional: [], // optional keys
  marks: [], // keys that place a question among others
  itemType: "yes_no", // the type of its items, if it has items
  control: "radios", // the control on the page: "radios", "boxes" or "field"

  /** Returns the rule that its keys break, or undefined. */
  problem() {
    return undefined;
  },

  /** Returns the labels of the categories, in the order of their bits. */
  categories(source) {
    return this.options(source);
  },

  /** Returns the survey's own option texts; none if the page supplies words or a field. */
  options() {
    return [];
  },

  /** Returns the coins over k categories, "no answer" included, with loss at most `epsilon` / `parts`. */
  channel(source, epsilon, k, parts) {
    return channelForEpsilon(epsilon, k, parts);
  },

  /** Returns the visible text of each option, item or category. */
  labels(source) {
    return this.options(source);
  },

  /** Returns the labels of separately randomized items; none for a single item. */
  items() {
    return [];
  },

  /** Returns the options that exclude all others. */
  exclusive() {
    return [];
  },

  /** Returns whether answers lie between categories: rounding then consumes a random word. */
  rounds() {
    return false;
  },

  /** Returns an answer's position among the categories 0 .. k-1, or undefined. Types with answers override this. */
  position() {
    return undefined;
  },

  /** Describes the coins to people who give an answer and to people who give another, in counts `own` and `other`. */
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

  /** Returns whether a record of this channel can be a Yes: there is a claim about that. */
  isExcused() {
    return false;
  },

  /** Describes the categories that a record names, and how often one is named by chance alone. `labels` and `bits`: all of the item's. */
  describeRecord(source, { d }, values) {
    if (d === 1) return t("Your record says: {named}. By chance alone, so do {chance} of {of} records of people who choose something else.", values);
    return t("Your record names {d} of the {k} options: {named}. By chance alone, each of these is named in {chance} of {of} records of people who choose something else.", values);
  },
};

/** Returns the rule that a list of option texts breaks, or undefined. */
export function labelProblem(labels, key) {
  if (!Array.isArray(labels)) return `${key} must be a list of texts`;
  if (labels.length < 2 || labels.length > MAX_OPTIONS) return `${key} must be 2 to ${MAX_OPTIONS} texts, got ${labels.length}`;
  const seen = new Set();
  for (const [index, label] of labels.entries()) {
    const problem = optionProblem(label, seen);
    if (problem) return `${key}[${index}] ${problem}`;
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

/**
 * Returns a key that is equal for texts that look alike, except letters of other scripts: their table (UTS 39) exists only in Python. Twin:
 * `lookalikes.py`.
 */
function look(text) {
  return text.replace(/[\p{Cf}\p{DI}]/gu, "").normalize("NFKC").toLowerCase().replace(/\s+/g, " ");
}

/** Removes the whitespace around a text. */
export function strip(text) {
  return text.replace(ENDS, "");
}

/** Returns the label that a text means: itself, or a whole number without zeros after its decimal point. */
export function labelMeaning(text, isLabel) {
  const bare = strip(text);
  return isLabel(bare) ? bare : bare.replace(/^([+-]?[0-9]+)\.0+$/, "$1");
}

/** Returns whether a text has no control characters except line breaks, and no unpaired surrogates. */
export function printable(text) {
  return PRINTABLE.test(text);
}

/** Returns a text's length in characters, as Python counts: a surrogate pair is one. */
export function characters(text) {
  return [...text].length;
}

/** Returns whether a value is an object with keys. */
export function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
