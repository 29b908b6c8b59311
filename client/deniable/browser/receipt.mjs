/** "Show what was sent": the exact envelope, and what its record says, read back from the bits and from nothing else. */

import { list, number, t } from "./language.mjs";
import { copy, fill } from "./page.mjs";
import { people } from "./posterior.mjs";
import { unpackRecord } from "./submission.mjs";
import { typeOf } from "./types.mjs";
import { categoryLabels, itemTexts } from "./words.mjs";

/** The element that shows an envelope; `summary` is the text of its button. */
export function receipt({ ask, questions, items }, words, envelope, summary) {
  const element = copy("receipt");
  fill(element, { summary, envelope });
  const records = unpackRecord(items, fromBase64url(JSON.parse(envelope).reports), ask === undefined ? 0 : questions.length);
  const texts = itemTexts(questions, words);
  element.querySelector("[data-slot=records]").replaceChildren(
    ...items.map((item, index) => {
      const entry = copy("receipt-entry");
      const record = records[index] ? sentence(item, categoryLabels(item, words), records[index]) : t("Your record says that you were not asked this.");
      fill(entry, { text: texts[index], record });
      return entry;
    }),
  );
  return element;
}

/** What one item's bits say, and how often they say so by chance alone. */
export function sentence(item, labels, bits) {
  const { source, channel } = item;
  const named = list(labels.filter((_, index) => bits[index] === 1));
  const { of, other } = people(channel);
  return typeOf(item).recorded(source, channel, { named, chance: number(other), of: number(of), d: number(channel.d), k: number(channel.k) }, labels, bits);
}

/** The bytes of a base64url text without padding. */
function fromBase64url(text) {
  return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (character) => character.charCodeAt(0));
}
