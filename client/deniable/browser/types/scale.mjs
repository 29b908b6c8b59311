/** Options in order, each with a score. Answers: as for a choice. */

import { MAX_NUMBER } from "./base.mjs";
import { choice } from "./choice.mjs";

export const scale = {
  ...choice,
  keys: ["options", "scores"],

  problem(source) {
    const { options, scores } = source;
    const broken = choice.problem(source);
    if (broken) return broken;
    if (!Array.isArray(scores) || scores.length !== options.length) return "scores must be one number for each of the options";
    if (!scores.every((score) => typeof score === "number" && Math.abs(score) <= MAX_NUMBER)) return "scores must be numbers";
    return scores.every((score, index) => index === 0 || score > scores[index - 1]) ? undefined : "scores must rise";
  },
};
