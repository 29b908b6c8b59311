/**
 * Piping: `${id}` in a question's texts is replaced by an earlier answer, on this page only. `${id|text}` has the author's text for a missing
 * answer, and `$${` is a literal `${`. Twin: `survey/piping.py`.
 */

import { isolate } from "./language.mjs";
import { characters, strip } from "./types/base.mjs";

const FALLBACK = "…"; // for a missing answer
const MAX_FALLBACK = 100; // characters
const PIPE = /\$(\$\{)|\$\{([A-Za-z][A-Za-z0-9_]{0,63})(?:\|([^{}|]*))?\}|(\$\{)/g;

/** Returns whether a text refers to these questions only, by their ids, and has no malformed reference. */
export function pipesAre(text, allowed) {
  return [...text.matchAll(PIPE)].every(([, escaped, id, fallback]) => escaped || (allowed.includes(id) && isFallback(fallback)));
}

function isFallback(text) {
  return text === undefined || (strip(text) !== "" && characters(text) <= MAX_FALLBACK);
}

/** Returns the ids that some texts refer to. Texts may be undefined. */
export function pipedIds(texts) {
  return texts.flatMap((text) => [...(text ?? "").matchAll(PIPE)].flatMap(([, , id]) => id ?? []));
}

/** Returns a text with answers in it: `answerOf(id)` returns an answer in words, or undefined. */
export function piped(text, answerOf = () => undefined) {
  return text.replace(PIPE, (whole, escaped, id, fallback) => escaped ?? isolate(answerOf(id) ?? fallback ?? FALLBACK, text));
}
