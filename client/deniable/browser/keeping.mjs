/**
 * Where the record waits until it has arrived: in the browser's storage; or, where the browser forbids that and the respondent wants it so,
 * nowhere but in the page, for one sending and no longer.
 */

import { alone, possible } from "./alone.mjs";
import { RefusedError } from "./definition.mjs";
import { Device, Memory } from "./delivery.mjs";
import { t } from "./language.mjs";
import { onPress, show } from "./page.mjs";
import { saySent } from "./sent.mjs";

/** {device, alone}: the device's entry for the survey with this digest, and how to take turns with other windows. Asks where nothing can be kept. */
export async function keeping(digest) {
  try {
    const device = new Device(digest);
    await possible(); // a browser that forbids one forbids the other
    return { device, alone };
  } catch {
    saySent("unknown"); // it may have answered, and not have kept that
    await new Promise((goOn) => onPress(show("unkept"), "unkept", goOn));
    return { device: new Device(digest, new Memory()), alone: (_, action) => action() };
  }
}

/** Does something with a storage that was there and now is not, or is full. Throws RefusedError. */
export function storing(action) {
  try {
    return action();
  } catch {
    throw new RefusedError(t("this browser no longer lets the page keep your record until it has arrived. Allow site data for this page, then reload it"));
  }
}
