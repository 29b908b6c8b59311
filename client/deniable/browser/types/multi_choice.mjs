/** Multiple-choice question: each option is a yes/no item with a share of epsilon. Answers: a list of options. */

import { choice } from "./choice.mjs";

export const multiChoice = {
  ...choice,
  optional: [...choice.optional, "exclusive", "none", "at_least", "at_most"],
  control: "boxes",

  problem(source) {
    return choice.problem(source) ?? (fits(source) ? undefined : "exclusive, none, other, at_least and at_most must fit the options");
  },

  categories() {
    return ["yes", "no"];
  },

  items({ options }) {
    return [...options];
  },

  exclusive({ exclusive = [], none }) {
    return none === undefined ? exclusive : [...exclusive, none];
  },

  position() {
    return undefined; // only its items have categories
  },
};

/** Returns whether exclusive options, the option for other answers and the limits fit the options. Twin: `MultiChoice.problems`. */
function fits(source) {
  const { options, exclusive, other, at_least: least, at_most: most } = source;
  if (exclusive !== undefined && !(Array.isArray(exclusive) && exclusive.length)) return false;
  const alone = multiChoice.exclusive(source);
  const together = options.length - alone.length;
  const isLimit = (limit) => limit === undefined || (Number.isInteger(limit) && limit > 0 && limit < together);
  if (new Set(alone).size < alone.length || !alone.every((option) => options.includes(option)) || alone.includes(other)) return false;
  return together > 0 && isLimit(least) && isLimit(most) && !(least > most);
}
