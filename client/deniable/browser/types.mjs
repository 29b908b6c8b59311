/**
 * Question types by name. Twin: `survey/types/`; `oneOf` in `types/base.mjs` describes their interface. To add a type, add a module there
 * and a line here.
 */

import { choice } from "./types/choice.mjs";
import { multiChoice } from "./types/multi_choice.mjs";
import { numeric } from "./types/number.mjs";
import { scale } from "./types/scale.mjs";
import { yesNo } from "./types/yes_no.mjs";

export const TYPES = new Map([["yes_no", yesNo], ["choice", choice], ["scale", scale], ["number", numeric], ["multi_choice", multiChoice]]);

/** Returns the type of a question or item. */
export function typeOf({ type }) {
  return TYPES.get(type);
}
