/** Single-choice question, with options in the given order or in one that the device draws. Answers: an option's text, or an integer that is an option. */

import { ORDERS, labelMeaning, labelProblem, oneOf } from "./base.mjs";

export const choice = {
  ...oneOf,
  keys: ["options"],
  optional: ["order", "other"],

  problem({ options, order, other }) {
    const problem = labelProblem(options, "options");
    if (problem) return problem;
    if (order !== undefined && !ORDERS.includes(order)) return `order must be ${ORDERS.join(" or ")}`;
    return other === undefined || options.includes(other) ? undefined : "other must be one of the options";
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
