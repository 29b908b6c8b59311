/**
 * Send state: what has left this device, as far as the page knows.
 *
 * An element's `data-sent` lists the states where its sentence is true; in other states it is hidden. Without scripts, the sentence that
 * is always true is visible.
 */

import { PREFIX, traffic } from "./delivery.mjs";

/**
 * Returns this device's state: "kept" if a record was sent or waits, "code" if only the invitation code was sent, "fresh" if nothing was
 * sent, "unknown" if the device cannot tell. `device`: its entry for the checked survey; without one the storage is searched.
 */
export function sendState(device) {
  try {
    const state = device ? checkedState(device) : storedState();
    return (traffic.hasCode || device?.hasToken) && state !== "kept" ? "code" : state;
  } catch {
    return "unknown"; // the storage is gone or has an invalid entry
  }
}

function checkedState(device) {
  if (device.waiting || device.isAnswered) return "kept";
  return device.isLasting ? "fresh" : "unknown";
}

/**
 * Returns the state by the link's digest, before the survey is checked. Another survey's record may be this survey's under another digest.
 */
function storedState() {
  const digest = /[#&]digest=([0-9a-f]{64})(?![0-9a-f])/i.exec(location.hash)?.[1].toLowerCase();
  const holdsRecord = (key) => JSON.parse(localStorage.getItem(key) ?? "{}").epsilon !== undefined;
  if (digest && holdsRecord(PREFIX + digest)) return "kept";
  return Object.keys(localStorage).some((key) => key.startsWith(PREFIX) && holdsRecord(key)) ? "unknown" : "fresh";
}

/** Shows the sentences that are true in a state, hides the others, and returns the state. */
export function showSent(state) {
  for (const element of document.querySelectorAll("[data-sent]")) element.hidden = !element.dataset.sent.split(" ").includes(state);
  return state;
}
