/** "Show what was sent": the exact envelope, and what its record says, read back from the bits and from nothing else. */

import { odds } from "./consent.mjs";
import { copy, count, fill } from "./page.mjs";
import { unpackRecord } from "./submission.mjs";

/** The element that shows an envelope; `summary` is the text of its button. */
export function receipt({ ask, questions, items }, envelope, summary) {
  const element = copy("receipt");
  fill(element, { summary, envelope });
  const records = unpackRecord(items, fromBase64url(JSON.parse(envelope).reports), ask === undefined ? 0 : questions.length);
  element.querySelector("[data-slot=records]").replaceChildren(
    ...items.map((question, index) => {
      const entry = copy("receipt-entry");
      fill(entry, { text: question.text, record: records[index] ? sentence(question, records[index]) : "Your record says that you were not asked this." });
      return entry;
    }),
  );
  return element;
}

/** What one question's bits say, and how often they say so by chance alone. */
export function sentence({ type, categories, channel: { k, d }, channel }, bits) {
  const named = categories.filter((_, index) => bits[index] === 1).join(", ");
  const { of, other } = odds(channel);
  const records = `in ${count(other)} of ${count(of)} records of people who`;
  if (type === "yes_no" && k === 2) return `Your record says: ${named}. By chance alone this stands ${records} answer ${named === "yes" ? "No" : "Yes"}.`;
  if (type === "number") return `Your record says, of the levels that numbers are rounded to: ${named}. By chance alone a level stands ${records} are at another.`;
  if (d === 1) return `Your record says: ${named}. By chance alone this stands ${records} choose something else.`;
  return `Your record names ${d} of the ${k} options: ${named}. By chance alone each of these stands ${records} choose something else.`;
}

/** The bytes of a base64url text without padding. */
function fromBase64url(text) {
  return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (character) => character.charCodeAt(0));
}
