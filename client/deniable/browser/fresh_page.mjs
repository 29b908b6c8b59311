/**
 * Fresh copies of the page, for a device that many people use one after the other.
 *
 * The document has a template for each language, with the page as it was loaded. Programs change the copies only, so a copy has nothing of
 * the person before.
 */

import { useCatalog } from "./language.mjs";

const { body, documentElement: root } = document;
const fixed = [...body.children].filter((element) => element.matches("script, template[data-language]"));
const templates = fixed.filter((element) => element.matches("template"));
const loaded = root.lang;

/** Replaces everything on the page by a fresh copy in this language, or else in the language of the loaded page. */
export function replacePage(tag) {
  const find = (wanted) => templates.find(({ dataset }) => dataset.language === wanted);
  const { content, dataset } = find(tag) ?? find(loaded);
  for (const child of [...body.childNodes]) if (!fixed.includes(child)) child.remove();
  body.prepend(content.cloneNode(true));
  Object.assign(root, { lang: dataset.language, dir: dataset.direction });
  root.classList.remove("still");
  useCatalog();
  getSelection().removeAllRanges();
  /^/.test(""); // RegExp.input and similar properties hold the text of the last match, such as a typed number
}
