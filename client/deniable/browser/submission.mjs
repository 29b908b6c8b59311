/**
 * The bits on the wire: one respondent's record, and the envelope it travels in.
 *
 * The twin of `wire/record.py` and `wire/submission.py`, which describe the format: the same bits give the same bytes.
 */

export const ID_BYTES = 16;

/** The bits of a record are not what the survey's records look like; `rule` names what is broken in one word. */
export class SubmissionError extends Error {
  name = "SubmissionError";

  constructor(rule, message) {
    super(message);
    this.rule = rule;
  }
}

/** Stored bits of one record, padding not counted: a mask of `masked` questions if there is one, and all bits of each report but its last. */
export function recordBits(items, masked = 0) {
  return items.reduce((sum, { channel }) => sum + channel.outputs - 1, masked);
}

/** Length of one record in bytes. */
export function recordBytes(items, masked = 0) {
  return Math.ceil(recordBits(items, masked) / 8);
}

/**
 * Packs each item's perturbed bits, a Uint8Array each and in the survey's order, into one record. `asked` says of each
 * question whether it was asked, where the survey asks a sample; an item's `number` is that of its question.
 */
export function pack(items, bits, asked = []) {
  const record = new Uint8Array(recordBytes(items, asked.length));
  const stored = items.flatMap(({ number, channel }, index) => {
    const own = [...bits[index].subarray(0, channel.outputs - 1)];
    return asked.length === 0 || asked[number] ? own : own.fill(0);
  });
  for (const [position, bit] of [...asked, ...stored].entries()) record[Math.floor(position / 8)] += bit * 2 ** (7 - (position % 8));
  return record;
}

/**
 * The bits of each item of one record, the implied one included; undefined for an item that was not asked. `masked` is the
 * number of questions where the survey asks a sample. Throws SubmissionError, as `unpack` in Python.
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
 * The envelope, as sent: `id` of 16 bytes, the definition's digest, how many records, and the records; the public group, who
 * perturbed the answers where it was not this device, and the invitation (15 bytes), where there is one.
 */
export function envelope({ id, digest, count, reports, group, mode, invitation }) {
  if (id.length !== ID_BYTES) throw new SubmissionError("id", `id must be ${ID_BYTES} bytes, got ${id.length}`);
  return JSON.stringify({
    id: base64url(id),
    digest,
    count,
    reports: base64url(reports),
    group: group ?? undefined,
    mode: mode ?? undefined,
    invitation: invitation ? base64url(invitation) : undefined,
  });
}

/** Bytes in base64url without padding. */
export function base64url(bytes) {
  const text = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
