/**
 * What coins mean in people of 100: how sure a guess about one person can become, and how often a record has somebody's answer.
 *
 * The twin of `posterior.py`. Every figure is computed and rounded here, in whole numbers; pages only write it down in their language.
 * Odds are {own, other}, two BigInts whose ratio is e^epsilon.
 */

import { epsilonOf } from "./randomize.mjs";

const MAX_DIGITS = 9; // behind the decimal point of a percentage
const MAX_PEOPLE = 1e6;
const MAX_GUESSED = 1e5; // people of whom somebody guesses
const SLACK = 1e-12; // two times ln 3 is ln 9, whatever the last digit of a sum of doubles
const ALIKE = 1e-6; // thresholds are whole numbers, so equal parts of an epsilon differ a little
const CERTAIN = 99; // an epsilon whose bound is 100 %

/**
 * How sure, in percent, somebody who could only guess 50:50 can become by seeing a record, as {percent, digits}: a number from 50 to
 * 100, and its digits behind the decimal point. Rounded up, with as many digits as it takes not to say 100; and 100 where nine do not do.
 */
export function posteriorBound({ own, other }) {
  const doubt = (digits) => (100n * 10n ** BigInt(digits) * other) / (own + other); // BigInt division truncates
  let digits = 0;
  while (digits < MAX_DIGITS && doubt(digits) === 0n) digits += 1;
  const unit = 10n ** BigInt(digits);
  const percent = Number(100n * unit - doubt(digits)) / Number(unit);
  return { percent, digits: percent === 100 ? 0 : digits };
}

/**
 * A bound in whole people, as {of, right}: of `of` of them a guess is right for `right` at most. Of 100, or of as many as it takes; and for
 * all of 100 where MAX_GUESSED do not do.
 */
export function rightFor({ percent, digits }) {
  const of = 100 * 10 ** digits;
  return of > MAX_GUESSED ? { of: 100, right: 100 } : { of, right: Math.round((percent / 100) * of) };
}

/** The odds of two records with these odds, of the same person. */
export function twice({ own, other }) {
  return { own: own * own, other: other * other };
}

/** The odds of records whose epsilons add up to `epsilon`, a double, whose own rounding is allowed for. */
export function oddsOfSum(epsilon) {
  const odds = Math.max(1, Math.exp(Math.min(epsilon, CERTAIN)) * (1 - SLACK));
  return { own: BigInt(odds * 2 ** 52), other: 2n ** 52n };
}

/**
 * A channel's odds in people: of `of` who give an answer, `own` have it in their record; of `of` who give another, `other`
 * have it in theirs. For a window: a record that is in the answer's window, of those whose own window is another. `of` is 100, or more where that would round to never, to always, or to no difference.
 */
export function people({ k, d, levels, inside, outside, keepThreshold, coin }) {
  const counted = (of, chance, whole) => Number((2n * BigInt(of) * chance + whole) / (2n * whole));
  for (let of = 100; ; of *= 10) {
    const own = counted(of, BigInt(keepThreshold), BigInt(coin));
    const other = levels === undefined
      ? counted(of, BigInt(d) * BigInt(coin) - BigInt(keepThreshold), BigInt(coin) * BigInt(k - 1))
      : counted(of, BigInt(inside) * BigInt(coin - keepThreshold), BigInt(coin) * BigInt(outside));
    if (of === MAX_PEOPLE || (other > 0 && other < own)) return { of, own, other };
  }
}

/** The item whose coins hide least; of several alike, the first of those with the fewest categories, which are understood best. */
export function leastProtected(items) {
  const most = Math.max(...items.map(({ channel }) => epsilonOf(channel)));
  const alike = items.filter(({ channel }) => epsilonOf(channel) >= most * (1 - ALIKE));
  return alike.reduce((least, item) => (item.channel.k < least.channel.k ? item : least));
}
