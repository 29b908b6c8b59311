/**
 * Randomized response: Subset Selection and windows with integer coins. The only place where a browser tosses a coin.
 *
 * Twin: `mechanism.py` and `device/randomize.py`, which cite the literature: the same integers, and the same words consumed in the same
 * order. Words are integers from 0 to 2^32 - 1, stored as numbers; bitwise operators would make them signed. No floating-point number
 * affects a result.
 */

const WORD = 4294967296; // 2^32
const SCALE = 192n; // fractional bits of e^epsilon

/**
 * Returns the channel {k, d, outputs, inside, outside, keepThreshold, coin} over k categories with the least worst-case variance. Its loss
 * is at most `epsilon` / `parts`, where `epsilon` is taken as the exact binary number it is.
 */
export function channelForEpsilon(epsilon, k, parts = 1) {
  const power = expBelow(epsilon, BigInt(parts));
  const d = bestSubsetSize(power, BigInt(k));
  const own = power * d;
  const other = (BigInt(k) - d) << SCALE;
  const keepThreshold = (BigInt(WORD) * own) / (own + other);
  return Object.freeze({ k, d: Number(d), outputs: k, inside: Number(d), outside: k - Number(d), keepThreshold: Number(keepThreshold), coin: WORD });
}

/**
 * Returns the window over `levels` levels with loss at most `epsilon`: a channel that also has `levels`. The window of level j is the
 * `width` outputs from j on. `apart` adds a category that is no level, with the last output to itself, which weighs as much as a window.
 */
export function windowForEpsilon(epsilon, levels, width, apart) {
  const outside = apart ? levels + width - 1 : levels - 1;
  const own = expBelow(epsilon, 1n) * BigInt(width);
  const keepThreshold = (BigInt(WORD) * own) / (own + (BigInt(outside) << SCALE));
  const more = apart ? 1 : 0;
  return Object.freeze({ k: levels + more, d: 1, outputs: levels + width - 1 + more, inside: width, outside, levels, keepThreshold: Number(keepThreshold), coin: WORD });
}

/** Returns a channel's part of the definition that the survey file does not have. */
export function published({ k, d, outputs, levels, keepThreshold }) {
  return levels === undefined ? { k, d, keep_threshold: keepThreshold } : { k, outputs, keep_threshold: keepThreshold };
}

/** Returns the privacy loss of a channel's integers, as a double, for display and sums. */
export function epsilonOf({ inside, outside, keepThreshold, coin }) {
  return Math.log((keepThreshold * outside) / ((coin - keepThreshold) * inside));
}

/** Returns whether a report is informative: the respondent's own category is likelier than another. */
export function reveals({ inside, outside, keepThreshold, coin }) {
  return keepThreshold * outside > (coin - keepThreshold) * inside;
}

/** Returns whether the channels' losses sum to more than `cap`, decided exactly: the thresholds' odds against e^cap. */
export function exceeds(groups, most, cap) {
  const { own, other } = oddsOfAll(groups, most);
  return own << SCALE > other * expBelow(cap, 1n);
}

/**
 * Returns e^epsilon of all these channels exactly, as the ratio of two BigInts {own, other}. `groups`: the channels of each block; only the
 * `most` with the largest loss count. Twin: `total.py`.
 */
export function oddsOfAll(groups, most) {
  const odds = groups.map((channels) => ({
    own: product(channels.map(({ outside, keepThreshold }) => BigInt(keepThreshold) * BigInt(outside))),
    other: product(channels.map(({ inside, keepThreshold, coin }) => BigInt(coin - keepThreshold) * BigInt(inside))),
  }));
  const drawn = odds.sort((a, b) => (a.own * b.other > b.own * a.other ? -1 : 1)).slice(0, most);
  return { own: product(drawn.map(({ own }) => own)), other: product(drawn.map(({ other }) => other)) };
}

function product(numbers) {
  return numbers.reduce((total, number) => total * number, 1n);
}

/** Returns 2^192 e^(x / parts) for x > 0, rounded down: the exponential series with truncated terms. BigInt division truncates. */
function expBelow(x, parts) {
  const [numerator, whole] = integerRatio(x);
  const denominator = whole * parts;
  let term = 1n << SCALE;
  let total = term;
  for (let i = 1n; term > 0n; i += 1n) {
    term = (term * numerator) / (denominator * i);
    total += term;
  }
  return total;
}

/** Returns a positive double as the exact fraction of two BigInts, from its IEEE 754 bits. */
function integerRatio(x) {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, x);
  const bits = view.getBigUint64(0);
  const exponent = bits >> 52n;
  const fraction = BigInt.asUintN(52, bits);
  const [mantissa, shift] = exponent === 0n ? [fraction, -1074n] : [fraction + (1n << 52n), exponent - 1075n];
  return shift < 0n ? [mantissa, 1n << -shift] : [mantissa << shift, 1n];
}

/** Returns the d that minimizes (e^eps d + k - d)^2 / (d (k - d)); the smaller one on a tie. */
function bestSubsetSize(power, k) {
  let d = 1n;
  while (power * power * d * (d + 1n) < ((k - d) * (k - d - 1n)) << (2n * SCALE)) d += 1n;
  return d;
}

/**
 * Perturbs a category in [0, k) into the bits of a report, a Uint8Array with exactly d ones.
 *
 * `nextWord()` returns a fresh, independent, uniform word. The coin is tossed first, then d choices, or two for a window, whatever the coin
 * shows.
 */
export function randomize(channel, category, nextWord) {
  const { k, d, levels, keepThreshold, coin } = channel;
  if (!Number.isInteger(category) || category < 0 || category >= k) throw new RangeError("category must be an integer from 0 to k - 1");
  const keep = nextWord() < keepThreshold;
  if (levels !== undefined) return outputNear(channel, category, keep, nextWord);
  const others = choose(d, k - 1, nextWord, coin, keep);
  const bits = new Uint8Array(k);
  bits.set(others.subarray(0, category));
  bits[category] = keep ? 1 : 0;
  bits.set(others.subarray(category), category + 1);
  return bits;
}

/** Returns the bits of a report through a window. Draws one position inside and one outside; `keep`, the coin, selects. */
function outputNear({ outputs, inside, outside, levels, coin }, category, keep, nextWord) {
  const first = category < levels ? category : outside;
  const near = first + uniformBelow(inside, coin, nextWord);
  const draw = uniformBelow(outside, coin, nextWord);
  const far = draw < first ? draw : draw + inside;
  const output = keep ? near : far;
  const bits = new Uint8Array(outputs);
  bits[output < outputs ? output : outputs - 1] = 1;
  return bits;
}

/**
 * Returns a uniform subset of `size` of `of` elements, as a Uint8Array of 0 and 1; with `oneLess`, one element fewer.
 *
 * Floyd's sampling. Without its first step it samples one fewer, so both consume the same number of words.
 */
export function choose(size, of, nextWord, coin = WORD, oneLess = false) {
  const chosen = new Uint8Array(of);
  const first = of - size;
  chosen[uniformBelow(first + 1, coin, nextWord)] = oneLess ? 0 : 1;
  for (let last = first + 1; last < of; last += 1) {
    const choice = uniformBelow(last + 1, coin, nextWord);
    chosen[chosen[choice] ? last : choice] = 1;
  }
  return chosen;
}

/** Returns a uniform integer in [0, bound), by rejection. A single possible value consumes no word. */
export function uniformBelow(bound, coin, nextWord) {
  if (bound === 1) return 0;
  const largest = coin - (coin % bound) - 1;
  let draw = nextWord();
  while (draw > largest) draw = nextWord();
  return draw % bound;
}

/** Returns a `nextWord` from the browser's cryptographic generator. Throws without one: there is no fallback. */
export function cryptoWords() {
  const source = globalThis.crypto;
  if (typeof source?.getRandomValues !== "function") throw new Error("this browser must have a cryptographic random generator, got none");
  const words = new Uint32Array(256); // batched: a call takes far longer than a coin
  let used = words.length;
  return () => {
    if (used === words.length) {
      source.getRandomValues(words);
      used = 0;
    }
    const word = words[used];
    words[used] = 0; // erased, because it decided something
    used += 1;
    return word;
  };
}

/**
 * Draws this device's sample of questions, independently of all answers: a Uint8Array of 0 and 1, or undefined for all. Twin:
 * `sampling.py`.
 */
export function draw({ ask, blocks, questions }, nextWord) {
  if (ask === undefined) return undefined;
  const drawn = choose(ask, blocks.length, nextWord);
  const mask = new Uint8Array(questions.length);
  for (const [number, block] of blocks.entries()) for (const question of block) mask[question] = drawn[number];
  return mask;
}
