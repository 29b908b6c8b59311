/**
 * Delivery of the perturbed envelope, exactly once, and this device's entry for a survey.
 *
 * An entry has the sampled questions and tokens, the envelope until the server has acknowledged it, and afterwards only the privacy loss.
 * Removed entries can stay in browsers' files for a while, so the withdrawal code is never in one. The envelope is stored before the first attempt,
 * and every attempt sends the same bytes: repeated noise on the same answers would average out. No entry has a true answer.
 */

import { RefusedError } from "./definition.mjs";
import { t } from "./language.mjs";

export const PREFIX = "deniable:";
export const traffic = {}; // `hasCode`: whether an invitation code was sent
const PAUSES = [1000, 2000, 4000]; // milliseconds before the second, third and fourth attempt
const LONGEST_PAUSE = 30000; // milliseconds that a server may ask for
const TIMEOUT = 20000; // milliseconds for one attempt
const EXCHANGE_TIMEOUT = 5000; // milliseconds for the exchange of an invitation
const RETRY_STATUSES = new Set([408, 425, 429]); // and every status from 500 on, proxies' included

/** The server has refused the record. `rule` names the broken rule; the message is the server's. */
export class RejectedError extends Error {
  name = "RejectedError";

  constructor(rule, message, refusal) {
    super(message);
    this.rule = rule;
    this.refusal = refusal; // the status of a reply without the server's own message
  }
}

/** The server was unreachable or kept failing. `status`: its last reply's status, or undefined. */
export class DeliveryError extends Error {
  name = "DeliveryError";

  constructor(status) {
    super(status ? `the server answered with status ${status}` : "the server could not be reached");
    this.status = status;
  }
}

/** Another machine has answered for the server, such as a network's login page. */
export class ForeignReplyError extends Error {
  name = "ForeignReplyError";
}

/** Downloads a file of the server, such as a published definition: {bytes, headers}. Throws DeliveryError, or ForeignReplyError if the reply is an HTML page. */
export async function download(url) {
  // The same options as the page's preload: other ones would download it twice. The reply forbids caching.
  const reply = await replyTo(fetch(url, { credentials: "same-origin", referrerPolicy: "no-referrer" }), (response) => response.arrayBuffer());
  if (!reply?.ok) throw new DeliveryError(reply?.status);
  const bytes = new Uint8Array(reply.body);
  if (/^\s*</.test(new TextDecoder().decode(bytes.subarray(0, 200)))) throw new ForeignReplyError("the reply must be a definition, got a page");
  return { bytes, headers: reply.headers };
}

/**
 * Sends an envelope until the server acknowledges it, at most a few times. Calls `onPause(attempt)` before each retry. Throws RejectedError
 * or DeliveryError.
 */
export async function deliver(url, envelope, onPause) {
  for (let attempt = 0; ; attempt += 1) {
    const reply = await post(url, envelope);
    if (isAccepted(reply)) return;
    const refused = reply?.ok ? undefined : reply;
    if (refused && refused.status < 500 && !RETRY_STATUSES.has(refused.status)) throw rejection(refused);
    if (attempt === PAUSES.length) throw new DeliveryError(refused?.status);
    onPause(attempt + 2);
    await new Promise((resolve) => setTimeout(resolve, pause(attempt, refused?.headers.get("Retry-After"))));
  }
}

/** Returns whether a reply acknowledges the record. A network's login page does not, whatever its status. */
function isAccepted(reply) {
  try {
    return reply?.ok === true && JSON.parse(reply.body).accepted === 1;
  } catch {
    return false;
  }
}

/**
 * Asks for the signature on a blinded token: {code, blinded}, in base64url. Resolves to undefined if the server cannot be reached. Throws
 * RejectedError if it refuses the code.
 */
export async function requestSignature(url, request) {
  traffic.hasCode = true;
  const reply = await post(url, JSON.stringify(request), EXCHANGE_TIMEOUT);
  try {
    const { signature, rule, detail } = JSON.parse(reply.body);
    if (reply.ok && /^[\w-]{342}$/.test(signature)) return signature;
    if (!reply.ok && reply.status < 500 && !RETRY_STATUSES.has(reply.status) && rule && detail) throw new RejectedError(rule, detail);
  } catch (error) {
    if (error instanceof RejectedError) throw error; // else no reply of the server's
  }
  return undefined;
}

/** Returns the milliseconds before the next attempt: the server's Retry-After in seconds, but at least our own pause. */
export function pause(attempt, retryAfter) {
  const milliseconds = /^[0-9]{1,6}$/.test(retryAfter ?? "") ? Number(retryAfter) * 1000 : 0;
  return Math.max(PAUSES[attempt], Math.min(milliseconds, LONGEST_PAUSE));
}

/** Makes one attempt. Resolves to undefined if there is no reply. */
async function post(url, envelope, timeout = TIMEOUT) {
  const controller = new AbortController(); // not AbortSignal.timeout, which phones lack up to 2022
  const timer = setTimeout(() => controller.abort(), timeout);
  const sent = fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: envelope,
    credentials: "omit",
    cache: "no-store",
    referrerPolicy: "no-referrer",
    redirect: "error",
    signal: controller.signal,
  });
  try {
    return await replyTo(sent, (reply) => reply.text());
  } finally {
    clearTimeout(timer);
  }
}

/** Reads {ok, status, headers, body} of a pending reply. Resolves to undefined on a network error only. */
async function replyTo(request, read) {
  const reply = await request.catch(() => undefined);
  if (!reply) return undefined;
  const { ok, status, headers } = reply;
  return read(reply).then((body) => ({ ok, status, headers, body }), () => undefined);
}

function rejection({ status, body }) {
  try {
    const { rule, detail } = JSON.parse(body);
    if (rule && detail) return new RejectedError(rule, detail);
  } catch {
    // not the server's own error format
  }
  return new RejectedError("status", `it answered with status ${status}`, status);
}

/** In-memory storage, for browsers that store nothing. */
export class Memory {
  #entries = new Map();

  get length() {
    return this.#entries.size;
  }

  key(index) {
    return [...this.#entries.keys()][index] ?? null;
  }

  getItem(key) {
    return this.#entries.get(key) ?? null;
  }

  setItem(key, text) {
    this.#entries.set(key, text);
  }

  removeItem(key) {
    this.#entries.delete(key);
  }
}

/** This device's entry for the survey with this digest. */
export class Device {
  #key;
  #storage;
  #before; // the loss of earlier respondents' records on this device

  /** Throws if the browser lets the page store nothing. */
  constructor(digest, storage = localStorage) {
    this.#key = PREFIX + digest;
    this.#storage = storage;
    const probe = `${PREFIX}probe`;
    storage.setItem(probe, "");
    if (storage.getItem(probe) !== "") throw new Error("the browser did not keep the entry");
    storage.removeItem(probe);
  }

  get #entry() {
    return JSON.parse(this.#storage.getItem(this.#key) ?? "{}");
  }

  /** Writes an entry and reads it back: a record that is not stored must not be sent. */
  #keep(entry) {
    const text = JSON.stringify(entry);
    this.#storage.setItem(this.#key, text);
    if (this.#storage.getItem(this.#key) !== text) throw new Error("the browser did not keep the entry");
  }

  /** Returns the sampled questions, or undefined for all. Calls `draw` only the first time, so that a reload asks the same ones. */
  sample(draw) {
    const { asked } = this.#entry;
    if (asked) return Uint8Array.from(asked);
    const drawn = draw();
    if (drawn) this.#keep({ ...this.#entry, asked: [...drawn] });
    return drawn;
  }

  /** The envelope to be sent, or undefined. */
  get waiting() {
    return this.#entry.envelope;
  }

  /** Whether the current respondent's envelope has been acknowledged. */
  get isAnswered() {
    const { epsilon, envelope } = this.#entry;
    return epsilon !== undefined && envelope === undefined && epsilon !== this.#before;
  }

  /** Lets another person answer on this device, with a record of their own. */
  letAnotherAnswer() {
    this.#before = this.#entry.epsilon;
  }

  /**
   * Stores an envelope until it is acknowledged, and adds its privacy loss to earlier ones. Throws if that fails. `name`: its token's; `code`:
   * the invitation code in base64url, if it is not exchanged yet.
   */
  keep({ envelope, epsilon, name, code }) {
    this.#keep({ envelope, epsilon: (this.#before ?? 0) + epsilon, code, tokens: code ? this.#entry.tokens : this.#without(name) });
  }

  /** Returns the token of this name, or undefined: {nonce, blinded, inverse} until it is signed, then {nonce, signature}. */
  token(name) {
    return this.#entry.tokens?.[name];
  }

  /** Stores a token under a name. */
  keepToken(name, token) {
    this.#keep({ ...this.#entry, tokens: { ...this.#entry.tokens, [name]: token } });
  }

  /** Whether a code was used on this device without a record yet. */
  get hasToken() {
    return this.#entry.tokens !== undefined;
  }

  /** Returns the tokens except one, or undefined if there are no others. */
  #without(name) {
    const others = Object.entries(this.#entry.tokens ?? {}).filter(([other]) => other !== name);
    return others.length ? Object.fromEntries(others) : undefined;
  }

  /** The invitation code of the envelope, in base64url, if it is not exchanged yet. */
  get code() {
    return this.#entry.code;
  }

  /** Adds the token of this name to the envelope, in place of the code. */
  admit(name, token) {
    this.#amend({ envelope: JSON.stringify({ ...JSON.parse(this.waiting), token }), code: undefined, tokens: this.#without(name) });
  }

  /** Replaces the envelope's code, or its token by a code. */
  invite(code) {
    this.#amend({ envelope: JSON.stringify({ ...JSON.parse(this.waiting), token: undefined }), code });
  }

  /** Whether the entry outlives the page. */
  get isLasting() {
    return !(this.#storage instanceof Memory);
  }

  /** Changes the entry, unless another window has removed its envelope. */
  #amend(changes) {
    if (this.waiting) this.#keep({ ...this.#entry, ...changes });
  }

  /** Whether the envelope waits for the respondent's decision, because the server has not counted it. */
  get isHeld() {
    return this.#entry.held === true;
  }

  /** Holds the envelope back, or releases it. */
  hold(held) {
    this.#amend({ held });
  }

  /** Removes the acknowledged envelope and keeps its privacy loss. */
  settle() {
    const { epsilon, tokens } = this.#entry;
    if (this.waiting) this.#keep({ epsilon, tokens });
  }

  /** Removes this survey's entry, and the entries of all surveys without a waiting envelope. */
  forget() {
    this.#storage.removeItem(this.#key);
    for (const [key, { envelope }] of entries(this.#storage)) if (envelope === undefined) this.#storage.removeItem(key);
  }

  /** Returns how many surveys this device has sent records to, and the sum of their epsilons. `others`: without this survey. */
  spent({ others = false } = {}) {
    const spent = entries(this.#storage).filter(([key, { epsilon }]) => epsilon !== undefined && !(others && key === this.#key));
    return { surveys: spent.length, epsilon: spent.reduce((sum, [, { epsilon }]) => sum + epsilon, 0) };
  }
}

/** Runs an action on a storage that may have disappeared or be full. Throws RefusedError. */
export function guardStorage(action) {
  try {
    return action();
  } catch {
    throw new RefusedError(t("this browser no longer lets the page keep your record until it has arrived. Allow site data for this page, then reload it"));
  }
}

function entries(storage) {
  const keys = Array.from({ length: storage.length }, (_, index) => storage.key(index)).filter((key) => key.startsWith(PREFIX));
  return keys.map((key) => [key, JSON.parse(storage.getItem(key))]);
}
