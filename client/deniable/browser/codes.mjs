/**
 * Secret codes for people to write down: withdrawal codes and invitation codes. Twin: `wire/access_codes.py`, which describes the format.
 */

import { ID_BYTES } from "./submission.mjs";

export const SECRET_BYTES = 15;
const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const LOOKALIKES = { O: "0", I: "1", L: "1" };

/** Returns a new code: 15 random bytes. */
export function newSecret() {
  return crypto.getRandomValues(new Uint8Array(SECRET_BYTES));
}

/** Formats a code for people: seven groups of four characters. */
export async function formatCode(bytes) {
  const check = base32((await sha256(bytes)).subarray(0, 5)).slice(0, 4);
  return (base32(bytes) + check).match(/.{4}/g).join("-");
}

/** Parses a typed code into bytes. Resolves to undefined if the check characters do not match. */
export async function parseCode(text) {
  const plain = text.replace(/[\s\-\u2010-\u2015]+/g, "").toUpperCase().replace(/[OIL]/g, (letter) => LOOKALIKES[letter]);
  if (!/^[0-9A-HJKMNP-TV-Z]{28}$/.test(plain)) return undefined;
  const bits = [...plain.slice(0, 24)].map((letter) => ALPHABET.indexOf(letter).toString(2).padStart(5, "0")).join("");
  const bytes = Uint8Array.from(bits.match(/.{8}/g), (octet) => Number.parseInt(octet, 2));
  return (await formatCode(bytes)).replaceAll("-", "") === plain ? bytes : undefined;
}

/** Returns the id of the submission that a withdrawal code erases. */
export async function submissionId(bytes) {
  const prefix = new TextEncoder().encode("deniable submission\n");
  return (await sha256(Uint8Array.of(...prefix, ...bytes))).slice(0, ID_BYTES);
}

async function sha256(bytes) {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
}

/** Encodes five bits a character, most significant first. The length of `bytes` must be a multiple of five. */
function base32(bytes) {
  const bits = Array.from(bytes, (byte) => byte.toString(2).padStart(8, "0")).join("");
  return bits.match(/.{5}/g).map((five) => ALPHABET[Number.parseInt(five, 2)]).join("");
}
