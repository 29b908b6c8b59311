/** Groups that have all their records. The page learns all of them, so that the server does not learn which one a respondent is in. */

import { groupOf } from "./entry.mjs";
import { show } from "./page.mjs";

const TIMEOUT = 5000; // milliseconds

/** Returns the labels of the full groups, or those known `before` if the server does not say. */
export async function fullGroups(url, { groups }, before = []) {
  if (groups.length === 0) return [];
  try {
    const reply = await fetch(`${url}/groups`, { credentials: "same-origin", referrerPolicy: "no-referrer", signal: AbortSignal.timeout?.(TIMEOUT) });
    const { full } = await reply.json();
    return groups.filter((group) => full.includes(group));
  } catch {
    return before; // the server refuses the record
  }
}

/** Shows that the link's group, or every group, is full. Returns false if there is room. */
export function showFull({ groups }, fragment, full) {
  const group = groupOf({ groups }, fragment);
  const isFull = groups.length > 0 && (group === undefined ? full.length === groups.length : full.includes(group));
  if (isFull) show("full");
  return isFull;
}
