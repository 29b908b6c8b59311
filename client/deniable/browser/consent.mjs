/**
 * What a respondent is told before the questions. Every number here is computed from the channels that the coins use.
 */

import { number, t, tn } from "./language.mjs";
import { odds, surest } from "./odds.mjs";
import { copy, fill } from "./page.mjs";
import { offerPractice } from "./practice.mjs";
import { epsilonOf } from "./randomize.mjs";
import { itemTexts } from "./words.mjs";

const SECONDS_PER_QUESTION = 10;

/** Fills the consent step from a checked definition. `before` is what this device has spent on other surveys of this server. */
export function writeConsent(step, { digest, survey, epsilon }, words, before) {
  const { questions, items } = survey;
  const answers = items.map(({ channel }) => epsilonOf(channel));
  fill(step, {
    title: words.title,
    about: words.about,
    contact: words.contact,
    ethics: words.ethics,
    length: lengthOf(survey),
    surest: `${surest(epsilon)} %`,
    surestOne: items.length > 1 ? t("From one answer alone: at most {surest} %.", { surest: surest(Math.max(...answers)) }) : null,
    weak: surest(epsilon) >= 99 ? t("That is weak protection for the survey as a whole. Think about it before you agree.") : null,
    spent: before.surveys ? spentBefore(before, epsilon) : null,
    digest,
  });
  for (const slot of ["contact", "ethics"]) step.querySelector(`[data-slot=${slot}]`).closest("div").hidden = !words[slot];
  const example = items.find(({ type }) => type === "yes_no") ?? items[0];
  step.querySelector("[data-slot=odds]").replaceChildren(...oddsOf(example));
  const texts = itemTexts(questions, words);
  step.querySelector("[data-slot=everyQuestion]").replaceChildren(...items.map((item, index) => row(texts[index], item)));
  offerPractice(step.querySelector("[data-slot=practice]"), example);
}

function spentBefore({ surveys, epsilon }, more) {
  return tn(
    "This device has answered {n} other survey here. Both records together can make such a guess at most {surest} % sure.",
    "This device has answered {n} other surveys here. All records together can make such a guess at most {surest} % sure.",
    surveys,
    { n: number(surveys), surest: surest(epsilon + more) },
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
  const { of, own, other } = odds(question.channel);
  const { d, k } = question.channel;
  const values = (counted) => ({ of: number(of), counted: number(counted), rest: number(of - counted), d: number(d), k: number(k) });
  const [holds, holdsNot] = sentencesOf(question, values(own), values(other));
  return [picture(holds, own, of), picture(holdsNot, other, of)];
}

/** What is said of those who give an answer, and of those who give another. */
function sentencesOf({ type, source, channel: { d, k } }, own, other) {
  if (type === "yes_no" && k === 2) {
    return [
      t("Of {of} people who answer Yes, {counted} are recorded Yes, {rest} No.", own),
      t("Of {of} people who answer No, {counted} are recorded Yes, {rest} No.", other),
    ];
  }
  if (type === "number" && !source.bins) {
    return [
      t("Of {of} people at a level, {counted} have it among the {d} of {k} in their record, {rest} do not.", own),
      t("Of {of} people at another level, {counted} have that first one among the {d} of {k} in their record, {rest} do not.", other),
    ];
  }
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
}

function picture(sentence, counted, of) {
  const figure = copy("odds");
  fill(figure, { sentence });
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

function row(text, { channel }) {
  const line = copy("odds-row");
  const { of, own, other } = odds(channel);
  const share = (counted) => t("{counted} of {of}", { counted: number(counted), of: number(of) });
  fill(line, { text, own: share(own), other: share(other) });
  return line;
}
