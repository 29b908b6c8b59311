/**
 * From a perturbed envelope to the server's word that it is kept. The envelope is stored on this device before the first
 * attempt, and every attempt sends those bytes: fresh noise on the same answers would average away.
 */

const PAUSES = [1000, 2000, 4000]; // milliseconds before the second, third and fourth attempt
const PATIENCE = 20000; // milliseconds for one attempt
const AGAIN = new Set([408, 429, 500, 502, 503, 504, 507]);

/** The server said no; the message is its own. */
export class RejectedError extends Error {
  name = "RejectedError";
}

/** The server could not be reached, or kept failing. The envelope waits on this device. */
export class DeliveryError extends Error {
  name = "DeliveryError";
}

/** What this device keeps about one survey: which questions it drew, an envelope that waits, or the mark that it has answered. Nothing else. */
export class Outbox {
  #waiting;
  #answered;
  #asked;

  /** Throws where the browser lets the page keep nothing. */
  constructor(digest) {
    this.#waiting = `deniable:waiting:${digest}`;
    this.#answered = `deniable:answered:${digest}`;
    this.#asked = `deniable:asked:${digest}`;
    localStorage.setItem("deniable:probe", "");
    localStorage.removeItem("deniable:probe");
  }

  /** Which questions this device asks: what `draw` gave it the first time, so that a reload asks no others; undefined for all. */
  asked(draw) {
    const kept = localStorage.getItem(this.#asked);
    if (kept !== null) return Uint8Array.from(JSON.parse(kept));
    const drawn = draw();
    if (drawn !== undefined) localStorage.setItem(this.#asked, JSON.stringify([...drawn]));
    return drawn;
  }

  /** The envelope that waits to be sent, or null. */
  get waiting() {
    return localStorage.getItem(this.#waiting);
  }

  /** Whether this device's envelope has been acknowledged. */
  get answered() {
    return localStorage.getItem(this.#answered) !== null;
  }

  /** Keeps an envelope until it is acknowledged. Throws where that fails: what is not kept must not be sent. */
  keep(envelope) {
    localStorage.setItem(this.#waiting, envelope);
    if (this.waiting !== envelope) throw new Error("the browser did not keep the envelope");
  }

  /** The server has it: the mark stays, the envelope and the draw go. */
  settle() {
    localStorage.setItem(this.#answered, "yes");
    localStorage.removeItem(this.#waiting);
    localStorage.removeItem(this.#asked);
  }
}

/**
 * Sends an envelope until the server acknowledges it, a few times at most; `onPause(attempt)` hears of each repetition.
 * Throws RejectedError or DeliveryError.
 */
export async function deliver(url, envelope, onPause) {
  for (let attempt = 0; ; attempt += 1) {
    const reply = await post(url, envelope);
    if (reply?.ok) return;
    if (reply && !AGAIN.has(reply.status)) throw new RejectedError(await messageOf(reply));
    if (attempt === PAUSES.length) throw new DeliveryError("the server could not be reached");
    onPause(attempt + 2);
    await new Promise((resolve) => setTimeout(resolve, PAUSES[attempt]));
  }
}

/** One attempt; undefined where no reply came. */
async function post(url, envelope) {
  try {
    return await fetch(url, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: envelope,
      credentials: "omit",
      cache: "no-store",
      referrerPolicy: "no-referrer",
      redirect: "error",
      signal: AbortSignal.timeout(PATIENCE),
    });
  } catch {
    return undefined;
  }
}

async function messageOf(reply) {
  try {
    return (await reply.json()).error.message;
  } catch {
    return `it answered with status ${reply.status}`;
  }
}
