/** Any number of several options, each a yes/no item with its share of epsilon. Answers: a list of the options chosen. */

import { choice } from "./choice.mjs";

export const multiChoice = {
  ...choice,
  control: "boxes",

  categories() {
    return ["yes", "no"];
  },

  items({ options }) {
    return [...options];
  },

  place() {
    return undefined; // its items have places, the whole has none
  },
};
