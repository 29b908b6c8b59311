/** Scale question: ordered options with scores. Answers: as for a choice. */

import { MAX_NUMBER } from "./base.mjs";
import { choice } from "./choice.mjs";

export const scale = {
  ...choice,
  keys: ["options", "scores"],
  optional: [],
  marks: ["grid"],

  problem(source) {
    const { options, scores } = source;
    const problem = choice.problem(source);
    if (problem) return problem;
    if (!Array.isArray(scores) || scores.length !== options.length) return "scores must be one number for each of the options";
    if (!scores.every((score) => typeof score === "number" && Math.abs(score) <= MAX_NUMBER)) return "scores must be numbers";
    return scores.every((score, index) => index === 0 || score > scores[index - 1]) ? undefined : "scores must rise";
  },
};
