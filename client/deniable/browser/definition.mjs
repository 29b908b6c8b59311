/**
 * Survey definition: checks before a survey is shown. It accepts exactly the definitions that `Survey.from_definition` in `survey.py`
 * accepts.
 *
 * A definition is a function of the survey's source, so it is parsed, serialized again and compared: any bit that its declared epsilons do
 * not imply is refused. Canonical JSON (RFC 8785) is the output of JSON.stringify with keys sorted by UTF-16 code unit, as `sort` does.
 */

import { conditionProblem, questionIds } from "./conditions.mjs";
import { gridMark, readGrid } from "./grid_mark.mjs";
import { joined } from "./order.mjs";
import { pipedIds, pipesAre } from "./piping.mjs";
import { epsilonOf, exceeds, oddsOfAll, published, reveals } from "./randomize.mjs";
import { recordBits } from "./submission.mjs";
import { TYPES, typeOf } from "./types.mjs";
import { NO_ANSWER, ORDERS, characters, isObject, labelProblem, printable, strip } from "./types/base.mjs";

const FORMAT = 1;
const MAX_EPSILON = 10;
const HIGH = 8; // a higher total needs `accept_high_epsilon` in the survey's file, which so discloses it
const MAX_BITS = 2048;
const MAX_QUESTIONS = 2048;
const MAX_BYTES = 2 ** 20;
const LENGTHS = { title: 200, about: 5000, institution: 200, contact: 1000, ethics: 1000, thanks: 1000, closed: 1000, text: 1000, help: 1000, note: 1000 };
const TEXTS = ["title", "about", "institution", "contact", "ethics", "thanks", "closed"];
const OPTIONAL = [...TEXTS.slice(2), "logo", "return_link", "ask", "groups", "access", "layout", "order", "section_order", "release", "batch", "results", "language", "translations", "accept_high_epsilon", "accept_small_batches", "issuer"];
const PARTS = { section: ["title", "note"], grid: ["text", "help"] }; // texts of these keys of a question
const WORDS = { access: ["invited"], layout: ["steps"], order: ORDERS, section_order: ORDERS, results: ["public"], accept_high_epsilon: [true], accept_small_batches: [true] };
const BATCH = 10; // default batch size; a lower one needs `accept_small_batches`
const MAX_BATCH = 1000;
const ISSUER = /^[g-z0-9_-][A-Za-z0-9_-]{340}[Qw]$/; // an odd number of exactly 2,048 bits in base64url
const LANGUAGE = /^[a-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}$/;
const SURVEY_ID = /^[a-z0-9][a-z0-9_-]{0,63}$/;
const RETURN_LINK = /^https:\/\/(?:[A-Za-z0-9-]+\.)*[A-Za-z0-9-]+(?::[0-9]{1,5})?(?:[/?][A-Za-z0-9._~!$&'()*+,;=:@/?%-]*)?$/;
const MAX_LINK = 500; // characters
const LOGO = /^data:image\/(?:png;base64,iVBORw0KGgo|webp;base64,UklGR)[A-Za-z0-9+/]+={0,2}$/;
const MAX_LOGO = 27_000; // characters: a picture of 20 kB
const QUESTION_ID = /^[A-Za-z][A-Za-z0-9_]{0,63}$/;
const SLACK = 1e-12; // sums of logarithms differ in the last digits between machines

/** The browser refuses this survey. Nothing was sent. */
export class RefusedError extends Error {
  name = "RefusedError";
}

/**
 * Checks a definition as received (a Uint8Array).
 *
 * Returns {digest, pinned, survey, epsilon, odds}: its SHA-256 in hexadecimal, whether `pin` named it, the survey, and the privacy loss of
 * one submission, as a double and exactly, as e^epsilon = own / other of two BigInts. The survey is {id, title, about, institution, logo,
 * contact, ethics, thanks, closed, returnLink, ask, groups, access, issuer, layout, order, sectionOrder, release, batch, results, language,
 * translations, questions, items, blocks}; each question is {number, id, text, help, section, under, grid, type, epsilon, required, showIf, source, categories, channel, pipes, items}. `under` is
 * the first question of its section, `grid` its rating block as in `grid_mark.mjs`, and `pipes` the ids of the questions whose answers its texts
 * show. `items` are randomized separately: the question itself, or one yes/no question for each option of a
 * multiple choice.
 *
 * Throws RefusedError if the digest is not `pin`, a mechanism does not follow from its epsilon, the JSON is not canonical, the total
 * epsilon is above `maxEpsilon` or above 8 without `accept_high_epsilon`, or the browser cannot compute the digest.
 */
export async function readDefinition(bytes, { pin, maxEpsilon } = {}) {
  rule(bytes.length <= MAX_BYTES, `the definition must be at most ${MAX_BYTES} bytes, got ${bytes.length}`);
  const digest = await sha256(bytes);
  const pinned = (pin ?? null) !== null;
  rule(!pinned || digest === pin, `the survey's digest must be ${pin}, as the link says, got ${digest}`);
  const survey = readSurvey(decode(bytes));
  const epsilon = epsilonOfAll(survey);
  rule(epsilon <= (maxEpsilon ?? Infinity) * (1 + SLACK), `the survey's total epsilon must be at most ${maxEpsilon}, got ${epsilon}`);
  return { digest, pinned, survey, epsilon, odds: oddsOfAll(channelsOf(survey), survey.ask ?? survey.blocks.length) };
}

/** Adds up the exact losses of all questions, or of the most expensive blocks if only a sample is asked. */
function epsilonOfAll({ ask, blocks, questions }) {
  const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
  const losses = questions.map(({ items }) => sum(items.map(({ channel }) => epsilonOf(channel))));
  if (ask === undefined) return sum(losses);
  const perBlock = blocks.map((block) => sum(block.map((number) => losses[number]))).sort((a, b) => b - a);
  return sum(perBlock.slice(0, ask));
}

async function sha256(bytes) {
  const subtle = globalThis.crypto?.subtle;
  rule(subtle, "this page must be opened over HTTPS (or on localhost): only there can a browser check the survey it was given");
  const hash = new Uint8Array(await subtle.digest("SHA-256", bytes));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function decode(bytes) {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new RefusedError("the definition must be UTF-8 text");
  }
}

function readSurvey(text) {
  const served = parseJson(text);
  checkKeys(served, "the definition", ["deniable", "id", "title", "about", "questions"], OPTIONAL);
  rule(served.deniable === FORMAT, `deniable must be ${FORMAT}, the version of the format`);
  identifier(served.id, "id", SURVEY_ID, "1 to 64 of a-z, 0-9, - and _, a letter or digit first");
  plainTexts(served, TEXTS, "");
  for (const [key, words] of Object.entries(WORDS)) oneOfWords(served[key], words, key);
  const { return_link: link } = served;
  rule(link === undefined || (typeof link === "string" && link.length <= MAX_LINK && RETURN_LINK.test(link)), "return_link must be an address that begins with https://");
  rule(served.logo === undefined || isLogo(served), "logo must be a small picture in the definition, beside an institution");
  const questions = readQuestions(served.questions);
  const { ask } = served;
  const others = readOthers(served, questions);
  const blocks = blocksOf(questions).map((block) => block.map(({ number }) => number));
  rule(ask === undefined || (Number.isInteger(ask) && ask >= 1 && ask < blocks.length), "ask must be a whole number, fewer than all blocks");
  const items = questions.flatMap((question) => question.items);
  const bits = recordBits(items, ask === undefined ? 0 : questions.length);
  rule(bits <= MAX_BITS, `questions must need at most ${MAX_BITS} bits in all (options less one, added up), got ${bits}`);
  const survey = { ...others, questions, items, blocks };
  const isHigh = exceeds(channelsOf(survey), ask ?? blocks.length, HIGH);
  rule(served.accept_high_epsilon || !isHigh, `the survey's total epsilon must be at most ${HIGH}, unless it has accept_high_epsilon`);
  rule(canonical(definitionOf(served, questions)) === text, "the definition must be the canonical JSON of its survey, got other bytes");
  return survey;
}

/** Returns the channels of each block. */
function channelsOf({ blocks, questions }) {
  return blocks.map((block) => block.flatMap((number) => questions[number].items.map(({ channel }) => channel)));
}

/** Checks everything except the questions (texts, groups, access, layout, translations), and fills in defaults. */
function readOthers(served, questions) {
  const { access, issuer, groups, batch, language, translations, accept_small_batches: small } = served;
  if (groups !== undefined) rule(!labelProblem(groups, "groups"), labelProblem(groups, "groups"));
  const keyed = typeof issuer === "string" && ISSUER.test(issuer);
  rule(access ? keyed : issuer === undefined, "issuer must be the key of a survey by invitation, and left out of others");
  const [release, other] = access ? ["close", "daily"] : ["daily", "close"]; // the default first
  oneOfWords(served.release, [other], "release");
  const counted = batch === undefined || (Number.isInteger(batch) && batch >= 1 && batch <= MAX_BATCH && batch !== BATCH);
  rule(counted, `batch must be a whole number from 1 to ${MAX_BATCH}, left out for ${BATCH}`);
  rule(small || batch === undefined || batch >= BATCH, `batch must be at least ${BATCH}, unless the survey has accept_small_batches`);
  rule(language === undefined || (isLanguage(language) && language !== "en"), "language must be a language tag, left out for en");
  if (translations !== undefined) readTranslations(translations, language ?? "en", served, questions);
  const defaults = { groups: [], access: "open", layout: "list", release, batch: BATCH, results: "private", language: "en", translations: {} };
  return { ...defaults, ...served, returnLink: served.return_link, sectionOrder: served.section_order };
}

function isLogo({ logo, institution }) {
  return typeof logo === "string" && logo.length <= MAX_LOGO && LOGO.test(logo) && institution !== undefined;
}

/** Returns whether a value has the form of a language tag. */
export function isLanguage(value) {
  return typeof value === "string" && LANGUAGE.test(value);
}

/** Checks the texts in further languages. Any of them may be missing. */
function readTranslations(translations, own, texts, questions) {
  checkFilled(translations, "translations");
  for (const [language, words] of Object.entries(translations)) {
    const where = `translations.${language}`;
    rule(isLanguage(language) && language !== own, `${where} must be another language than the survey's own`);
    checkFilled(words, where);
    checkKeys(words, where, [], [...TEXTS.filter((key) => texts[key] !== undefined), "questions"]);
    plainTexts(words, TEXTS, `${where}.`);
    if ("questions" in words) readTranslatedQuestions(words.questions, `${where}.questions`, questions);
  }
}

function readTranslatedQuestions(words, where, questions) {
  checkFilled(words, where);
  for (const [name, own] of Object.entries(words)) {
    const here = `${where}.${name}`;
    const question = questions.find(({ id }) => id === name);
    rule(question, `${here} must be a question`);
    checkFilled(own, here);
    const first = question.grid?.first === name;
    const optionalTexts = ["help", "section", "grid"].filter((key) => question[key] !== undefined && (key !== "grid" || first));
    checkKeys(own, here, [], ["text", "options", ...optionalTexts]);
    plainTexts(own, PARTS.grid, `${here}.`);
    for (const part of Object.keys(PARTS).filter((key) => key in own)) {
      checkFilled(own[part], `${here}.${part}`);
      checkKeys(own[part], `${here}.${part}`, [], PARTS[part].filter((key) => key in question[part]));
      plainTexts(own[part], PARTS[part], `${here}.${part}.`);
    }
    rule(textsOf(own).every((text) => pipesAre(text, question.pipes)), `${here} must refer to the answers that its original refers to`);
    if (!("options" in own)) continue;
    rule(!question.grid || first, `${here}.options must be left out but at the first of its grid`);
    const problem = labelProblem(own.options, "options");
    rule(!problem && own.options.length === typeOf(question).options(question.source).length, `${here}.options must be a text for each option of the question`);
  }
}

function parseJson(text) {
  try {
    return JSON.parse(text);
  } catch {
    throw new RefusedError("the definition must be a JSON object as published");
  }
}

function readQuestions(served) {
  rule(Array.isArray(served) && served.length > 0, "questions must be a list of at least one question");
  rule(served.length <= MAX_QUESTIONS, `questions must be at most ${MAX_QUESTIONS} questions, got ${served.length}`);
  const questions = [];
  let bits = 0;
  for (const [index, source] of served.entries()) {
    const question = readQuestion(source, `questions[${index}]`, questions);
    questions.push(question);
    bits += question.items.length * (question.channel.outputs - 1);
    rule(bits < 2 * MAX_BITS, `questions must need at most ${MAX_BITS} bits in all (options less one, added up), got more`);
  }
  rule(new Set(questions.map(({ id }) => id)).size === questions.length, "the id of each question must be unique");
  return questions;
}

/** Returns the texts of a question or its translation that may refer to earlier answers. */
function textsOf({ text, help, section, grid }) {
  return [text, help, section?.title, section?.note, grid?.text, grid?.help].filter((one) => one !== undefined);
}

/** Returns the blocks that are sampled together: a question and those that depend on it or show its answer, or a rating block. */
function blocksOf(questions) {
  return joined(questions, ({ id, showIf, pipes, grid }) => [id, ...questionIds(showIf), ...pipes, grid?.first ?? id]);
}

function readQuestion(served, where, earlier) {
  rule(isObject(served), `${where} must be an object`);
  const kind = typeOf(served);
  rule(kind, `${where}.type must be one of ${[...TYPES.keys()].join(", ")}`);
  const alternatives = kind.alternatives.filter((key) => Object.hasOwn(served, key));
  rule(alternatives.length === Math.min(kind.alternatives.length, 1), `${where} must have one of ${kind.alternatives}`);
  const keys = [...kind.keys, ...alternatives, ...kind.optional.filter((key) => Object.hasOwn(served, key))];
  checkKeys(served, where, ["id", "text", "type", ...keys, "epsilon", "categories", "k", "keep_threshold"], ["d", "outputs", "required", "show_if", "help", "section", ...kind.marks]);
  identifier(served.id, `${where}.id`, QUESTION_ID, "1 to 64 of A-Z, a-z, 0-9 and _, a letter first");
  plainTexts(served, PARTS.grid, `${where}.`);
  if ("section" in served) {
    checkKeys(served.section, `${where}.section`, ["title"], ["note", "fixed"]);
    plainTexts(served.section, PARTS.section, `${where}.section.`);
    oneOfWords(served.section.fixed, [true], `${where}.section.fixed`);
  }
  rule(textsOf(served).every((text) => pipesAre(text, earlier.map(({ id }) => id))), `${where} must refer to earlier questions only`);
  const problem = kind.problem(served);
  rule(!problem, `${where}.${problem}`);
  const { id, text, help, section, type, epsilon, required = true } = served;
  rule(typeof required === "boolean", `${where}.required must be true or false`);
  const showIf = served.show_if;
  if (showIf !== undefined) {
    rule(!required, `${where}.show_if must not stand at a question that is required`);
    const problem = conditionProblem(showIf, earlier);
    rule(!problem, `${where}.show_if ${problem}`);
  }
  rule(typeof epsilon === "number" && epsilon > 0 && epsilon <= MAX_EPSILON, `${where}.epsilon must be above 0 and at most ${MAX_EPSILON}`);
  const categories = kind.categories(served);
  if (!required) {
    rule(!categories.includes(NO_ANSWER), `${where} must not have the option ${NO_ANSWER}, which is added by itself`);
    categories.push(NO_ANSWER);
  }
  const labels = kind.items(served);
  const channel = kind.channel(served, epsilon, categories.length, labels.length || 1);
  rule(reveals(channel), `${where}.epsilon is too small for a 32-bit coin over ${channel.k} categories`);
  sameMechanism(served, channel);
  const source = Object.fromEntries(keys.map((key) => [key, served[key]]));
  const number = earlier.length;
  const question = { number, id, text, help, section, type, epsilon, required, showIf, source, categories, channel, pipes: pipedIds(textsOf(served)) };
  question.under = section ? question : earlier.at(-1)?.under;
  if ("grid" in served) {
    checkKeys(served.grid, `${where}.grid`, ["id"], ["text", "help", "order"]);
    oneOfWords(served.grid.order, ORDERS, `${where}.grid.order`);
    identifier(served.grid.id, `${where}.grid.id`, QUESTION_ID, "1 to 64 of A-Z, a-z, 0-9 and _, a letter first");
    plainTexts(served.grid, PARTS.grid, `${where}.grid.`);
    const { grid, problem } = readGrid(served.grid, question, earlier);
    rule(!problem, `${where}.grid ${problem}`);
    question.grid = grid;
  }
  const items = labels.map((label) => ({ number, id: `${id}[${label}]`, label, text: `${text} ${label}`, type: kind.itemType, source: {}, required, categories, channel }));
  question.items = items.length ? items : [question];
  return question;
}

function oneOfWords(value, words, where) {
  rule(value === undefined || words.includes(value), `${where} must be ${words.join(" or ")}, or left out`);
}

function sameMechanism(served, channel) {
  for (const [name, value] of Object.entries(published(channel))) {
    rule(served[name] === value, `question ${served.id}: ${name} must be ${value}, which epsilon ${served.epsilon} implies`);
  }
}

function definitionOf(served, questions) {
  return {
    ...served,
    deniable: FORMAT,
    questions: questions.map(({ id, text, help, section, grid, type, epsilon, required, showIf, source, categories, channel }) => ({
      id, text, help, section, grid: grid && gridMark(grid, id), type, ...source, required: required ? undefined : false, show_if: showIf, epsilon, categories, ...published(channel),
    })),
  };
}

/** Serializes as canonical JSON (RFC 8785): objects without their undefined values, arrays, strings, numbers and booleans. */
function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const keys = Object.keys(value).filter((key) => value[key] !== undefined);
  const members = keys.sort().map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`);
  return `{${members.join(",")}}`;
}

function checkFilled(value, where) {
  rule(isObject(value) && Object.keys(value).length > 0, `${where} must be an object with a key or more`);
}

function checkKeys(value, where, keys, optional = []) {
  rule(isObject(value), `${where} must be an object`);
  for (const key of keys) rule(Object.hasOwn(value, key), `${where} must have ${key}, which is missing`);
  for (const key of Object.keys(value)) rule(keys.includes(key) || optional.includes(key), `${where} must have no other key than ${keys.join(", ")}`);
}

function identifier(value, where, pattern, meaning) {
  rule(typeof value === "string" && pattern.test(value), `${where} must be ${meaning}`);
}

function plainTexts(source, keys, where) {
  for (const key of keys.filter((key) => key in source)) {
    const text = source[key];
    rule(typeof text === "string" && strip(text) !== "", `${where}${key} must be text that is not empty`);
    rule(characters(text) <= LENGTHS[key], `${where}${key} must be at most ${LENGTHS[key]} characters`);
    rule(printable(text), `${where}${key} must not contain control characters`);
  }
}

function rule(holds, message) {
  if (!holds) throw new RefusedError(message);
}
