/**
 * Translated texts of the page.
 *
 * English texts are the keys. Translations are in `<script type="application/json" id="messages">`, as `{language, messages: {text:
 * translation, or one for each plural category}}`. Without a translation the text is in English. Texts are never markup.
 */

export const ENGLISH = { language: "en", messages: {} };
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/u;
const SPACES = " \u00a0\u202f'\u2019\u066c"; // thousands separators of some language, never decimal points
const DECIMAL = ".,\u066b";
const INVISIBLE = /[\u061c\u200b-\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]/g; // direction marks, which copied numbers contain
const formats = new Map(); // keyed by their options
let catalog; // read on first use

/** Returns the page's language, as a BCP 47 tag. */
export function language() {
  return loadCatalog().language;
}

/** Translates a text. `{name}` is replaced by `values.name`; a name without a value stays. */
export function t(message, values = {}) {
  const translation = lookUp(message);
  return insert(typeof translation === "string" ? translation : message, values);
}

/**
 * Translates a text that depends on a count, in the plural form of the page's language. `one` and `other` are the English forms. `{count}`
 * is replaced by the formatted count, unless `values` has another.
 */
export function tn(one, other, count, values = {}) {
  const translation = lookUp(one);
  const forms = typeof translation === "object" ? translation : { one, other };
  const category = new Intl.PluralRules(forms === translation ? language() : "en").select(count);
  return insert(forms[category] ?? forms.other, { count: number(count), ...values });
}

/**
 * Formats a number for the page's language: 10,000 or 10.000. `options`: as for `toLocaleString`.
 *
 * Digits are always Latin, in Arabic too: codes, fingerprints and records have no others, and a number must look the same everywhere.
 */
export function number(value, options = {}) {
  const key = JSON.stringify(options);
  if (!formats.has(key)) formats.set(key, new Intl.NumberFormat(language(), { ...options, numberingSystem: "latn" })); // slow to construct
  return formats.get(key).format(value);
}

/** Formats a percentage {percent, digits}: 99.97% or 99,97 %. For reading only; compare the number itself. */
export function percent({ percent: value, digits }) {
  return number(value / 100, { style: "percent", maximumFractionDigits: digits });
}

/** Joins texts with the page's language's comma. */
export function list(texts) {
  return texts.join(t(", "));
}

/** Joins texts as a sentence in this language does, with its word for "and" where the browser knows it. */
export function listIn(tag, texts) {
  try {
    return new Intl.ListFormat(tag, { type: "conjunction" }).format(texts);
  } catch {
    return list(texts); // an old browser, or a tag that is no language
  }
}

/**
 * Parses a number typed in the page's language into a plain decimal: 5.000,5 and 5 000,5 in German become 5000.5.
 *
 * A comma or point that groups no thousands is the decimal point in every language; after a 0 it groups none. Returns any other text
 * unchanged.
 */
export function readNumber(text) {
  const typed = latinDigits(text.replace(INVISIBLE, "").trim()).replace(/[\u2212\uff0d]/, "-").replaceAll("\uff0c", ",").replaceAll("\uff0e", ".");
  const groups = SPACES + number(1e6).replace(/\d/g, "");
  const threes = `[1-9]\\d{0,2}(?:[${groups}]\\d{3})+`;
  const twos = `[1-9]\\d?(?:[${groups}]\\d{2})+[${groups}]\\d{3}`; // 1,00,000, as in India
  const grouped = new RegExp(`^([+-]?(?:${threes}|${twos}))(?:[${DECIMAL}](\\d+))?$`).exec(typed);
  if (grouped) return `${grouped[1].replace(new RegExp(`[${groups}]`, "g"), "")}${grouped[2] === undefined ? "" : `.${grouped[2]}`}`;
  return new RegExp(`^[+-]?\\d*[${DECIMAL}]?\\d*$`).test(typed) ? typed.replace(/[,\u066b]/, ".") : typed;
}

/** Replaces Arabic, Persian and full-width digits by Latin ones. */
export function latinDigits(text) {
  return text.replace(/[\u0660-\u0669\u06f0-\u06f9\uff10-\uff19]/g, (digit) => String(digit.charCodeAt(0) % 16));
}

/** Replaces the loaded texts; without new ones, the page's own are loaded again. */
export function useCatalog(texts) {
  catalog = texts;
  formats.clear();
}

function loadCatalog() {
  catalog ??= JSON.parse(globalThis.document?.getElementById("messages")?.textContent ?? "null") ?? ENGLISH;
  return catalog;
}

function lookUp(message) {
  const { messages } = loadCatalog();
  return Object.hasOwn(messages, message) ? messages[message] : undefined;
}

/** Replaces `{name}` by `values.name`; a name without a value stays. */
export function insert(text, values) {
  return text.replace(/\{(\w+)\}/g, (whole, name) => (Object.hasOwn(values, name) ? isolate(String(values[name]), text) : whole));
}

/** Isolates a value of the opposite text direction, so that it does not reorder the text beside it. */
export function isolate(value, text) {
  const differs = /\p{L}/u.test(value) && RIGHT_TO_LEFT.test(value) !== RIGHT_TO_LEFT.test(text);
  return differs ? `\u2068${value}\u2069` : value;
}
