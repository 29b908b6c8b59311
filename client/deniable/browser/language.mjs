/**
 * The page's texts in the respondent's language. English texts are the keys; the page carries their translations in a data
 * block, `<script type="application/json" id="messages">`, as `{language, messages: {text: translation, or one per plural category}}`.
 * What has no translation, or no page around it, is said in English. Everything here is text, never markup.
 */

const ENGLISH = { language: "en", messages: {} };
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/u;
const SPACES = " \u00a0\u202f'\u2019\u066c"; // group thousands in some language, and mean nothing else in any
const DECIMAL = ".,\u066b";
const INVISIBLE = /[\u061c\u200b-\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]/g; // marks of direction, which a number that is copied brings along
const formats = new Map(); // by their options
let catalog; // read at first use

/** The page's language, as a BCP 47 tag. */
export function language() {
  return read().language;
}

/** A text in the page's language. A `{name}` in it stands for `values.name`; one without a value stays as it is. */
export function t(message, values = {}) {
  const found = lookUp(message);
  return insert(typeof found === "string" ? found : message, values);
}

/**
 * A text that depends on a count, `one` and `other` in English, in the plural form that the page's language has for it.
 * `{count}` stands for the count as `number` writes it, unless `values` has another.
 */
export function tn(one, other, count, values = {}) {
  const found = lookUp(one);
  const forms = typeof found === "object" ? found : { one, other };
  const category = new Intl.PluralRules(forms === found ? language() : "en").select(count);
  return insert(forms[category] ?? forms.other, { count: number(count), ...values });
}

/**
 * A number as the page's language writes it: 10,000 or 10.000; `options` as for `toLocaleString`. Digits are Latin in every
 * language, Arabic too: codes, fingerprints and records have no others, and one number must read alike wherever it stands.
 */
export function number(value, options = {}) {
  const key = JSON.stringify(options);
  if (!formats.has(key)) formats.set(key, new Intl.NumberFormat(language(), { ...options, numberingSystem: "latn" })); // each takes a while to make
  return formats.get(key).format(value);
}

/** A percentage {percent, digits} as the page's language writes it: 99.97% or 99,97 %. For reading only: compare the number itself. */
export function percent({ percent: value, digits }) {
  return number(value / 100, { style: "percent", maximumFractionDigits: digits });
}

/** Texts one after another, with commas as the page's language writes them. */
export function list(texts) {
  return texts.join(t(", "));
}

/**
 * A number as people type it in the page's language, as a plain decimal: 5.000,5 and 5 000,5 in German become 5000.5. A comma
 * or point that groups no thousands is the decimal one, whatever the language; behind a 0 it groups none. What is no number comes back as it was typed.
 */
export function readNumber(text) {
  const typed = latinDigits(text.replace(INVISIBLE, "").trim()).replace(/[\u2212\uff0d]/, "-").replaceAll("\uff0c", ",").replaceAll("\uff0e", ".");
  const groups = SPACES + number(1e6).replace(/\d/g, "");
  const threes = `[1-9]\\d{0,2}(?:[${groups}]\\d{3})+`;
  const twos = `[1-9]\\d?(?:[${groups}]\\d{2})+[${groups}]\\d{3}`; // 1,00,000, as India writes it
  const grouped = new RegExp(`^([+-]?(?:${threes}|${twos}))(?:[${DECIMAL}](\\d+))?$`).exec(typed);
  if (grouped) return `${grouped[1].replace(new RegExp(`[${groups}]`, "g"), "")}${grouped[2] === undefined ? "" : `.${grouped[2]}`}`;
  return new RegExp(`^[+-]?\\d*[${DECIMAL}]?\\d*$`).test(typed) ? typed.replace(/[,\u066b]/, ".") : typed;
}

/** A text with its Arabic, Persian and full-width digits as Latin ones. */
export function latinDigits(text) {
  return text.replace(/[\u0660-\u0669\u06f0-\u06f9\uff10-\uff19]/g, (digit) => String(digit.charCodeAt(0) % 16));
}

/** Gives a fragment, "#..." or "", to this page's links to other languages. The links are made by a server, which never sees a fragment. */
export function keepFragment(hash) {
  for (const link of document.querySelectorAll(".languages a")) link.hash = hash;
}

function read() {
  catalog ??= JSON.parse(globalThis.document?.getElementById("messages")?.textContent ?? "null") ?? ENGLISH;
  return catalog;
}

function lookUp(message) {
  const { messages } = read();
  return Object.hasOwn(messages, message) ? messages[message] : undefined;
}

function insert(text, values) {
  return text.replace(/\{(\w+)\}/g, (whole, name) => (Object.hasOwn(values, name) ? isolate(String(values[name]), text) : whole));
}

/** A value that is written in the other direction is fenced off, so that it does not turn around the text beside it. */
function isolate(value, text) {
  const turns = /\p{L}/u.test(value) && RIGHT_TO_LEFT.test(value) !== RIGHT_TO_LEFT.test(text);
  return turns ? `\u2068${value}\u2069` : value;
}
