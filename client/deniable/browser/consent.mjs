/**
 * What a respondent is told before the questions. Every number here is computed from the channels that the coins use.
 */

import { number, percent, t, tn } from "./language.mjs";
import { copy, fill, onPress } from "./page.mjs";
import { leastProtected, oddsOfSum, people, posteriorBound, twice } from "./posterior.mjs";
import { channelForEpsilon, cryptoWords, epsilonOf, oddsOfAll, randomize } from "./randomize.mjs";
import { typeOf } from "./types.mjs";
import { itemTexts } from "./words.mjs";

const SECONDS_PER_QUESTION = 10;
const WEAK = 99; // a bound in percent, compared as a number
const [YES, NO] = [0, 1];

/** What a survey that protects weakly says of itself, in people of 100; null where it protects well. */
export function weakness(bound) {
  if (bound.percent < WEAK) return null;
  if (bound.percent === 100) return t("This survey hides next to nothing: a guess about you, made with your record, could be right for all of 100 people. Think about it before you agree.");
  return t("This survey protects weakly: a guess about you, made with your record, could be right for up to {right} of 100 people. Think about it before you agree.", { right: number(bound.percent, { maximumFractionDigits: bound.digits }) });
}

/** Fills the consent step from a checked definition. `before` is what this device has spent on other surveys of this server. */
export function writeConsent(step, { digest, pinned, survey, epsilon, odds }, words, before) {
  const { questions, items } = survey;
  const once = posteriorBound(odds);
  const texts = itemTexts(questions, words);
  const example = leastProtected(items);
  fill(step, {
    title: words.title,
    about: words.about,
    contact: words.contact,
    ethics: words.ethics,
    length: lengthOf(survey),
    surest: percent(once),
    surestOne: questions.length > 1 ? t("From one answer alone: at most {surest}.", { surest: percent(ofOneAnswer(questions)) }) : null,
    weak: weakness(once),
    twice: t("Answer once, on one device. If you answered twice, your two records could make such a guess {twice} sure instead of {once}.", {
      once: percent(once),
      twice: percent(posteriorBound(twice(odds))),
    }),
    spent: before.surveys ? spentBefore(before, epsilon) : null,
    digest,
    unpinned: pinned ? null : t("Your link does not pin this survey: it carries no fingerprint, so nothing shows that you are asked the same as others."),
  });
  for (const slot of ["contact", "ethics"]) step.querySelector(`[data-slot=${slot}]`).closest("div").hidden = !words[slot];
  const weakest = step.querySelector("[data-slot=weakest]");
  fill(step, { weakest: texts[items.indexOf(example)] });
  weakest.parentElement.hidden = items.length === 1;
  step.querySelector("[data-slot=odds]").replaceChildren(...oddsOf(example));
  step.querySelector("[data-slot=everyQuestion]").replaceChildren(...items.map((item, index) => row(texts[index], item)));
  offerPractice(step.querySelector("[data-slot=practice]"), example);
}

/** The bound on a guess made from the answer to one question alone, all options of a multiple choice included: the least protected one's. */
function ofOneAnswer(questions) {
  return posteriorBound(oddsOfAll(questions.map(({ items }) => items.map(({ channel }) => channel)), 1));
}

function spentBefore({ surveys, epsilon }, more) {
  return tn(
    "This device has answered {n} other survey here. Both records together can make such a guess at most {surest} sure.",
    "This device has answered {n} other surveys here. All records together can make such a guess at most {surest} sure.",
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
  return [picture(holds, own, of), picture(holdsNot, other, of)];
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
  const { of, own, other } = people(channel);
  const share = (counted) => t("{counted} of {of}", { counted: number(counted), of: number(of) });
  fill(line, { text, own: share(own), other: share(other) });
  return line;
}

/** Makes the practice on a harmless question work; what is rolled here goes nowhere. The coins are as good as those of `example`. */
function offerPractice(root, example) {
  const channel = channelForEpsilon(epsilonOf(example.channel), 2);
  const recorded = [0, 0];
  let said;
  const roll = (answer, times) => {
    if (answer !== said) recorded.fill(0);
    said = answer;
    let last;
    for (let time = 0; time < times; time += 1) {
      last = randomize(channel, said, cryptoWords()).indexOf(1);
      recorded[last] += 1;
    }
    fill(root, { rolled: times === 1 ? thisTime(said, last) : null, counted: counted(said, recorded, channel) });
    root.querySelector("[data-action=roll-many]").hidden = false;
  };
  fill(root, { rolled: null, counted: null });
  root.querySelector("[data-action=roll-many]").hidden = true;
  onPress(root, "roll-yes", () => roll(YES, 1));
  onPress(root, "roll-no", () => roll(NO, 1));
  onPress(root, "roll-many", () => roll(said, 100));
}

function thisTime(said, record) {
  if (said === YES) return record === YES ? t("You said Yes, and the record says Yes.") : t("You said Yes, but the record says No.");
  return record === YES ? t("You said No, but the record says Yes.") : t("You said No, and the record says No.");
}

function counted(said, [yes, no], channel) {
  const { of, own, other } = people(channel);
  const values = { rolls: number(yes + no), yes: number(yes), no: number(no), of: number(of), expected: number(said === YES ? own : other) };
  return said === YES
    ? t("Rolls for Yes: {rolls}. Records that say Yes: {yes}; No: {no}. In the long run {expected} of {of} say Yes.", values)
    : t("Rolls for No: {rolls}. Records that say Yes: {yes}; No: {no}. In the long run {expected} of {of} say Yes.", values);
}
