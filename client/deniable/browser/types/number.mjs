/** Number question on [low, high]: through a window over levels, as a level of a grid, or as a named bin. Answers: a number or its text. */

import { number, t } from "../language.mjs";
import { channelForEpsilon, windowForEpsilon } from "../randomize.mjs";
import { MAX_NUMBER, MAX_OPTIONS, labelProblem, oneOf } from "./base.mjs";

const DECIMAL = /^[+-]?([0-9]{1,30}(\.[0-9]{0,30})?|\.[0-9]{1,30})([eE][+-]?[0-9]{1,2})?$/;

export const numeric = {
  ...oneOf,
  keys: ["low", "high"],
  alternatives: ["levels", "bins"],
  optional: ["window"],
  control: "field", // with bins too: the device finds the bin

  problem({ low, high, levels, window, bins }) {
    if (![low, high].every((end) => typeof end === "number" && Math.abs(end) <= MAX_NUMBER)) return "low and high must be numbers";
    if (!(low < high)) return "high must be above low";
    if (bins !== undefined) return window === undefined ? binProblem(bins, low, high) : "window must not stand beside bins";
    if (!Number.isInteger(levels) || levels < 2 || levels > MAX_OPTIONS) return `levels must be a whole number from 2 to ${MAX_OPTIONS}`;
    if (new Set(grid(low, high, levels)).size !== levels) return "levels must be fewer";
    if (window === undefined) return undefined;
    if (!Number.isInteger(window) || window < 1 || window >= levels) return "window must be a whole number from 1 to one less than levels";
    return levels + window - 1 > MAX_OPTIONS ? "window must be smaller" : undefined;
  },

  channel({ levels, window }, epsilon, k, parts) {
    return window === undefined ? channelForEpsilon(epsilon, k, parts) : windowForEpsilon(epsilon, levels, window, k > levels);
  },

  categories(source) {
    return source.bins ? this.options(source) : grid(source.low, source.high, source.levels).map(String);
  },

  options({ bins }) {
    return bins?.map(({ name }) => name) ?? [];
  },

  labels(source) {
    return source.bins ? this.options(source) : this.categories(source).map((level) => number(Number(level), { maximumFractionDigits: 20 }));
  },

  rounds({ bins }) {
    return bins === undefined;
  },

  position({ low, high, bins }, categories, answer) {
    const value = answeredNumber(answer);
    if (!(value >= low && value <= high)) return undefined;
    return bins ? bins.filter(({ from }) => from <= value).length - 1 : ((value - low) / (high - low)) * (categories.length - 1);
  },

  odds(source, channel, own, other) {
    if (!this.rounds(source)) return oneOf.odds(source, channel, own, other);
    if (source.window) {
      return [
        t("Of {of} people with one number, {counted} have a record near it, {rest} have one elsewhere.", own),
        t("Of {of} people with a number far from it, {counted} have a record near that first one all the same, {rest} do not.", other),
      ];
    }
    return [
      t("Of {of} people at a level, {counted} have it among the {d} of {k} in their record, {rest} do not.", own),
      t("Of {of} people at another level, {counted} have that first one among the {d} of {k} in their record, {rest} do not.", other),
    ];
  },

  describeRecord(source, channel, values, labels, bits) {
    if (!this.rounds(source)) return oneOf.describeRecord(source, channel, values);
    if (source.window) return near(source, channel, values, labels, bits.indexOf(1));
    return t("Your record names these levels, to which numbers are rounded: {named}. By chance alone, a level is named in {chance} of {of} records of people at another one.", values);
  },
};

/** Describes a record through a window: the numbers near its position, or no answer. */
function near({ levels, window }, { outputs, k }, values, labels, position) {
  const places = outputs - (k - levels);
  if (position === places) return t("Your record says: {named}. By chance alone, so do {chance} of {of} records of people who choose something else.", { ...values, named: labels[levels] });
  const ends = { low: labels[Math.max(0, position - window + 1)], high: labels[Math.min(levels - 1, position)] };
  const at = { ...values, ...ends, place: number(position + 1), places: number(places) };
  if (ends.low === ends.high) return t("Your record names place {place} of {places}, which is near the number {low}. By chance alone, {chance} of {of} records of people with a far number are near a given number.", at);
  return t("Your record names place {place} of {places}, which is near the numbers from {low} to {high}. By chance alone, {chance} of {of} records of people with a far number are near a given number.", at);
}

function binProblem(bins, low, high) {
  const isBin = (one) => typeof one === "object" && one !== null && !Array.isArray(one) && Object.keys(one).sort().join() === "from,name";
  if (!Array.isArray(bins) || !bins.every(isBin)) return "bins must be a list of objects with a name and a from";
  const problem = labelProblem(bins.map(({ name }) => name), "bins");
  if (problem) return problem;
  const edges = bins.map(({ from }) => from);
  if (!edges.every((edge) => typeof edge === "number" && edge <= high)) return "bins must begin at numbers not above high";
  if (edges[0] !== low) return "bins must begin at low";
  return edges.every((edge, index) => index === 0 || edge > edges[index - 1]) ? undefined : "bins must rise";
}

/** Returns equally spaced levels with exact ends: the same doubles in every language that computes in this order. */
function grid(low, high, levels) {
  return Array.from({ length: levels }, (_, level) => (level === levels - 1 ? high : low + ((high - low) * level) / (levels - 1)));
}

/** Parses an answer: a number, or a decimal as people write it. */
function answeredNumber(answer) {
  if (typeof answer === "number") return answer;
  const text = typeof answer === "string" ? answer.replace(/^[ \t\r\n]+|[ \t\r\n]+$/g, "") : "";
  return DECIMAL.test(text) ? Number(text) : undefined;
}
