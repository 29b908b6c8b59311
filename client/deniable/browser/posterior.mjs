/**
 * Posterior bounds in people of 100: how certain a guess about one person can become, and how often a record has the true answer.
 *
 * Twin: `posterior.py`. Every figure is computed and rounded here, in integers; pages only format it. Odds are {own, other}, two BigInts
 * whose ratio is e^epsilon.
 */

import { epsilonOf } from "./randomize.mjs";

const MAX_DIGITS = 9; // decimal places of a percentage
const MAX_PEOPLE = 1e6;
const MAX_GUESSED = 1e5; // people in a guess
const SLACK = 1e-12; // two times ln 3 is ln 9, whatever the last digit of a sum of doubles
const TOLERANCE = 1e-6; // thresholds are integers, so equal shares of an epsilon differ a little
const LARGEST_EPSILON = 99; // an epsilon whose bound is 100%

/**
 * Returns the posterior bound of a 50:50 guess after a record is seen: {percent, digits}, a number from 50 to 100 and its decimal places.
 * Rounded up, with enough digits not to show 100; 100 if nine digits are not enough.
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
 * Returns a bound in people, {of, right}: the guess is right for at most `right` of `of`. `of` is 100 or a larger power of ten; all of 100
 * if MAX_GUESSED is not enough.
 */
export function rightFor({ percent, digits }) {
  const of = 100 * 10 ** digits;
  return of > MAX_GUESSED ? { of: 100, right: 100 } : { of, right: Math.round((percent / 100) * of) };
}

/** Returns the odds of two records of one person, each with these odds. */
export function twice({ own, other }) {
  return { own: own * own, other: other * other };
}

/** Returns the odds of records whose epsilons sum to `epsilon`, a double, with an allowance for its rounding. */
export function oddsOfSum(epsilon) {
  const odds = Math.max(1, Math.exp(Math.min(epsilon, LARGEST_EPSILON)) * (1 - SLACK));
  return { own: BigInt(odds * 2 ** 52), other: 2n ** 52n };
}

/**
 * Returns a channel's odds in people: of `of` who give an answer, `own` have it in their record; of `of` who give another answer, `other`
 * have it.
 *
 * For a window, `other` counts records in the answer's window by people with another window. `of` is 100, or more if that would round to
 * never, to always, or to no difference.
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

/** Returns the item with the weakest protection. Of several alike, the first with the fewest categories, which is easiest to understand. */
export function leastProtected(items) {
  const most = Math.max(...items.map(({ channel }) => epsilonOf(channel)));
  const alike = items.filter(({ channel }) => epsilonOf(channel) >= most * (1 - TOLERANCE));
  return alike.reduce((least, item) => (item.channel.k < least.channel.k ? item : least));
}
