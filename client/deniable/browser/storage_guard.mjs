/** Guard for the storage of records: an action that fails is a refusal. */

import { RefusedError } from "./definition.mjs";
import { t } from "./language.mjs";

/** Runs an action on a storage that may have disappeared or be full. Throws RefusedError. */
export function guardStorage(action) {
  try {
    return action();
  } catch {
    throw new RefusedError(t("this browser no longer lets the page keep your record until it has arrived. Allow site data for this page, then reload it"));
  }
}
