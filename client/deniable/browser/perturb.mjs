/** Perturbation of one respondent's answers: the only function that turns true answers into something that may be stored or sent. */

import { encodeAll } from "./encode.mjs";
import { randomize } from "./randomize.mjs";
import { envelope, pack } from "./submission.mjs";

/**
 * Encodes and randomizes the answers once, and packs them into an envelope.
 *
 * `answers` are the answers to the questions that `sample` selects, or to all. Coins are also tossed for the other questions, whose bits are
 * not sent. `more` may have a group and a token.
 */
export function perturb({ digest, survey: { questions, items } }, answers, nextWord, { id, sample, ...more }) {
  const categories = encodeAll(questions.filter(isSampled(sample)), answers, nextWord);
  const bits = items.map((item) => randomize(item.channel, isSampled(sample)(item) ? categories.shift() : 0, nextWord));
  return envelope({ id, digest, count: 1, reports: pack(items, bits, sample), ...more });
}

/** Returns a test of whether a question, or an item of one, is in the sample. */
export function isSampled(sample) {
  return ({ number }) => sample === undefined || sample[number] === 1;
}
