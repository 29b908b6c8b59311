/**
 * What has left this device, as far as the page knows. Pages that say what happened have one sentence for each state; an element's
 * `data-sent` lists the states in which it is true, and the others are hidden. Without scripts the one is shown that is always true.
 */

import { PREFIX } from "./delivery.mjs";

let codePosted = false; // by this page, to learn whether it can be used

/** Remembers that the invitation code goes to the server. */
export function noteCode() {
  codePosted = true;
}

/**
 * The state of this device: "kept" where a record of it was sent or waits, "code" where the invitation code alone went out, "fresh" where
 * nothing did, "unknown" where the device cannot tell. `device` is its entry for the checked survey; without one the storage is asked.
 */
export function sentState(device) {
  try {
    const state = device ? checkedState(device) : storedState();
    return codePosted && state !== "kept" ? "code" : state;
  } catch {
    return "unknown"; // the storage is gone, or holds what no page has written
  }
}

function checkedState(device) {
  if (device.waiting || device.answered) return "kept";
  return device.lasts ? "fresh" : "unknown";
}

/** By the link's digest, before the survey is checked. Where none of this survey's is found, another record may be one of it. */
function storedState() {
  const digest = /[#&]digest=([0-9a-f]{64})(?![0-9a-f])/i.exec(location.hash)?.[1].toLowerCase();
  const holdsRecord = (key) => JSON.parse(localStorage.getItem(key) ?? "{}").epsilon !== undefined;
  if (digest && holdsRecord(PREFIX + digest)) return "kept";
  return Object.keys(localStorage).some((key) => key.startsWith(PREFIX) && holdsRecord(key)) ? "unknown" : "fresh";
}

/** Shows the sentences that are true in a state, and hides the others. Gives the state. */
export function saySent(state) {
  for (const element of document.querySelectorAll("[data-sent]")) element.hidden = !element.dataset.sent.split(" ").includes(state);
  return state;
}
