/**
 * Practice on a harmless question. The coins record people who say Yes and No; the share of Yes is estimated from all records and shown
 * beside the true one. Nothing is sent.
 */

import { number, t } from "./language.mjs";
import { fill, onPress } from "./page.mjs";
import { drawPeople } from "./people.mjs";
import { people } from "./posterior.mjs";
import { channelForEpsilon, cryptoWords, epsilonOf, randomize } from "./randomize.mjs";

const CROWD = 100;
const AT_A_TIME = 4; // people per step of an animated crowd
const PAUSE = 60; // milliseconds between steps: a crowd takes a second and a half
const SIDES = { yes: 0, no: 1 }; // the categories of a yes/no question

/** Starts the practice with coins of the same epsilon as `example`. */
export function offerPractice(root, example) {
  const practice = new Practice(root, channelForEpsilon(epsilonOf(example.channel), 2));
  for (const side of Object.keys(SIDES)) {
    onPress(root, `toss-${side}`, () => practice.toss(side));
    onPress(root, `toss-many-${side}`, () => practice.crowd(side));
  }
}

class Practice {
  #root;
  #channel;
  #records = { yes: [], no: [] }; // per side: whether each person was recorded as Yes
  #waiting; // the timer of an animated crowd

  constructor(root, channel) {
    this.#root = root;
    this.#channel = channel;
    fill(root, { rolled: null, sum: null });
    this.#draw();
  }

  /** Records one person. */
  toss(side) {
    const yes = this.#record(side);
    this.#draw();
    fill(this.#root, { rolled: thisTime(side, yes) });
  }

  /** Records 100 people: step by step, or at once if reduced motion is preferred. */
  crowd(side) {
    clearTimeout(this.#waiting);
    fill(this.#root, { rolled: null });
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const addPeople = (left) => {
      const now = still ? left : Math.min(left, AT_A_TIME);
      for (let i = 0; i < now; i += 1) this.#record(side);
      this.#draw(left === now);
      if (left > now) this.#waiting = setTimeout(addPeople, PAUSE, left - now);
    };
    addPeople(CROWD);
  }

  #record(side) {
    const yes = randomize(this.#channel, SIDES[side], cryptoWords())[SIDES.yes] === 1;
    this.#records[side].push(yes);
    return yes;
  }

  /** Draws the last 100 people of each side. The estimate waits until a crowd is complete, because screen readers read it aloud. */
  #draw(done = true) {
    for (const [side, records] of Object.entries(this.#records)) {
      const board = this.#root.querySelector(`[data-board=${side}]`);
      const first = CROWD * Math.max(0, Math.ceil(records.length / CROWD) - 1);
      drawPeople(board.querySelector("svg"), records.length - first, (index) => records[first + index]);
      fill(board, { counted: this.#counted(side) });
    }
    if (done) fill(this.#root, { sum: this.#sum() });
  }

  #counted(side) {
    const { of, own, other } = people(this.#channel);
    const records = this.#records[side];
    const values = { of: number(of), expected: number(side === "yes" ? own : other), all: number(records.length), yes: number(records.filter(Boolean).length) };
    return t("Recorded as Yes: {yes} of {all}. In the long run: {expected} of {of}.", values);
  }

  /**
   * Returns the share of Yes, estimated from the records as researchers do, beside the true one. Estimates are not clipped, so one can be
   * impossible; the text then says so.
   */
  #sum() {
    const { yes, no } = this.#records;
    const all = yes.length + no.length;
    if (all < CROWD) return null;
    const { keepThreshold, coin } = this.#channel;
    const own = keepThreshold / coin;
    const recorded = [...yes, ...no].filter(Boolean).length;
    const reckoned = Math.round((recorded - all * (1 - own)) / (2 * own - 1));
    const sentence = t("Of all {all} people, {true} said Yes. From the records alone one reckons: {reckoned}.", { all: number(all), true: number(yes.length), reckoned: number(reckoned) });
    return reckoned >= 0 && reckoned <= all ? sentence : `${sentence} ${t("That cannot be: for so few people the coins have not evened out yet.")}`;
  }
}

function thisTime(side, recordedYes) {
  if (side === "yes") return recordedYes ? t("You said Yes, and the record says Yes.") : t("You said Yes, but the record says No.");
  return recordedYes ? t("You said No, but the record says Yes.") : t("You said No, and the record says No.");
}
