/**
 * Asking fewer questions: this device draws which, independently of every answer, and says which it drew.
 *
 * The twin of `sampling.py`.
 */

import { choose } from "./randomize.mjs";

/** Which questions are asked, as a Uint8Array of 0 and 1; undefined where all are. */
export function draw({ ask, blocks, questions }, nextWord) {
  if (ask === undefined) return undefined;
  const drawn = choose(ask, blocks.length, nextWord);
  const asked = new Uint8Array(questions.length);
  for (const [number, block] of blocks.entries()) for (const question of block) asked[question] = drawn[number];
  return asked;
}
