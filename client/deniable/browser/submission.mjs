/**
 * Wire format: one respondent's record and its envelope. Twin: `wire/record.py` and `wire/submission.py`, which describe it; both produce
 * the same bytes.
 */

export const ID_BYTES = 16;

/** The bits are not a valid record of the survey. `rule` names the broken rule in one word. */
export class SubmissionError extends Error {
  name = "SubmissionError";

  constructor(rule, message) {
    super(message);
    this.rule = rule;
  }
}

/** Returns the bits of a record without padding: a mask of `masked` questions, if any, and all bits of each report except the last. */
export function recordBits(items, masked = 0) {
  return items.reduce((sum, { channel }) => sum + channel.outputs - 1, masked);
}

/** Returns the length of a record in bytes. */
export function recordBytes(items, masked = 0) {
  return Math.ceil(recordBits(items, masked) / 8);
}

/**
 * Packs each item's perturbed bits, Uint8Arrays in the survey's order, into one record.
 *
 * `sample` is the mask of sampled questions, if the survey samples; an item's `number` is its question's.
 */
export function pack(items, bits, sample = []) {
  const record = new Uint8Array(recordBytes(items, sample.length));
  const stored = items.flatMap(({ number, channel }, index) => {
    const own = [...bits[index].subarray(0, channel.outputs - 1)];
    return sample.length === 0 || sample[number] ? own : own.fill(0);
  });
  for (const [position, bit] of [...sample, ...stored].entries()) record[Math.floor(position / 8)] += bit * 2 ** (7 - (position % 8));
  return record;
}

/**
 * Unpacks the bits of each item of a record, with the implied bit; undefined for an item that was not asked. `masked`: the number of
 * questions if the survey samples. Throws SubmissionError, as `unpack` in Python does.
 */
export function unpackRecord(items, record, masked = 0) {
  const size = recordBytes(items, masked);
  const width = recordBits(items, masked);
  if (record.length !== size) throw new SubmissionError("length", `a record must be ${size} bytes, got ${record.length}`);
  const stored = Array.from({ length: size * 8 }, (_, i) => Math.floor(record[Math.floor(i / 8)] / 2 ** (7 - (i % 8))) % 2);
  if (stored.slice(width).includes(1)) {
    throw new SubmissionError("padding", `the last ${size * 8 - width} bits of a record are padding and must be zero`);
  }
  let start = masked;
  return items.map((item) => {
    const end = start + item.channel.outputs - 1;
    const bits = masked && !stored[item.number] ? undefined : withImpliedBit(item, stored.slice(start, end));
    start = end;
    return bits;
  });
}

function withImpliedBit({ id, channel: { outputs, d } }, stored) {
  const ones = stored.reduce((sum, bit) => sum + bit, 0);
  if (ones !== d && ones !== d - 1) {
    throw new SubmissionError("impossible", `question ${id}: exactly ${d} of ${outputs} bits must be set, so ${d - 1} or ${d} of the ${outputs - 1} that are stored`);
  }
  return Uint8Array.of(...stored, d - ones);
}

/**
 * Serializes an envelope: `id` (16 bytes), the definition's digest, the number of records, and the records; optionally the public group,
 * `mode`, if another machine has perturbed the answers, and a token ({nonce, signature} in base64url) or an invitation (15 bytes).
 */
export function envelope({ id, digest, count, reports, group, mode, invitation, token }) {
  if (id.length !== ID_BYTES) throw new SubmissionError("id", `id must be ${ID_BYTES} bytes, got ${id.length}`);
  return JSON.stringify({
    id: base64url(id),
    digest,
    count,
    reports: base64url(reports),
    group: group ?? undefined,
    mode: mode ?? undefined,
    invitation: invitation ? base64url(invitation) : undefined,
    token,
  });
}

/** Encodes base64url without padding. */
export function base64url(bytes) {
  const text = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Decodes base64url without padding. */
export function fromBase64url(text) {
  return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (character) => character.charCodeAt(0));
}
