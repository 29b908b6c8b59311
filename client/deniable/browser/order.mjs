/**
 * Order of options, items, questions and sections, drawn on the device once a visit. It is independent of every answer, and neither stored
 * nor sent.
 *
 * Whatever depends on something earlier stays behind it, as one block that keeps its order: an item behind the items, a question behind the
 * questions, and a section behind the sections that its conditions or texts name. Coins have other random words.
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

/**
 * Returns the asked questions of a survey in the order of the page. No section moves past a fixed one, whether that is asked or not.
 *
 * Words are drawn for the items of each rating block, then for the sections between fixed ones, then for the questions of each section.
 */
export function questionOrder({ order, sectionOrder, blocks, questions: all }, questions, nextWord) {
  const blockOf = new Map(blocks.flatMap((block) => block.map((number) => [number, block])));
  const blockKey = ({ number }) => [blockOf.get(number)];
  const mix = (elements, keysOf, how) => arrange(joined(elements, keysOf), how, nextWord).flat();
  const withItems = joined(questions, ({ grid, number }) => [grid ?? number]).flatMap((items) => {
    const ids = items.map(({ id }) => id);
    return mix(items, ({ id, pipes }) => [id, ...pipes.filter((name) => ids.includes(name))], items[0].grid?.order);
  });
  const runs = new Map(); // numbers: sections of one run may change places
  let run = 0;
  for (const under of new Set(all.map((question) => question.under))) runs.set(under, under && !under.section.fixed ? run : (run += 2) - 1);
  const sections = joined(joined(withItems, ({ under }) => [under]), ([{ under }]) => [runs.get(under)]);
  return sections
    .flatMap((some) => mix(some, (section) => section.flatMap(blockKey), sectionOrder))
    .flatMap((section) => mix(section, blockKey, order));
}

/** Returns groups of elements that share a key, or are joined by others, in the order of their first elements. */
export function joined(elements, keysOf) {
  const parents = new Map(); // of keys, in a forest with a tree for each group
  const root = (key) => (parents.has(key) ? root(parents.get(key)) : key);
  for (const [first, ...others] of elements.map(keysOf)) {
    for (const key of others) if (root(first) !== root(key)) parents.set(root(first), root(key));
  }
  const groups = new Map();
  for (const element of elements) {
    const key = root(keysOf(element)[0]);
    groups.set(key, [...(groups.get(key) ?? []), element]);
  }
  return [...groups.values()];
}
