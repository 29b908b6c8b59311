/** One of several options. Answers: an option's text, or an integer written as an option. */

import { meaningOf, labelProblem, oneOf } from "./base.mjs";

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
    const index = categories.indexOf(meaningOf(text, (label) => categories.includes(label)));
    return index < 0 ? undefined : index;
  },
};
