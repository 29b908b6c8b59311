/**
 * Subset Selection and windows with integer coins: the only place where a browser tosses a coin.
 *
 * The twin of `mechanism.py` and `device/randomize.py`, which give the source: the same integers, and the same words used in the same
 * order. Words are integers from 0 to 2^32 - 1 held as numbers, never touched by a bitwise operator, which would
 * make them signed. No floating point decides anything here.
 */

const WORD = 4294967296; // 2^32
const SCALE = 192n; // bits after the binary point while e^epsilon is computed

/**
 * The channel {k, d, outputs, inside, outside, keepThreshold, coin} of least worst-case variance over k categories whose loss is at most
 * `epsilon` / `parts`, a positive number taken as the exact binary number it is, divided exactly.
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
 * The window over `levels` levels whose loss is at most `epsilon`, a channel with `levels` besides: level j's window are the `width`
 * outputs from j on. `apart`: one more category, no level, has the last output for itself, which weighs as much as a window.
 */
export function windowForEpsilon(epsilon, levels, width, apart) {
  const outside = apart ? levels + width - 1 : levels - 1;
  const own = expBelow(epsilon, 1n) * BigInt(width);
  const keepThreshold = (BigInt(WORD) * own) / (own + (BigInt(outside) << SCALE));
  const more = apart ? 1 : 0;
  return Object.freeze({ k: levels + more, d: 1, outputs: levels + width - 1 + more, inside: width, outside, levels, keepThreshold: Number(keepThreshold), coin: WORD });
}

/** What a definition says of a channel, beside what its survey file says. */
export function published({ k, d, outputs, levels, keepThreshold }) {
  return levels === undefined ? { k, d, keep_threshold: keepThreshold } : { k, outputs, keep_threshold: keepThreshold };
}

/** The privacy loss that a channel's integers give; rounded to a double, for display and for adding up. */
export function epsilonOf({ inside, outside, keepThreshold, coin }) {
  return Math.log((keepThreshold * outside) / ((coin - keepThreshold) * inside));
}

/** Whether a report says anything at all: its own category is likelier than another one. */
export function reveals({ inside, outside, keepThreshold, coin }) {
  return keepThreshold * outside > (coin - keepThreshold) * inside;
}

/** Whether the losses of these channels add up to more than `cap`, decided exactly: the odds that the thresholds give, against e^cap. */
export function exceeds(groups, most, cap) {
  const { own, other } = oddsOfAll(groups, most);
  return own << SCALE > other * expBelow(cap, 1n);
}

/**
 * e^epsilon of all these channels together, exactly, as the ratio of two BigInts {own, other}. Twin: `total.py`.
 * `groups` are the channels of each block; the `most` that give away most count.
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

/** 2^192 e^(x / parts) for x > 0, rounded down: the exponential series, every term truncated. BigInt division truncates. */
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

/** A positive double as the fraction of two BigInts that it is, read from its IEEE 754 bits. */
function integerRatio(x) {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, x);
  const bits = view.getBigUint64(0);
  const exponent = bits >> 52n;
  const fraction = BigInt.asUintN(52, bits);
  const [mantissa, shift] = exponent === 0n ? [fraction, -1074n] : [fraction + (1n << 52n), exponent - 1075n];
  return shift < 0n ? [mantissa, 1n << -shift] : [mantissa << shift, 1n];
}

/** The d that minimises (e^eps d + k - d)^2 / (d (k - d)), the smaller one on a tie. */
function bestSubsetSize(power, k) {
  let d = 1n;
  while (power * power * d * (d + 1n) < ((k - d) * (k - d - 1n)) << (2n * SCALE)) d += 1n;
  return d;
}

/**
 * Perturbs one question's category, an integer in [0, k), into its report's bits, of which exactly d are 1 (a Uint8Array).
 *
 * `nextWord()` gives a fresh, independent, uniform word. First the coin, then d choices, or two for a window, are drawn, whatever the
 * coin says.
 */
export function randomize(channel, category, nextWord) {
  const { k, d, levels, keepThreshold, coin } = channel;
  if (!Number.isInteger(category) || category < 0 || category >= k) throw new RangeError("category must be an integer from 0 to k - 1");
  const kept = nextWord() < keepThreshold;
  if (levels !== undefined) return outputNear(channel, category, kept, nextWord);
  const others = choose(d, k - 1, nextWord, coin, kept);
  const bits = new Uint8Array(k);
  bits.set(others.subarray(0, category));
  bits[category] = kept ? 1 : 0;
  bits.set(others.subarray(category), category + 1);
  return bits;
}

/** The bits of a report through a window: a place in it and one outside are drawn, and `kept`, the coin, chooses. */
function outputNear({ outputs, inside, outside, levels, coin }, category, kept, nextWord) {
  const first = category < levels ? category : outside;
  const near = first + uniformBelow(inside, coin, nextWord);
  const draw = uniformBelow(outside, coin, nextWord);
  const far = draw < first ? draw : draw + inside;
  const place = kept ? near : far;
  const bits = new Uint8Array(outputs);
  bits[place < outputs ? place : outputs - 1] = 1;
  return bits;
}

/**
 * A uniform subset of `size` among `of` things, as a Uint8Array of 0 and 1; of one thing less if `oneLess`.
 *
 * Floyd's sampling; without its first step it is Floyd's sampling of one less, so that as many words are drawn for both.
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

/** A uniform integer in [0, bound), by rejection; one possible value takes no word. */
function uniformBelow(bound, coin, nextWord) {
  if (bound === 1) return 0;
  const largest = coin - (coin % bound) - 1;
  let draw = nextWord();
  while (draw > largest) draw = nextWord();
  return draw % bound;
}

/** A `nextWord` that asks the browser's cryptographic generator. Throws where there is none: nothing else will do. */
export function cryptoWords() {
  const source = globalThis.crypto;
  if (typeof source?.getRandomValues !== "function") throw new Error("this browser must have a cryptographic random generator, got none");
  const words = new Uint32Array(256); // one call for many words: a call takes far longer than a coin
  let used = words.length;
  return () => {
    if (used === words.length) {
      source.getRandomValues(words);
      used = 0;
    }
    const word = words[used];
    words[used] = 0; // a word that decided something is kept no longer than it takes
    used += 1;
    return word;
  };
}

/** Which questions this device draws, independently of every answer; twin of `sampling.py`. As a Uint8Array of 0 and 1; undefined where all are. */
export function draw({ ask, blocks, questions }, nextWord) {
  if (ask === undefined) return undefined;
  const drawn = choose(ask, blocks.length, nextWord);
  const asked = new Uint8Array(questions.length);
  for (const [number, block] of blocks.entries()) for (const question of block) asked[question] = drawn[number];
  return asked;
}
