/**
 * Order of options and questions, drawn on the device once a visit. It is independent of every answer, and neither stored nor sent.
 *
 * Questions are ordered within their section, and a question stays behind those that its condition or its texts name: their block keeps its
 * order. Coins have other random words.
 */

import { uniformBelow } from "./randomize.mjs";
import { typeOf } from "./types.mjs";

const WORD = 2 ** 32;

/** Returns a list in a drawn order: any order, or the given one from another beginning. Other values of `order` keep the list. */
export function arrange(list, order, nextWord) {
  const arranged = [...list];
  if (order === "rotate") {
    const first = uniformBelow(list.length, WORD, nextWord);
    return [...arranged.slice(first), ...arranged.slice(0, first)];
  }
  for (let last = order === "random" ? list.length - 1 : 0; last > 0; last -= 1) {
    const other = uniformBelow(last + 1, WORD, nextWord);
    [arranged[last], arranged[other]] = [arranged[other], arranged[last]];
  }
  return arranged;
}

/** Returns the indices of a question's options in the order of the page. Exclusive options and the one for other answers stay last. */
export function optionOrder({ type, source }, count, nextWord) {
  const indices = [...Array(count).keys()];
  if (source.order === undefined) return indices;
  const fixed = [...typeOf({ type }).exclusive(source), source.other];
  const isLast = (index) => fixed.includes(source.options[index]);
  return [...arrange(indices.filter((index) => !isLast(index)), source.order, nextWord), ...indices.filter(isLast)];
}

/** Returns the asked questions in the order of the page. `blocks`: the questions that keep their order, by number. */
export function questionOrder({ order, blocks }, questions, nextWord) {
  if (order === undefined) return questions;
  const blockOf = new Map(blocks.flatMap((block) => block.map((number) => [number, block])));
  return [...grouped(questions, ({ under }) => under).values()].flatMap((section) => arrange([...grouped(section, ({ number }) => blockOf.get(number)).values()], order, nextWord).flat());
}

/** Returns lists of elements by their keys, in the order of their first elements. */
function grouped(elements, keyOf) {
  const groups = new Map();
  for (const element of elements) groups.set(keyOf(element), [...(groups.get(keyOf(element)) ?? []), element]);
  return groups;
}
