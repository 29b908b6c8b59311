/**
 * Blind RSA signatures (RFC 9474, RSABSSA-SHA384-PSS-Randomized): the client's side. Twin: `wire/blind_rsa.py`, which describes it.
 *
 * Numbers are BigInts. The modulus must fill its bytes: its highest bit is set.
 */

const HASH_BYTES = 48; // of SHA-384

/** A signature is not the signer's, or a message cannot be blinded with these random values. */
export class BlindSignatureError extends Error {
  name = "BlindSignatureError";
}

/** Reads bytes as a number, the most significant byte first. */
export function numberOf(bytes) {
  return BigInt(`0x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`);
}

/** Writes a number as `size` bytes. */
export function bytesOf(value, size) {
  return Uint8Array.from(value.toString(16).padStart(2 * size, "0").match(/../g), (pair) => Number.parseInt(pair, 16));
}

/**
 * Blinds a prepared message. `salt`: 48 random bytes; `factor`: a random number from 1 to below the modulus. Resolves to {blinded, inverse},
 * two numbers. Throws BlindSignatureError if message or factor has a divisor in common with the modulus.
 */
export async function blind(modulus, message, salt, factor) {
  const encoded = numberOf(await encodePss(message, salt, sizeOf(modulus)));
  inverseOf(encoded, modulus);
  return { blinded: (encoded * verificationPower(factor, modulus)) % modulus, inverse: inverseOf(factor, modulus) };
}

/** Returns the signature, a number, without its blinding. Throws BlindSignatureError unless the signer has signed `blinded`. */
export function finalize(modulus, blinded, signature, inverse) {
  // The same as RSASSA-PSS-VERIFY of the result: `blinded` has the right encoding, for this page has made it.
  if (signature >= modulus || verificationPower(signature, modulus) !== blinded) {
    throw new BlindSignatureError("the blind signature must be a signature with the survey's key, got another value");
  }
  return (signature * inverse) % modulus;
}

/** Returns the bytes of a modulus. */
export function sizeOf(modulus) {
  return Math.ceil(modulus.toString(16).length / 2);
}

/** Returns value ** 65537 modulo the modulus. */
function verificationPower(value, modulus) {
  let power = value;
  for (let bit = 0; bit < 16; bit += 1) power = (power * power) % modulus;
  return (power * value) % modulus;
}

/** Returns the inverse modulo the modulus, by Euclid's extended algorithm. */
function inverseOf(value, modulus) {
  let [rest, next, factor, following] = [modulus, value % modulus, 0n, 1n];
  while (next > 0n) {
    const quotient = rest / next;
    [rest, next, factor, following] = [next, rest - quotient * next, following, factor - quotient * following];
  }
  if (rest !== 1n) throw new BlindSignatureError("message and factor must have no divisor in common with the modulus");
  return ((factor % modulus) + modulus) % modulus;
}

/** Returns EMSA-PSS-ENCODE of a message, RFC 8017, for a modulus of `size` bytes. */
async function encodePss(message, salt, size) {
  const seed = await sha384(Uint8Array.of(...new Uint8Array(8), ...(await sha384(message)), ...salt));
  const block = new Uint8Array(size - HASH_BYTES - 1);
  block.set([1, ...salt], block.length - salt.length - 1);
  for (let start = 0; start < block.length; start += HASH_BYTES) {
    const mask = await sha384(Uint8Array.of(...seed, 0, 0, 0, start / HASH_BYTES));
    for (const [index, byte] of mask.subarray(0, block.length - start).entries()) block[start + index] ^= byte;
  }
  block[0] &= 127;
  return Uint8Array.of(...block, ...seed, 188);
}

async function sha384(bytes) {
  return new Uint8Array(await crypto.subtle.digest("SHA-384", bytes));
}
