/** What a channel and an epsilon mean, in numbers that people can picture. */

import { number } from "./language.mjs";

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
  const shown = Math.floor(doubt * 10 ** digits + 1e-9) / 10 ** digits; // two times ln 3 is ln 9, whatever its last digit
  return number(100 - shown, { minimumFractionDigits: digits, maximumFractionDigits: digits });
}
