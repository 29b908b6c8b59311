/**
 * From a perturbed envelope to the server's word that it is kept. The envelope is stored on this device before the first
 * attempt, and every attempt sends those bytes: fresh noise on the same answers would average away.
 */

const PAUSES = [1000, 2000, 4000]; // milliseconds before the second, third and fourth attempt
const PATIENCE = 20000; // milliseconds for one attempt
const AGAIN = new Set([408, 429, 500, 502, 503, 504, 507]);

/** The server said no; the message is its own, and `rule` the one that was broken. */
export class RejectedError extends Error {
  name = "RejectedError";

  constructor(rule, message) {
    super(message);
    this.rule = rule;
  }
}

/** The server could not be reached, or kept failing. The envelope waits on this device. */
export class DeliveryError extends Error {
  name = "DeliveryError";
}

/**
 * Sends an envelope until the server acknowledges it, a few times at most; `onPause(attempt)` hears of each repetition.
 * Throws RejectedError or DeliveryError.
 */
export async function deliver(url, envelope, onPause) {
  for (let attempt = 0; ; attempt += 1) {
    const reply = await post(url, envelope);
    if (reply?.ok) return;
    if (reply && !AGAIN.has(reply.status)) throw await rejection(reply);
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

async function rejection(reply) {
  try {
    const { rule, message } = (await reply.json()).error;
    return new RejectedError(rule, message);
  } catch {
    return new RejectedError("status", `it answered with status ${reply.status}`);
  }
}
