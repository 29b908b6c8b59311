/** Multiple-choice question: each option is a yes/no item with a share of epsilon. Answers: a list of options. */

import { choice } from "./choice.mjs";

export const multiChoice = {
  ...choice,
  optional: [...choice.optional, "exclusive", "none"],
  control: "boxes",

  problem(source) {
    return choice.problem(source) ?? exclusiveProblem(source);
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

/** Returns the rule that exclusive options break, or undefined. */
function exclusiveProblem({ options, exclusive, none, other }) {
  if (none !== undefined && !options.includes(none)) return "none must be one of the options";
  if (other !== undefined && (other === none || (Array.isArray(exclusive) && exclusive.includes(other)))) return "other must not be exclusive";
  if (exclusive === undefined) return undefined;
  if (!Array.isArray(exclusive) || exclusive.length === 0) return "exclusive must be a list of one option or more";
  if (exclusive.some((option) => !options.includes(option) || option === none)) return "exclusive must be of the options, without none";
  if (new Set(exclusive).size < exclusive.length) return "exclusive must have each option once";
  return exclusive.length + (none === undefined ? 0 : 1) < options.length ? undefined : "exclusive must leave an option that goes with others";
}
