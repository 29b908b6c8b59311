/**
 * Writes blind_rsa.json: the vectors of RFC 9474, Appendix A, and others by an independent implementation, @cloudflare/blindrsa-ts 0.4.4.
 *
 * It shares no code with the project. Keys and random bytes are new on every run, so the file is written once and kept.
 *
 * Run: npm install @cloudflare/blindrsa-ts@0.4.4 && node make_blind_rsa_vectors.mjs RFC_VECTORS.json > blind_rsa.json
 * RFC_VECTORS.json: the RFC's values, as the implementation's repository has them (test/testdata/test_vectors_rfc9474.json).
 */

import { readFileSync } from "node:fs";
import { RSABSSA } from "@cloudflare/blindrsa-ts";

const KEYS = 4;
const MESSAGES = 6; // with each key
const hex = (bytes) => Buffer.from(bytes).toString("hex");
const fromJwk = (text) => hex(Buffer.from(text, "base64url"));
const even = (text) => text.replace("0x", "").padStart(2 * Math.ceil(text.replace("0x", "").length / 2), "0");

/** The random bytes that the implementation draws, in order. */
const drawn = [];
const draw = crypto.getRandomValues.bind(crypto);
crypto.getRandomValues = (array) => {
  draw(array);
  drawn.push(Uint8Array.from(array));
  return array;
};

function ofRfc({ name, p, q, d, n, input_msg, salt, inv, blinded_msg, blind_sig, sig, sLen }) {
  const [private_key, valid] = [{ p: even(p), q: even(q), d: even(d) }, Number(sLen) === 48];
  const values = { modulus: even(n), message: even(input_msg), salt: even(salt), inverse: even(inv), blinded: even(blinded_msg) };
  return { name: `RFC 9474, ${name}`, valid, private_key, ...values, blind_signature: even(blind_sig), signature: even(sig) };
}

async function ofImplementation(suite, { publicKey, privateKey }, key, index) {
  const [jwk, secret] = await Promise.all([publicKey, privateKey].map((each) => crypto.subtle.exportKey("jwk", each)));
  const message = suite.prepare(new TextEncoder().encode(`message ${index}`));
  drawn.length = 0;
  const { blindedMsg, inv } = await suite.blind(publicKey, message);
  const salt = drawn.find(({ length }) => length === 48);
  const signed = await suite.blindSign(privateKey, blindedMsg);
  const signature = await suite.finalize(publicKey, message, signed, inv);
  return {
    name: `key ${key}, message ${index}`,
    valid: true,
    ...(index === 0 ? { private_key: Object.fromEntries(["p", "q", "d"].map((each) => [each, fromJwk(secret[each])])) } : {}),
    ...{ modulus: fromJwk(jwk.n), message: hex(message), salt: hex(salt), inverse: hex(inv), blinded: hex(blindedMsg) },
    ...{ blind_signature: hex(signed), signature: hex(signature) },
  };
}

/** Flips one bit. */
function flipped(text, bit) {
  const bytes = Buffer.from(text, "hex");
  bytes[bit >> 3] ^= 128 >> (bit & 7);
  return hex(bytes);
}

function bad(good, other) {
  const plus = (BigInt(`0x${good.blind_signature}`) + BigInt(`0x${good.modulus}`)).toString(16);
  const both = (change) => ({ blind_signature: change(good.blind_signature), signature: change(good.signature) });
  const changes = {
    "by another key": { blind_signature: other.blind_signature, signature: other.signature },
    "the first bit of the signature": both((text) => flipped(text, 0)),
    "the last bit of the signature": both((text) => flipped(text, 2047)),
    "zero": both((text) => text.replace(/./g, "0")),
    "one": both((text) => `${text.slice(1).replace(/./g, "0")}1`),
    "one byte less": both((text) => text.slice(2)),
    "one byte more": both((text) => `00${text}`),
    ...(plus.length === good.modulus.length ? { "the signature and the modulus": both((text) => (BigInt(`0x${text}`) + BigInt(`0x${good.modulus}`)).toString(16).padStart(512, "0").slice(-512)) } : {}),
    "empty": both(() => ""),
    "the blinded message itself": { blind_signature: good.blinded, signature: good.blinded },
  };
  return Object.entries(changes).map(([name, change]) => ({ ...good, private_key: undefined, name: `bad: ${name}`, ...change, valid: false }));
}

const suite = RSABSSA.SHA384.PSS.Randomized();
const rfc = JSON.parse(readFileSync(process.argv[2], "utf-8")).map(ofRfc);
const made = [];
for (let key = 0; key < KEYS; key += 1) {
  const pair = await suite.generateKey({ publicExponent: Uint8Array.of(1, 0, 1), modulusLength: 2048 });
  for (let index = 0; index < MESSAGES; index += 1) made.push(await ofImplementation(suite, pair, key, index));
}
const cases = [...rfc, ...made, ...bad(made[0], made[MESSAGES]), ...bad(made.at(-1), made[0])];
process.stdout.write(`[\n${cases.map((each) => JSON.stringify(each)).join(",\n")}\n]\n`);
