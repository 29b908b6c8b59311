/**
 * Requests to the server that carry no record: bounded waits and replies, retries, no cookies, no redirects. Twin: `delivery/transport.py`.
 *
 * Records are sent by `delivery.mjs` of the respondents' page.
 */

import { DeliveryError, RejectedError, pause } from "../deniable/browser/delivery.mjs";

const ATTEMPTS = 4;
const TIMEOUT = 20000; // milliseconds for one attempt
const MOST = 2 ** 21; // bytes of a reply
const RETRY_STATUSES = [408, 425, 429];

/**
 * Returns the bytes of a reply, from the first attempt whose text `isDone`. Throws RejectedError if the server refuses the request, and
 * DeliveryError if it cannot be reached.
 */
export async function request(url, isDone, options = {}) {
  for (let attempt = 1; ; attempt += 1) {
    const { ok, status, bytes } = await once(url, options);
    if (ok && isDoneWith(bytes, isDone)) return bytes;
    if (!ok && status < 500 && !RETRY_STATUSES.includes(status)) throw rejection(status, bytes);
    if (attempt === ATTEMPTS) throw new DeliveryError(ok ? undefined : status);
    await new Promise((resolve) => setTimeout(resolve, pause(attempt - 1)));
  }
}

/** Makes one attempt. Resolves to an empty object if there is no whole reply. */
async function once(url, options) {
  const signal = AbortSignal.timeout(TIMEOUT);
  try {
    const reply = await fetch(url, { credentials: "omit", cache: "no-store", referrerPolicy: "no-referrer", redirect: "error", signal, ...options });
    return { ok: reply.ok, status: reply.status, bytes: await bounded(reply.body) };
  } catch {
    return {};
  }
}

/** Reads a body of at most MOST bytes. Throws RangeError for a longer one. */
async function bounded(body) {
  const chunks = [];
  let size = 0;
  for (const reader = body?.getReader(); reader; ) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > MOST) throw new RangeError(`a reply must be at most ${MOST} bytes`);
    chunks.push(value);
  }
  const bytes = new Uint8Array(size);
  chunks.reduce((start, chunk) => (bytes.set(chunk, start), start + chunk.length), 0);
  return bytes;
}

function isDoneWith(bytes, isDone) {
  try {
    return isDone(new TextDecoder().decode(bytes));
  } catch {
    return false; // not the server's own reply
  }
}

function rejection(status, bytes) {
  try {
    const { rule, detail } = JSON.parse(new TextDecoder().decode(bytes));
    if (rule && detail) return new RejectedError(rule, detail);
  } catch {
    // not the server's own error format
  }
  const hint = status === 404 ? "; is this the address of a survey server?" : "";
  return new RejectedError("status", `the server answered with status ${status}${hint}`, status);
}
