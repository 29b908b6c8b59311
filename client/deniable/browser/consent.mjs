/** Consent page: privacy protection, contact and practice. Every number is computed from the channels that the coins use. */

import { number, percent, t, tn } from "./language.mjs";
import { linkUp } from "./links.mjs";
import { copy, fill } from "./page.mjs";
import { drawPeople } from "./people.mjs";
import { leastProtected, oddsOfSum, people, posteriorBound, rightFor, twice } from "./posterior.mjs";
import { offerPractice } from "./practice.mjs";
import { oddsOfAll } from "./randomize.mjs";
import { typeOf } from "./types.mjs";
import { itemTexts } from "./words.mjs";

const SECONDS_PER_QUESTION = 10;
const [STRONG, MEDIUM] = [75, 90]; // bounds in percent
const SHORT_TEXT = 240; // characters of the survey's own text that are shown unfolded

/** Describes the protection of a record with this bound, in numbers of people. `level` is for style sheets. */
export function protection(bound) {
  const sure = bound.percent;
  const { of, right } = rightFor(bound);
  const guess = right === of
    ? t("Somebody who saw all that 100 people sent could guess right for all 100; without it, for 50.")
    : t("Somebody who saw all that {of} people sent could guess right for {right} at most; without it, for {half}.", { of: number(of), right: number(right), half: number(of / 2) });
  if (sure <= STRONG) return { level: "strong", name: t("Strong protection."), guess, advice: null };
  if (sure <= MEDIUM) return { level: "medium", name: t("Medium protection."), guess, advice: null };
  return { level: "weak", name: right === of ? t("Next to no protection.") : t("Weak protection."), guess, advice: t("Think about it before you start.") };
}

/** Fills the consent step from a checked definition. `before`: what this device has sent to other surveys on this server. */
export function writeConsent(step, { digest, pinned, survey, epsilon, odds }, words, before) {
  const { questions, items } = survey;
  const example = leastProtected(items);
  fill(step, {
    title: words.title,
    ...splitText(words.about),
    length: lengthOf(survey),
    promise: promiseOf(boundOfOneAnswer(questions)),
    unpinned: pinned ? null : t("Your link has no fingerprint. So your browser cannot check that you are asked the same as others."),
    spent: before.surveys ? spentBefore(before, epsilon) : null,
    digest,
  });
  step.querySelector("[data-slot=moreAbout]").closest("details").hidden = step.querySelector("[data-slot=moreAbout]").hidden;
  writeProtection(step, protection(posteriorBound(odds)));
  writeBounds(step, survey, odds);
  writePeople(step, words);
  const texts = itemTexts(questions, words);
  const weakest = step.querySelector("[data-slot=weakest]");
  fill(step, { weakest: texts[items.indexOf(example)] });
  weakest.parentElement.hidden = items.every((item) => haveSameCoins(item, example));
  step.querySelector("[data-slot=odds]").replaceChildren(...oddsOf(example));
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

/** Returns the promise only if it holds for each answer: a guess that is right for more than 90 of 100 people is nearly certain. */
function promiseOf(ofOne) {
  return ofOne.percent <= MEDIUM ? t("Nobody, not even those who ask, can see your answers.") : t("Coins hide your answers, but only a little.");
}

function writeProtection(step, { level, name, guess, advice }) {
  fill(step, { level: name, guess, advice });
  step.querySelector(".level").dataset.level = level;
}

/** Fills the folded bounds on how certain a guess can become. */
function writeBounds(step, { questions }, odds) {
  const once = percent(posteriorBound(odds));
  fill(step, {
    surest: once,
    surestOne: questions.length > 1 ? t("From one answer alone: at most {surest}.", { surest: percent(boundOfOneAnswer(questions)) }) : null,
    twice: t("Answer once, on one device. If you answered twice, your two records could make such a guess {twice} sure instead of {once}.", {
      once,
      twice: percent(posteriorBound(twice(odds))),
    }),
  });
}

function writePeople(step, { contact, ethics }) {
  fill(step, { contact, ethics });
  for (const slot of ["contact", "ethics"]) linkUp(step.querySelector(`[data-slot=${slot}]`));
  step.querySelector("[data-slot=contact]").parentElement.hidden = !contact;
  step.querySelector("[data-slot=ethics]").parentElement.hidden = !ethics;
  step.querySelector(".people").closest("details").hidden = !contact && !ethics;
}

/**
 * Returns the bound on a guess from the answer to one question, all options of a multiple choice included. The least protected
 * question decides.
 */
function boundOfOneAnswer(questions) {
  return posteriorBound(oddsOfAll(questions.map(({ items }) => items.map(({ channel }) => channel)), 1));
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
  return `${countText} · ${tn("about {n} minute", "about {n} minutes", minutes, { n: number(minutes) })}`;
}

/**
 * Returns two pictures with captions: the odds for people who give an answer, and for people who give another, with the same denominator.
 */
function oddsOf(question) {
  const { of, own, other } = people(question.channel);
  const { d, k } = question.channel;
  const values = (counted) => ({ of: number(of), counted: number(counted), rest: number(of - counted), d: number(d), k: number(k) });
  const [holds, holdsNot] = typeOf(question).odds(question.source, question.channel, values(own), values(other));
  return [picture(holds, own, of), picture(holdsNot, other, of, typeOf(question).excuse(question.channel))];
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
