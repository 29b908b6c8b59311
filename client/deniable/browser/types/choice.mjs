/** Single-choice question. Answers: an option's text, or an integer that is an option. */

import { labelMeaning, labelProblem, oneOf } from "./base.mjs";

export const choice = {
  ...oneOf,
  keys: ["options"],

  problem({ options }) {
    return labelProblem(options, "options");
  },

  options({ options }) {
    return [...options];
  },

  position(source, categories, answer) {
    const text = Number.isSafeInteger(answer) ? String(answer) : answer;
    if (typeof text !== "string") return undefined;
    const index = categories.indexOf(labelMeaning(text, (label) => categories.includes(label)));
    return index < 0 ? undefined : index;
  },
};
