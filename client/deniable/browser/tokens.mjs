/**
 * Exchange of an invitation code for a token, once. Twin: `wire/tokens.py` and `delivery/tokens.py`.
 *
 * A token is drawn and stored on this device before the server signs it, so a lost reply or a reload costs nothing. Only this device can
 * finish it: the server never learns which record a code became.
 */

import { blind, bytesOf, finalize, numberOf, sizeOf } from "./blind_rsa.mjs";
import { RefusedError } from "./definition.mjs";
import { guardStorage, requestSignature } from "./delivery.mjs";
import { t } from "./language.mjs";
import { base64url, fromBase64url } from "./submission.mjs";

const NONCE_BYTES = 32;
const SALT_BYTES = 48;

/** The tokens of a survey by invitation on this device. */
export class Tokens {
  #context;

  /** `context`: of the page, with `exchange` (an address), `definition` and `device`. */
  constructor(context) {
    this.#context = context;
  }

  /**
   * Returns the token {nonce, signature} of a code, in base64url. Resolves to undefined if the server cannot be reached. Throws RejectedError
   * if it refuses the code, and RefusedError if it signs with another key.
   */
  async exchange(code) {
    const { exchange, definition: { digest }, device } = this.#context;
    const name = await nameOf(digest, code);
    const stored = device.token(name) ?? (await this.#draw());
    const { nonce, blinded, inverse, signature } = stored;
    if (signature) return { nonce, signature };
    guardStorage(() => device.keepToken(name, stored));
    const signed = await requestSignature(exchange, { code: base64url(code), blinded });
    if (signed === undefined) return undefined;
    const token = { nonce, signature: this.#finish(blinded, signed, inverse) };
    guardStorage(() => device.keepToken(name, token));
    return token;
  }

  /** Returns the signed token of a code, with its name on this device, or the name alone. */
  async find(code) {
    const { definition: { digest }, device } = this.#context;
    const name = await nameOf(digest, code);
    const { nonce, signature } = device.token(name) ?? {};
    return { name, token: signature && { nonce, signature } };
  }

  get #modulus() {
    return numberOf(fromBase64url(this.#context.definition.survey.issuer));
  }

  async #draw() {
    const modulus = this.#modulus;
    const nonce = randomBytes(NONCE_BYTES);
    const text = new TextEncoder().encode(`deniable token\n${this.#context.definition.digest}`);
    const { blinded, inverse } = await blind(modulus, Uint8Array.of(...nonce, ...text), randomBytes(SALT_BYTES), randomBelow(modulus));
    return { nonce: base64url(nonce), blinded: write(blinded, modulus), inverse: write(inverse, modulus) };
  }

  #finish(blinded, signed, inverse) {
    const [modulus, ...values] = [this.#modulus, ...[blinded, signed, inverse].map((text) => numberOf(fromBase64url(text)))];
    try {
      return write(finalize(modulus, ...values), modulus);
    } catch {
      throw new RefusedError(t("the server must sign your invitation with the key of this survey, got something else"));
    }
  }
}

function write(value, modulus) {
  return base64url(bytesOf(value, sizeOf(modulus)));
}

/** Returns the name of a code's token on this device, from which the code cannot be found. */
async function nameOf(digest, code) {
  const text = new TextEncoder().encode(`deniable code\n${digest}\n`);
  return base64url(new Uint8Array(await crypto.subtle.digest("SHA-256", Uint8Array.of(...text, ...code))).subarray(0, 16));
}

function randomBytes(count) {
  return crypto.getRandomValues(new Uint8Array(count));
}

/** Draws a uniform number from 1 to below the modulus. */
function randomBelow(modulus) {
  for (;;) {
    const value = numberOf(randomBytes(sizeOf(modulus)));
    if (value > 0n && value < modulus) return value;
  }
}
