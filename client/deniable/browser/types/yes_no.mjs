/** Yes/no question. Answers: true, false, 1, 0, or yes, no, true, false, 1, 0 as text in any case. */

import { t } from "../language.mjs";
import { labelMeaning, oneOf } from "./base.mjs";

const MEANING = new Map([["yes", 0], ["true", 0], ["1", 0], ["no", 1], ["false", 1], ["0", 1]]);

export const yesNo = {
  ...oneOf,

  categories() {
    return ["yes", "no"];
  },

  labels() {
    return [t("Yes"), t("No")];
  },

  position(source, categories, answer) {
    if (typeof answer === "string") return MEANING.get(labelMeaning(answer.toLowerCase(), (label) => MEANING.has(label)));
    if (answer === true || answer === 1) return 0;
    return answer === false || answer === 0 ? 1 : undefined;
  },

  odds(source, channel, own, other) {
    if (channel.k > 2) return oneOf.odds(source, channel, own, other);
    return [
      t("Of {of} who say Yes, {counted} are recorded Yes, {rest} No.", own),
      t("Of {of} who say No, {counted} are recorded Yes, {rest} No.", other),
    ];
  },

  isExcused({ k }) {
    return k === 2;
  },

  describeRecord(source, channel, values) {
    if (channel.k > 2) return oneOf.describeRecord(source, channel, values);
    return t("Your record says: {named}. By chance alone, {chance} of {of} people who answer otherwise have the same record.", values);
  },
};
