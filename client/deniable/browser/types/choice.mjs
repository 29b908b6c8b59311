/** One of several options. Answers: an option's text, or an integer written as an option. */

import { labelProblem, oneOf, strip } from "./base.mjs";

export const choice = {
  ...oneOf,
  keys: ["options"],

  problem({ options }) {
    return labelProblem(options, "options");
  },

  options({ options }) {
    return [...options];
  },

  place(source, categories, answer) {
    const text = Number.isSafeInteger(answer) ? String(answer) : answer;
    if (typeof text !== "string") return undefined;
    const index = categories.indexOf(strip(text));
    return index < 0 ? undefined : index;
  },
};
