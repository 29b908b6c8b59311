/**
 * JavaScript client: takes part in a survey from Node or a browser. The answers are randomized here, and only perturbed bits are sent.
 *
 * Twin of the Python client, made from the modules of the respondents' page. `index.d.ts` describes every function.
 */

import { RefusedError, readDefinition } from "../deniable/browser/definition.mjs";
import { DeliveryError, RejectedError } from "../deniable/browser/delivery.mjs";
import { AnswerError } from "../deniable/browser/encode.mjs";
import { ENGLISH, useCatalog } from "../deniable/browser/language.mjs";
import { piped } from "../deniable/browser/piping.mjs";
import { cryptoWords } from "../deniable/browser/randomize.mjs";
import { parseLink } from "./link.mjs";
import { Survey, checkOptions } from "./survey.mjs";
import { request } from "./transport.mjs";

export { AnswerError, DeliveryError, RefusedError, RejectedError };

const HIGH = 8; // the highest epsilon without a cap of the caller's own
const BATCH = 10; // the fewest records shown together, likewise
const MOST_BATCH = 1000;
const LN = /^ln ?(?:\(([0-9]+(?:\.[0-9]+)?)\)|([0-9]+(?:\.[0-9]+)?))$/;

useCatalog(ENGLISH); // the texts of an error; without them, they would be looked up in the page

export async function fetchSurvey(link, options = {}) {
  checkOptions(options, ["maxEpsilon", "minBatch", "minGroup"]);
  const target = parseLink(link);
  const cap = readCap(options.maxEpsilon ?? HIGH);
  const [minBatch, minGroup] = ["minBatch", "minGroup"].map((name) => readFloor(name, options[name] ?? BATCH));
  requireGenerator();
  const bytes = await request(`${target.server}/api/v1/surveys/${target.id}`, (text) => !/^\s*</.test(text)); // a page is a login page of the network
  const checked = await readDefinition(bytes, { pin: target.digest, maxEpsilon: cap });
  const { survey } = checked;
  if (survey.id !== target.id) throw new RefusedError(`the survey must be ${target.id}, as the link says, got another one`);
  for (const [name, floor] of [["minBatch", minBatch], ...(survey.groups.length ? [["minGroup", minGroup]] : [])]) {
    const rule = `survey ${survey.id}: batch must be at least ${floor}, got ${survey.batch}: so few records may be shown together`;
    if (survey.batch < floor) throw new RefusedError(`${rule}. If the respondents accept that, lower ${name}`);
  }
  return new Survey(target, checked, frozen(JSON.parse(new TextDecoder().decode(bytes))));
}

export function pipe(text, words = {}) {
  if (typeof text !== "string") throw new TypeError(`text must be a text of the survey, got a value of type ${typeof text}`);
  return piped(text, (id) => (Object.hasOwn(words, id) && typeof words[id] === "string" && words[id] !== "" ? words[id] : undefined));
}

function requireGenerator() {
  try {
    cryptoWords()();
  } catch {
    throw new RefusedError("the runtime must have a cryptographic random generator, as Node has from version 20 on; got none");
  }
}

/** Returns a cap on epsilon, from a number or a text such as "ln 9". */
function readCap(cap) {
  const [, inner, plain] = (typeof cap === "string" && LN.exec(cap)) || [];
  const most = inner ?? plain ? Math.log(Number(inner ?? plain)) : cap;
  if (typeof most !== "number" || !(most > 0)) throw new TypeError("maxEpsilon must be a number above 0 or a text such as \"ln 9\", got another value");
  return most;
}

function readFloor(name, records) {
  if (Number.isInteger(records) && records >= 1 && records <= MOST_BATCH) return records;
  throw new TypeError(`${name} must be a whole number from 1 to ${MOST_BATCH}, got another value`);
}

function frozen(value) {
  if (typeof value === "object" && value !== null) Object.values(Object.freeze(value)).forEach(frozen);
  return value;
}
