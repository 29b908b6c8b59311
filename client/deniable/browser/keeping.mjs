/** Record storage until delivery: the browser's, or memory if the browser forbids storage and the respondent agrees. */

import { Device, Memory } from "./delivery.mjs";
import { onPress, show } from "./page.mjs";
import { showSent } from "./send_state.mjs";
import { withLock, checkLocks } from "./window_lock.mjs";

const TEST = /^test-.+-[a-z2-7]{26}$/; // the id of a test run, as in store/trials.py

/**
 * Returns the storage for the records of a survey: its id is in the checked definition. A test run's records are gone with its window; but
 * only if the page says that it is a test, so that no server can make this device forget a real record.
 */
export function storageOf(id) {
  return TEST.test(id) && document.querySelector(".trial") ? sessionStorage : localStorage;
}

/**
 * Returns {device, lock}: the device's entry for a checked definition, and the lock between windows. Asks if nothing can be stored.
 */
export async function openDevice({ digest, survey }) {
  try {
    const device = new Device(digest, storageOf(survey.id));
    await checkLocks(); // a browser that forbids one forbids the other
    return { device, lock: withLock };
  } catch {
    showSent("unknown"); // it may have answered without storing that
    await new Promise((resolve) => onPress(show("unkept"), "unkept", resolve));
    return { device: new Device(digest, new Memory()), lock: (_, action) => action() };
  }
}
