/**
 * From a perturbed envelope to the server's word that it is kept, and what this device keeps meanwhile and afterwards.
 *
 * One entry a survey: which questions it drew, the perturbed envelope until the server has acknowledged it, and after that only
 * how much privacy it took. Browsers write such entries to files in which what was removed can stay for a while, so the code that
 * erases a record is never among them. The envelope is kept before the first attempt, and every
 * attempt sends those bytes: fresh noise on the same answers would average away. Nothing that is kept here is true.
 */

export const PREFIX = "deniable:";
const PAUSES = [1000, 2000, 4000]; // milliseconds before the second, third and fourth attempt
const LONGEST_PAUSE = 30000; // milliseconds that a server may ask for
const PATIENCE = 20000; // milliseconds for one attempt
const GLANCE = 5000; // milliseconds that somebody waits to hear whether an invitation is good
const AGAIN = new Set([408, 425, 429]); // and whatever is no refusal: from 500 on, those of proxies too

/** The server said no; the message is its own, and `rule` the one that was broken. */
export class RejectedError extends Error {
  name = "RejectedError";

  constructor(rule, message, refusal) {
    super(message);
    this.rule = rule;
    this.refusal = refusal; // the status of a reply that is not in the server's own words
  }
}

/** The server could not be reached, or kept failing: `status` is that of its last reply, undefined where there was none. */
export class DeliveryError extends Error {
  name = "DeliveryError";

  constructor(status) {
    super(status ? `the server answered with status ${status}` : "the server could not be reached");
    this.status = status;
  }
}

/** Something on the way has answered in the server's place, as networks do that want a login. */
export class ForeignReplyError extends Error {
  name = "ForeignReplyError";
}

/** The published definition, as bytes. Throws DeliveryError, and ForeignReplyError for a page in its place. */
export async function download(url) {
  // As the page has asked for it already: with other credentials, or a cache that is forbidden, it would be asked for twice. The reply forbids caches.
  const reply = await replyTo(fetch(url, { credentials: "same-origin", referrerPolicy: "no-referrer" }), (given) => given.arrayBuffer());
  if (!reply?.ok) throw new DeliveryError(reply?.status);
  const bytes = new Uint8Array(reply.body);
  if (/^\s*</.test(new TextDecoder().decode(bytes.subarray(0, 200)))) throw new ForeignReplyError("the reply must be a definition, got a page");
  return bytes;
}

/**
 * Sends an envelope until the server acknowledges it, a few times at most; `onPause(attempt)` hears of each repetition.
 * Throws RejectedError or DeliveryError.
 */
export async function deliver(url, envelope, onPause) {
  for (let attempt = 0; ; attempt += 1) {
    const reply = await post(url, envelope);
    if (accepted(reply)) return;
    const refused = reply?.ok ? undefined : reply;
    if (refused && refused.status < 500 && !AGAIN.has(refused.status)) throw rejection(refused);
    if (attempt === PAUSES.length) throw new DeliveryError(refused?.status);
    onPause(attempt + 2);
    await new Promise((resolve) => setTimeout(resolve, pause(attempt, refused?.headers.get("Retry-After"))));
  }
}

/** Whether a reply is the server's word that it has the record. A network's login page is none, whatever its status. */
function accepted(reply) {
  try {
    return reply?.ok === true && JSON.parse(reply.body).accepted === 1;
  } catch {
    return false;
  }
}

/**
 * Whether an invitation can be used; spends nothing. `code` is in base64url. False only where the server says so: where it says
 * nothing, the record will show.
 */
export async function usable(url, code) {
  const reply = await post(url, JSON.stringify({ code }), GLANCE);
  try {
    return !reply?.ok || JSON.parse(reply.body).usable !== false;
  } catch {
    return true;
  }
}

/** Milliseconds before the next attempt: as long as the server asks for, in seconds, but no less than ours. */
export function pause(attempt, asked) {
  const wanted = /^[0-9]{1,6}$/.test(asked ?? "") ? Number(asked) * 1000 : 0;
  return Math.max(PAUSES[attempt], Math.min(wanted, LONGEST_PAUSE));
}

/** One attempt; undefined where no reply came. */
async function post(url, envelope, most = PATIENCE) {
  const patience = new AbortController(); // and no AbortSignal.timeout, which phones up to 2022 do not have
  const timer = setTimeout(() => patience.abort(), most);
  const sent = fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: envelope,
    credentials: "omit",
    cache: "no-store",
    referrerPolicy: "no-referrer",
    redirect: "error",
    signal: patience.signal,
  });
  try {
    return await replyTo(sent, (reply) => reply.text());
  } finally {
    clearTimeout(timer);
  }
}

/** The {ok, status, headers, body} of a reply that is under way; undefined where none comes. Only the network's errors end up here. */
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
    // no problem in JSON, so no reply of the server's
  }
  return new RejectedError("status", `it answered with status ${status}`, status);
}

/** A storage that is gone with the page, for browsers that keep nothing. */
export class Memory {
  #kept = new Map();

  get length() {
    return this.#kept.size;
  }

  key(index) {
    return [...this.#kept.keys()][index] ?? null;
  }

  getItem(key) {
    return this.#kept.get(key) ?? null;
  }

  setItem(key, text) {
    this.#kept.set(key, text);
  }

  removeItem(key) {
    this.#kept.delete(key);
  }
}

/** This device's entry for the survey with this digest. */
export class Device {
  #key;
  #storage;
  #before; // what the records of others on this device took, where another person answers now

  /** Throws where the browser lets the page keep nothing. */
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

  /** Writes an entry and reads it back: what is not kept must not be sent. */
  #keep(entry) {
    const text = JSON.stringify(entry);
    this.#storage.setItem(this.#key, text);
    if (this.#storage.getItem(this.#key) !== text) throw new Error("the browser did not keep the entry");
  }

  /** Which questions this device asks: what `draw` gave it the first time, so that a reload asks no others; undefined for all. */
  asked(draw) {
    const kept = this.#entry.asked;
    if (kept) return Uint8Array.from(kept);
    const drawn = draw();
    if (drawn) this.#keep({ ...this.#entry, asked: [...drawn] });
    return drawn;
  }

  /** The envelope that waits to be sent; undefined where none waits. */
  get waiting() {
    return this.#entry.envelope;
  }

  /** Whether this device's envelope has been acknowledged, for the person who answers now. */
  get answered() {
    const { epsilon, envelope } = this.#entry;
    return epsilon !== undefined && envelope === undefined && epsilon !== this.#before;
  }

  /** Lets another person answer on this device, with a record of their own beside those that have arrived. */
  letAnotherAnswer() {
    this.#before = this.#entry.epsilon;
  }

  /** Keeps an envelope and what it gives away, until it is acknowledged; what others gave away here is added. Throws where that fails. */
  keep({ envelope, epsilon }) {
    this.#keep({ envelope, epsilon: (this.#before ?? 0) + epsilon });
  }

  /** Whether what is kept outlives the page. */
  get lasts() {
    return !(this.#storage instanceof Memory);
  }

  /** Writes something else beside or in the place of the envelope that waits, or nothing where another window has removed it. */
  #amend(changes) {
    if (this.waiting) this.#keep({ ...this.#entry, ...changes });
  }

  /** Replaces the envelope that waits by one with the same record and another invitation. */
  amend(envelope) {
    this.#amend({ envelope });
  }

  /** Whether the envelope stays here until its owner says otherwise: the server has not counted it, and they were told so. */
  get held() {
    return this.#entry.held === true;
  }

  /** Keeps the envelope from going out by itself, or lets it go again. */
  hold(held) {
    this.#amend({ held });
  }

  /** The server has it: what it took stays, the envelope goes. */
  settle() {
    if (this.waiting) this.#keep({ epsilon: this.#entry.epsilon });
  }

  /** Removes this survey's entry, and those of all other surveys whose envelopes have arrived. */
  forget() {
    this.#storage.removeItem(this.#key);
    for (const [key, { envelope }] of entries(this.#storage)) if (envelope === undefined) this.#storage.removeItem(key);
  }

  /** What this device has sent to this server: how many surveys, and the sum of their epsilons; `others` leaves this one out. */
  spent({ others = false } = {}) {
    const found = entries(this.#storage).filter(([key, { epsilon }]) => epsilon !== undefined && !(others && key === this.#key));
    return { surveys: found.length, epsilon: found.reduce((sum, [, { epsilon }]) => sum + epsilon, 0) };
  }
}

function entries(storage) {
  const keys = Array.from({ length: storage.length }, (_, index) => storage.key(index)).filter((key) => key.startsWith(PREFIX));
  return keys.map((key) => [key, JSON.parse(storage.getItem(key))]);
}
