/**
 * Six-word fingerprint, for people to compare by eye or voice: 48 bits, where each guess costs 2^18 rounds.
 *
 * Twin: `wire/six_words.py`, which explains the strength. The page's own words come from its script's integrity hash, which the browser has
 * verified. A dishonest page can show any words.
 */

import { fill } from "./page.mjs";

const SALT = "deniable six words";
const ROUNDS = 2 ** 18;
export const WORDS = [
  "acorn actor alarm album amber anchor angle apple april army arrow artist atlas august autumn bacon badge baker balcony",
  "banana barn basket beach bell berry bicycle bird blanket boat bottle bowl box branch bread bridge broom bucket butter cake",
  "camel candle carpet castle chair cherry circle city clay clock coffee cotton crab crown cube cup daisy dance deer desert",
  "diamond dinner doctor dog dolphin donkey door dragon drum duck eagle earth east echo eight elbow elephant engine envelope",
  "evening fabric family farm feather fence field finger fire fish flag flute forest frame friend frog fruit galaxy garden gate",
  "giraffe glass globe gold goose grape green guitar hammer harbor hat hawk heart helmet hill hockey honey horse hotel hundred",
  "iron island jacket january jelly juice jungle kettle key king kitchen ladder lamp lantern laptop leaf lemon letter library",
  "lion lizard lunch machine marble mask melon metal milk mirror moon morning mountain museum nail napkin nature needle nest",
  "nine north nose november ocean october office olive onion orange orchard oven paint palace panda paper park pencil pepper",
  "piano picnic pilot pizza planet plum pocket pond potato pumpkin puzzle pyramid quarter queen rabbit radio rain ribbon rice",
  "river robot roof ruby sailor salad sand school seven shadow sheep ship shoe silver six sky snow soap sofa spoon square stone",
  "sugar summer swan table tea temple tent three tiger tomato tooth tower trumpet tulip tunnel turtle twelve umbrella uniform",
  "valley vase village violin voice volcano water wave whale wheat window wolf wood worker yacht yard yellow yogurt zebra zero",
  "zoo",
].join(" ").split(" ");

/** Returns the words of a fingerprint: a survey's digest in hexadecimal, or a script's integrity hash. */
export async function sixWords(fingerprint) {
  const { subtle } = globalThis.crypto;
  const ascii = (text) => new TextEncoder().encode(text);
  const key = await subtle.importKey("raw", ascii(fingerprint), "PBKDF2", false, ["deriveBits"]);
  const derived = await subtle.deriveBits({ name: "PBKDF2", hash: "SHA-256", salt: ascii(SALT), iterations: ROUNDS }, key, 48);
  return Array.from(new Uint8Array(derived), (byte) => WORDS[byte]).join(" ");
}

/** Computes the words of the survey and of the script when the reader unfolds them: a slow phone takes a second. */
export function offerWords(step, digest) {
  const details = step.querySelector("details.six-words");
  details.ontoggle = async () => {
    details.ontoggle = null;
    const own = document.querySelector("script[type=module][integrity]")?.integrity;
    fill(details, { surveyWords: await sixWords(digest), scriptWords: own ? await sixWords(own) : null });
  };
}
