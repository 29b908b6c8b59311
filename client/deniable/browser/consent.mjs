/** Consent page: who asks, privacy protection and practice. Every number is computed from the channels that the coins use. */

import { boundsOf, claimText } from "./claims.mjs";
import { number, percent, t, tn } from "./language.mjs";
import { linkUp } from "./links.mjs";
import { copy, fill } from "./page.mjs";
import { drawPeople } from "./people.mjs";
import { leastProtected, oddsOfSum, people, posteriorBound, rightFor, twice } from "./posterior.mjs";
import { offerPractice } from "./practice.mjs";
import { typeOf } from "./types.mjs";
import { itemTexts } from "./words.mjs";

const SECONDS_PER_QUESTION = 10;
const SHORT_TEXT = 240; // characters of the survey's own text that are shown unfolded
const SHORT_APPROVAL = 60; // characters of an ethics approval that is shown beside the institution
const STEPS = 3; // consent, questions, review
const TOLERANCE = 1e-9; // of a whole number of people in doubles

/** Fills the consent step from a checked definition. `before`: what this device has sent to other surveys on this server. Claims are shown apart. */
export function writeConsent(step, definition, facts, words, before) {
  const { digest, pinned, survey, epsilon, odds } = definition;
  const bounds = boundsOf(definition);
  const { questions, items } = survey;
  const example = leastProtected(items);
  fill(step, {
    title: words.title,
    ...splitText(words.about),
    length: lengthOf(survey),
    unpinned: pinned ? null : t("Your link has no fingerprint. So your browser cannot check that you are asked the same as others."),
    spent: before.surveys ? spentBefore(before, epsilon) : null,
    digest,
  });
  writeAsker(step, survey, words);
  writeGuesses(step, bounds, questions.length);
  writeBounds(step, bounds, questions.length, odds);
  step.querySelector(".level").dataset.level = facts.weaker;
  writePeople(step, words);
  const texts = itemTexts(questions, words);
  const weakest = step.querySelector("[data-slot=weakest]");
  fill(step, { weakest: texts[items.indexOf(example)] });
  weakest.parentElement.hidden = items.every((item) => haveSameCoins(item, example));
  step.querySelector("[data-slot=odds]").replaceChildren(...oddsOf(example, facts));
  step.querySelector("[data-slot=everyQuestion]").replaceChildren(...items.map((item, index) => oddsRow(texts[index], item)));
  offerPractice(step.querySelector("[data-slot=practice]"), example);
}

/** Returns whether the coins of two items have the same description. */
function haveSameCoins(item, other) {
  return item.type === other.type && Object.keys(item.channel).every((key) => item.channel[key] === other.channel[key]);
}

/** Splits a long text into its first paragraph and a folded rest. A short text is shown whole. */
function splitText({ text, lang }) {
  const [first, ...rest] = text.split(/\n+/);
  if (text.length <= SHORT_TEXT || rest.length === 0) return { about: { text, lang }, moreAbout: null };
  return { about: { text: first, lang }, moreAbout: { text: rest.join("\n\n"), lang } };
}

/** Fills the numbers of people that a guess can be right for, with one denominator: without a record, from one answer and from all. */
function writeGuesses(step, { one, record }, questions) {
  const { of, right } = rightFor(one.percent > record.percent ? one : record);
  fill(step, {
    blind: number(of / 2),
    one: number(Math.ceil((one.percent / 100) * of - TOLERANCE)),
    all: number(right),
  });
  step.querySelector("[data-slot=all]").parentElement.hidden = questions === 1;
}

/** Fills the folded bounds on how certain a guess can become. */
function writeBounds(step, { one, record }, questions, odds) {
  const once = percent(record);
  fill(step, {
    surest: once,
    surestOne: questions > 1 ? t("From one answer alone: at most {surest}.", { surest: percent(one) }) : null,
    twice: t("Answer once, on one device. If you answered twice, your two records could make such a guess {twice} sure instead of {once}.", {
      once,
      twice: percent(posteriorBound(twice(odds))),
    }),
  });
}

/** Fills the line above the title: the institution that asks, with its logo, and a short ethics approval. */
function writeAsker(step, { logo }, { institution, ethics }) {
  const line = step.querySelector(".asker");
  line.hidden = !institution;
  const picture = line.querySelector("img");
  picture.hidden = !logo;
  if (logo) picture.src = logo;
  fill(line, { institution, approval: ethics?.text.length <= SHORT_APPROVAL ? ethics : null });
}

function writePeople(step, { contact, ethics }) {
  fill(step, { contact, ethics });
  for (const slot of ["contact", "ethics"]) linkUp(step.querySelector(`[data-slot=${slot}]`));
  step.querySelector("[data-slot=contact]").parentElement.hidden = !contact;
  step.querySelector("[data-slot=ethics]").parentElement.hidden = !ethics;
  step.querySelector(".asks").hidden = !contact && !ethics && step.querySelector("[data-slot=moreAbout]").hidden;
}

function spentBefore({ surveys, epsilon }, more) {
  return tn(
    "This device has answered {n} other survey here. Both records together can make a 50:50 guess about you at most {surest} sure.",
    "This device has answered {n} other surveys here. All records together can make a 50:50 guess about you at most {surest} sure.",
    surveys,
    { n: number(surveys), surest: percent(posteriorBound(oddsOfSum(epsilon + more))) },
  );
}

function lengthOf({ ask, blocks, questions }) {
  const count = ask === undefined ? questions.length : Math.round((questions.length * ask) / blocks.length);
  const minutes = Math.ceil((count * SECONDS_PER_QUESTION + 20) / 60);
  const countText = ask === undefined
    ? tn("{n} question", "{n} questions", count, { n: number(count) })
    : tn("{n} question of {all}, drawn by your device", "{n} questions of {all}, drawn by your device", count, { n: number(count), all: number(questions.length) });
  const step = t("Step {n} of {of}", { n: number(1), of: number(STEPS) });
  return `${step} · ${countText} · ${tn("about {n} minute", "about {n} minutes", minutes, { n: number(minutes) })}`;
}

/**
 * Returns two pictures with captions: the odds for people who give an answer, and for people who give another, with the same denominator.
 */
function oddsOf(question, facts) {
  const { of, own, other } = people(question.channel);
  const { d, k } = question.channel;
  const values = (counted) => ({ of: number(of), counted: number(counted), rest: number(of - counted), d: number(d), k: number(k) });
  const [holds, holdsNot] = typeOf(question).odds(question.source, question.channel, values(own), values(other));
  return [picture(holds, own, of), picture(holdsNot, other, of, typeOf(question).isExcused(question.channel) ? claimText("excuse", facts) : null)];
}

function picture(sentence, counted, of, excuse = null) {
  const figure = copy("odds");
  fill(figure, { sentence, excuse });
  const icons = figure.querySelector("svg");
  if (of === 100) drawPeople(icons, 100, counted);
  else icons.remove(); // 100 dots cannot show one in a thousand
  return figure;
}

function oddsRow(text, { channel }) {
  const line = copy("odds-row");
  const { of, own, other } = people(channel);
  const share = (counted) => t("{counted} of {of}", { counted: number(counted), of: number(of) });
  fill(line, { text, own: share(own), other: share(other) });
  return line;
}
