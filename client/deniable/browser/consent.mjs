/**
 * What a respondent is told before the questions. Every number here is computed from the channels that the coins use.
 */

import { copy, count, fill } from "./page.mjs";
import { epsilonOf } from "./randomize.mjs";

const SECONDS_PER_QUESTION = 10;

/**
 * A channel's odds in people: of `of` who give an answer, `own` have it in their record; of `of` who give another, `other`
 * have it in theirs. `of` is 100, or more where that would round to never, to always, or to no difference.
 */
export function odds({ k, d, keepThreshold, coin }) {
  const theta = keepThreshold / coin;
  const phi = (d - theta) / (k - 1);
  const people = (of) => ({ of, own: Math.round(of * theta), other: Math.round(of * phi) });
  let found = people(100);
  while (found.of < 1e6 && (found.own === found.of || found.other === 0 || found.own === found.other)) found = people(found.of * 10);
  return found;
}

/**
 * How sure, in percent, a 50:50 guess can become after seeing a record that gives away `epsilon`: 100 e^eps / (1 + e^eps),
 * rounded up, with as many digits as it takes not to say 100.
 */
export function surest(epsilon) {
  const doubt = 100 / (1 + Math.exp(epsilon));
  const digits = doubt >= 1 ? 0 : Math.min(9, Math.ceil(-Math.log10(doubt)));
  const shown = Math.floor(doubt * 10 ** digits) / 10 ** digits;
  return (100 - shown).toFixed(digits);
}

/** Fills the consent step from a checked definition. */
export function writeConsent(step, { digest, survey, epsilon }) {
  const { questions, items } = survey;
  const answers = items.map(({ channel }) => epsilonOf(channel));
  fill(step, {
    title: survey.title,
    about: survey.about,
    length: lengthOf(survey),
    surest: `${surest(epsilon)} %`,
    surestOne: items.length > 1 ? `From one answer alone: at most ${surest(Math.max(...answers))} %.` : null,
    weak: surest(epsilon) >= 99 ? "That is weak protection for the survey as a whole. Think about it before you agree." : null,
    digest,
  });
  const example = items.find(({ type }) => type === "yes_no") ?? items[0];
  step.querySelector("[data-slot=odds]").replaceChildren(...oddsOf(example));
  step.querySelector("[data-slot=everyQuestion]").replaceChildren(...items.map(row));
}

function lengthOf({ ask, blocks, questions }) {
  const asked = ask === undefined ? questions.length : Math.round((questions.length * ask) / blocks.length);
  const minutes = Math.ceil((asked * SECONDS_PER_QUESTION + 20) / 60);
  const drawn = ask === undefined ? "" : ` of ${count(questions.length)}, drawn by your device`;
  return `${count(asked)} question${asked === 1 ? "" : "s"}${drawn}, about ${minutes} minute${minutes === 1 ? "" : "s"}`;
}

/** The odds of one question, for both sides with the same denominators: a picture and its words each. */
function oddsOf(question) {
  const { of, own, other } = odds(question.channel);
  const [yes, no, recorded, rest] = wordsOf(question);
  return [picture(`Of ${count(of)} people who ${yes}`, own, of, recorded, rest), picture(`Of ${count(of)} people who ${no}`, other, of, recorded, rest)];
}

function wordsOf({ type, channel: { d, k } }) {
  if (type === "yes_no" && k === 2) return ["answer Yes", "answer No", "are recorded Yes", "No"];
  if (type === "number") return ["are at a level", "are at another", `have that level among the ${d} of ${k} in their record`, "do not"];
  if (d === 1) return ["choose an option", "choose another one", "are recorded with that option", "with another"];
  return ["choose an option", "choose another one", `have that option among the ${d} of ${k} in their record`, "do not"];
}

function picture(people, counted, of, recorded, rest) {
  const figure = copy("odds");
  const words = [`${count(counted)} ${recorded}`, `${count(of - counted)} ${rest}`];
  fill(figure, { people, counted: words[0], rest: words[1] });
  const icons = figure.querySelector("svg");
  if (of === 100) drawIcons(icons, counted);
  else icons.remove(); // a hundred dots cannot show one in a thousand
  return figure;
}

/** A hundred dots, ten by ten, the first `counted` of them filled; the caption beside them says the same in words. */
function drawIcons(svg, counted) {
  for (let index = 0; index < 100; index += 1) {
    const dot = document.createElementNS("http://www.w3.org/2000/svg", "circle");
    dot.setAttribute("cx", 6 + 12 * (index % 10));
    dot.setAttribute("cy", 6 + 12 * Math.floor(index / 10));
    dot.setAttribute("r", 4);
    dot.setAttribute("class", index < counted ? "counted" : "rest");
    svg.append(dot);
  }
}

function row({ text, channel }) {
  const line = copy("odds-row");
  const { of, own, other } = odds(channel);
  fill(line, { text, own: `${count(own)} of ${count(of)}`, other: `${count(other)} of ${count(of)}` });
  return line;
}
