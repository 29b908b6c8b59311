/** Rolling the dice on a harmless question, to see what they do. What is rolled here goes nowhere. */

import { number, t } from "./language.mjs";
import { odds } from "./odds.mjs";
import { fill, onPress } from "./page.mjs";
import { channelForEpsilon, cryptoWords, epsilonOf, randomize } from "./randomize.mjs";

const [YES, NO] = [0, 1];

/** Makes the practice part of the consent step work, with coins as good as those of `example`, a question of the survey. */
export function offerPractice(root, example) {
  const channel = channelForEpsilon(epsilonOf(example.channel), 2);
  const recorded = [0, 0];
  let said;
  const roll = (answer, times) => {
    if (answer !== said) recorded.fill(0);
    said = answer;
    let last;
    for (let time = 0; time < times; time += 1) {
      last = randomize(channel, said, cryptoWords()).indexOf(1);
      recorded[last] += 1;
    }
    fill(root, { rolled: times === 1 ? thisTime(said, last) : null, counted: counted(said, recorded, channel) });
    root.querySelector("[data-action=roll-many]").hidden = false;
  };
  fill(root, { rolled: null, counted: null });
  root.querySelector("[data-action=roll-many]").hidden = true;
  onPress(root, "roll-yes", () => roll(YES, 1));
  onPress(root, "roll-no", () => roll(NO, 1));
  onPress(root, "roll-many", () => roll(said, 100));
}

function thisTime(said, record) {
  if (said === YES) return record === YES ? t("You said Yes, and the record says Yes.") : t("You said Yes, but the record says No.");
  return record === YES ? t("You said No, but the record says Yes.") : t("You said No, and the record says No.");
}

function counted(said, [yes, no], channel) {
  const { of, own, other } = odds(channel);
  const values = { rolls: number(yes + no), yes: number(yes), no: number(no), of: number(of), expected: number(said === YES ? own : other) };
  return said === YES
    ? t("Rolls for Yes: {rolls}. Records that say Yes: {yes}; No: {no}. In the long run {expected} of {of} say Yes.", values)
    : t("Rolls for No: {rolls}. Records that say Yes: {yes}; No: {no}. In the long run {expected} of {of} say Yes.", values);
}
