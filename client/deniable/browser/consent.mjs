/**
 * What a respondent is told before the questions. Every number here is computed from the channels that the coins use.
 */

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
const [STRONG, MEDIUM] = [75, 90]; // bounds in percent, compared as numbers
const SHORT = 240; // characters of a survey's own text that are shown whole

/** How well a record with this bound is protected, in people: {level, name, told, think}, of which the level is for style sheets. */
export function protection(bound) {
  const sure = bound.percent;
  const { of, right } = rightFor(bound);
  const told = right === of
    ? t("Somebody who saw all that 100 people sent could guess right for all 100; without it, for 50.")
    : t("Somebody who saw all that {of} people sent could guess right for {right} at most; without it, for {half}.", { of: number(of), right: number(right), half: number(of / 2) });
  if (sure <= STRONG) return { level: "strong", name: t("Strong protection."), told, think: null };
  if (sure <= MEDIUM) return { level: "medium", name: t("Medium protection."), told, think: null };
  return { level: "weak", name: right === of ? t("Next to no protection.") : t("Weak protection."), told, think: t("Think about it before you start.") };
}

/** Fills the consent step from a checked definition. `before` is what this device has spent on other surveys of this server. */
export function writeConsent(step, { digest, pinned, survey, epsilon, odds }, words, before) {
  const { questions, items } = survey;
  const example = leastProtected(items);
  fill(step, {
    title: words.title,
    ...layersOf(words.about),
    length: lengthOf(survey),
    promise: promiseOf(ofOneAnswer(questions)),
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
  weakest.parentElement.hidden = items.every((item) => alike(item, example));
  step.querySelector("[data-slot=odds]").replaceChildren(...oddsOf(example));
  step.querySelector("[data-slot=everyQuestion]").replaceChildren(...items.map((item, index) => row(texts[index], item)));
  offerPractice(step.querySelector("[data-slot=practice]"), example);
}

/** Whether the same is said of the coins of two items. */
function alike(one, other) {
  return one.type === other.type && Object.keys(one.channel).every((key) => one.channel[key] === other.channel[key]);
}

/** A short text of the survey's is shown whole; of a long one the first paragraph, and the rest is folded away. */
function layersOf({ text, lang }) {
  const [first, ...rest] = text.split(/\n+/);
  if (text.length <= SHORT || rest.length === 0) return { about: { text, lang }, moreAbout: null };
  return { about: { text: first, lang }, moreAbout: { text: rest.join("\n\n"), lang } };
}

/** Said only where it holds for each answer: a record that is right for more than 90 of 100 people shows it as good as plainly. */
function promiseOf(ofOne) {
  return ofOne.percent <= MEDIUM ? t("Nobody, not even those who ask, can see your answers.") : t("Coins hide your answers, but only a little.");
}

function writeProtection(step, { level, name, told, think }) {
  fill(step, { level: name, told, think });
  step.querySelector(".level").dataset.level = level;
}

/** What is folded away of how sure somebody can become. */
function writeBounds(step, { questions }, odds) {
  const once = percent(posteriorBound(odds));
  fill(step, {
    surest: once,
    surestOne: questions.length > 1 ? t("From one answer alone: at most {surest}.", { surest: percent(ofOneAnswer(questions)) }) : null,
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

/** The bound on a guess made from the answer to one question alone, all options of a multiple choice included: the least protected one's. */
function ofOneAnswer(questions) {
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
  const asked = ask === undefined ? questions.length : Math.round((questions.length * ask) / blocks.length);
  const minutes = Math.ceil((asked * SECONDS_PER_QUESTION + 20) / 60);
  const asking = ask === undefined
    ? tn("{n} question", "{n} questions", asked, { n: number(asked) })
    : tn("{n} question of {all}, drawn by your device", "{n} questions of {all}, drawn by your device", asked, { n: number(asked), all: number(questions.length) });
  return `${asking} · ${tn("about {n} minute", "about {n} minutes", minutes, { n: number(minutes) })}`;
}

/** The odds of one question, for both sides with the same denominators: a picture and its words each. */
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
  else icons.remove(); // a hundred dots cannot show one in a thousand
  return figure;
}

function row(text, { channel }) {
  const line = copy("odds-row");
  const { of, own, other } = people(channel);
  const share = (counted) => t("{counted} of {of}", { counted: number(counted), of: number(of) });
  fill(line, { text, own: share(own), other: share(other) });
  return line;
}
