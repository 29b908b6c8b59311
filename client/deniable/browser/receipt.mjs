/** Receipt ("Show what was sent"): the exact envelope and its meaning, decoded from its bits alone. */

import { list, number, t } from "./language.mjs";
import { copy, fill } from "./page.mjs";
import { people } from "./posterior.mjs";
import { fromBase64url, unpackRecord } from "./submission.mjs";
import { typeOf } from "./types.mjs";
import { categoryLabels, itemTexts } from "./words.mjs";

/** Returns the element that shows an envelope. `summary`: its button's text. */
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

/** Describes one item's bits, and how often they occur by chance alone. */
export function sentence(item, labels, bits) {
  const { source, channel } = item;
  const named = list(labels.filter((_, index) => bits[index] === 1));
  const { of, other } = people(channel);
  return typeOf(item).describeRecord(source, channel, { named, chance: number(other), of: number(of), d: number(channel.d), k: number(channel.k) }, labels, bits);
}
