/** Any number of several options, each a yes/no item with its share of epsilon. Answers: a list of the options chosen. */

import { choice } from "./choice.mjs";

export const multiChoice = {
  ...choice,
  beside: ["exclusive", "none"],
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

  place() {
    return undefined; // its items have places, the whole has none
  },
};

/** The rule that the options which go with no other one break, or undefined. */
function exclusiveProblem({ options, exclusive, none }) {
  if (none !== undefined && !options.includes(none)) return "none must be one of the options";
  if (exclusive === undefined) return undefined;
  if (!Array.isArray(exclusive) || exclusive.length === 0) return "exclusive must be a list of one option or more";
  if (exclusive.some((option) => !options.includes(option) || option === none)) return "exclusive must be of the options, without none";
  if (new Set(exclusive).size < exclusive.length) return "exclusive must have each option once";
  return exclusive.length + (none === undefined ? 0 : 1) < options.length ? undefined : "exclusive must leave an option that goes with others";
}
